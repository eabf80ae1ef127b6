package stdlib

import (
	"context"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"
	"golang.org/x/sync/semaphore"

	"transect/client/fault"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
)

var taskType = &module.Type{
	Name: "task",
	Doc:  "A concurrent part of the script.",
	Methods: []module.Func{
		{
			Name: "await", Doc: "Waits for the task; raises what it raised.", Returns: "what the task's function returned",
			Call: func(c *module.Call) (any, error) { return c.Self.(*vm.Task).Await(c.L), nil },
		},
		{
			Name: "cancel", Doc: "Cancels the task; await raises a CancelledError.",
			Call: func(c *module.Call) (any, error) { c.Self.(*vm.Task).Cancel(); return nil, nil },
		},
		{
			Name: "status", Doc: "The state of the task.", Returns: "running, finished, failed or cancelled",
			Call: func(c *module.Call) (any, error) { return c.Self.(*vm.Task).Status(), nil },
		},
	},
	Text: func(self any) string { return "task (" + self.(*vm.Task).Status() + ")" },
}

var taskModule = &module.Module{
	Name: "task",
	Doc: "Runs functions concurrently. A scope, or a task, ends when all tasks spawned in it have ended; " +
		"an unhandled failure fails the run.",
	Types: []*module.Type{taskType, channelType},
	Lazy:  taskFuncs,
}

func taskFuncs() []module.Func {
	return []module.Func{
		{
			Name: "spawn", Doc: "Starts a function as a task.",
			Params: []module.Param{{Name: "f", Type: "function", Doc: "what to run"},
				{Name: "...", Type: "any", Doc: "its arguments"}},
			Returns: "the task",
			Call: func(c *module.Call) (any, error) {
				return module.NewObject(c.L, taskType, vm.Spawn(c.L, c.Function("f"), c.Rest()...)), nil
			},
		},
		{
			Name: "await", Doc: "Waits for a task; raises what it raised.",
			Params:  []module.Param{{Name: "task", Type: "task", Doc: "a spawned task"}},
			Returns: "what the task's function returned",
			Call:    func(c *module.Call) (any, error) { return c.Object("task").(*vm.Task).Await(c.L), nil },
		},
		{
			Name: "all", Doc: "Runs functions concurrently and waits for all. The first failure cancels the rest and is raised.",
			Params:  []module.Param{{Name: "list", Type: "table", Doc: "functions, or tasks spawned before"}},
			Returns: "a list of what each returned first, in the same order",
			Call:    all,
		},
		{
			Name: "map",
			Doc: "Calls a function for every item, several at a time. The first failure cancels the rest and is raised, " +
				"unless collect is set.",
			Params: []module.Param{
				{Name: "items", Type: "any", Doc: "a list, or an iterator function"},
				{Name: "f", Type: "function", Doc: "called with the item and its index (with all values of an iterator)"},
				{Name: "options", Fields: []module.Param{
					{Name: "workers", Type: "integer", Doc: "how many at a time", Default: 8, Min: new(1.0)},
					{Name: "collect", Type: "boolean",
						Doc:     "continue after failures and return them; results are then by index, with nil where one failed",
						Default: false},
				}},
			},
			Returns: "a list of what f returned first, in the items' order; with collect also a list of failures in that " +
				"order, each a table of place (its index), item and error",
			Call: taskMap,
		},
		{
			Name: "race", Doc: "Runs functions concurrently until the first ends, and cancels the others.",
			Params:  []module.Param{{Name: "list", Type: "table", Doc: "functions"}},
			Returns: "what the first returned; its failure is raised",
			Call:    race,
		},
		{
			Name: "timeout",
			Doc:  "Calls a function with a time limit; after it the function is cancelled and a TimeoutError raised.",
			Params: []module.Param{secondsParam(module.Param{Name: "seconds", Doc: "the limit"}),
				{Name: "f", Type: "function", Doc: "what to call"},
				{Name: "...", Type: "any", Doc: "its arguments"}},
			Returns: "what f returned",
			Call: func(c *module.Call) (any, error) {
				limit := max(c.Seconds("seconds"), 1)
				return vm.WithScope(c.L, vm.TimeLimit{After: limit, By: c.Name}, c.Value("f"), c.Rest()...), nil
			},
		},
		{
			Name: "sleep", Doc: "Waits; other tasks continue.", Params: []module.Param{sleepArg}, Call: sleepCall,
		},
		{
			Name: "scope",
			Doc:  "Calls a function and waits for every task spawned in it. The first failure cancels the rest and is raised.",
			Params: []module.Param{{Name: "f", Type: "function", Doc: "what to call"},
				{Name: "...", Type: "any", Doc: "its arguments"}},
			Returns: "what f returned",
			Call: func(c *module.Call) (any, error) {
				return vm.WithScope(c.L, vm.TimeLimit{}, c.Value("f"), c.Rest()...), nil
			},
		},
		channelFunc,
	}
}

// startTasks starts tasks for the functions in a list; existing tasks are kept if allowTasks is set.
func startTasks(c *module.Call, allowTasks bool) ([]*vm.Task, error) {
	list := c.Table("list")
	tasks := make([]*vm.Task, 0, list.Len())
	for i := 1; i <= table.Length(list); i++ {
		v := table.Element(list, i)
		if f, ok := v.(*lua.LFunction); ok {
			tasks = append(tasks, vm.Spawn(c.L, f))
			continue
		}
		object, _ := module.ObjectValue(v)
		t, ok := object.(*vm.Task)
		if !ok || !allowTasks {
			return nil, fault.Of(&fault.ParameterError{}, "item %d of the list must be a function, got a %s", i, v.Type())
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func all(c *module.Call) (any, error) {
	results := c.L.NewTable()
	vm.WithGroup(c.L, vm.TimeLimit{}, func() error {
		tasks, err := startTasks(c, true)
		if err != nil {
			return err
		}
		for i, t := range tasks {
			if values := t.Await(c.L); len(values) > 0 {
				results.RawSetInt(i+1, values[0])
			}
		}
		return nil
	})
	return results, nil
}

func race(c *module.Call) (any, error) {
	var values []lua.LValue
	vm.WithGroup(c.L, vm.TimeLimit{}, func() error {
		tasks, err := startTasks(c, false)
		if err != nil {
			return err
		}
		if len(tasks) == 0 {
			return fault.Of(&fault.ParameterError{}, "the list is empty")
		}
		winner, err := vm.Race(c.L, tasks)
		if err != nil {
			return err
		}
		for i, t := range tasks {
			if i != winner {
				t.Cancel()
			}
		}
		values = tasks[winner].Await(c.L)
		return nil
	})
	return values, nil
}

func taskMap(c *module.Call) (any, error) {
	next := itemsOf(c, "items")
	results, failures := c.L.NewTable(), map[int]*lua.LTable{}
	collect := c.Bool("collect")
	free := semaphore.NewWeighted(int64(c.Int("workers")))
	vm.WithGroup(c.L, vm.TimeLimit{}, func() error {
		for i := 1; ; i++ {
			if err := c.Blocking(func(ctx context.Context) error { return free.Acquire(ctx, 1) }); err != nil {
				return err
			}
			if vm.Stopping(c.L) {
				return nil // running ones finish
			}
			item := next()
			if item == nil {
				return nil
			}
			vm.Spawn(c.L, c.L.NewFunction(func(L *lua.LState) int {
				defer free.Release(1)
				if !collect {
					L.Insert(c.Value("f"), 1)
					L.Call(L.GetTop()-1, 1)
					results.RawSetInt(i, L.Get(-1))
					return 0
				}
				values, caught := vm.Try(L, c.Value("f"), item...)
				switch {
				case caught != nil && vm.Context(L).Err() != nil:
					caught.Reraise(L) // ends the run, or the map
				case caught != nil:
					failed := L.NewTable()
					failed.RawSetString("place", lua.LNumber(i))
					failed.RawSetString("item", item[0])
					failed.RawSetString("error", caught.Value)
					failures[i] = failed
				case len(values) > 0:
					results.RawSetInt(i, values[0])
				}
				return 0
			}), item...)
		}
	})
	if vm.Stopping(c.L) {
		vm.Checkpoint(c.L)
	}
	if !collect {
		return results, nil
	}
	list := c.L.NewTable()
	for n, i := range slices.Sorted(maps.Keys(failures)) {
		list.RawSetInt(n+1, failures[i])
	}
	return []lua.LValue{results, list}, nil
}

// itemsOf returns a function that returns the arguments for the next item, nil at the end. It is valid during
// the call only.
func itemsOf(c *module.Call, name string) func() []lua.LValue {
	next := itemsFrom(c, name)
	return func() []lua.LValue { return next(c.L) }
}

// itemsFrom is like itemsOf, but also valid after the call, in any task.
func itemsFrom(c *module.Call, name string) func(L *lua.LState) []lua.LValue {
	source := c.Value(name)
	if list, ok := source.(*lua.LTable); ok && c.L.GetMetaField(source, "__call") == lua.LNil {
		i := 0
		return func(*lua.LState) []lua.LValue {
			if i++; i > table.Length(list) {
				return nil
			}
			return []lua.LValue{table.Element(list, i), lua.LNumber(i)}
		}
	}
	if source.Type() != lua.LTFunction && c.L.GetMetaField(source, "__call") == lua.LNil {
		c.Raise(fault.Of(&fault.ParameterError{}, "argument %s must be a list or an iterator, got a %s", name, source.Type()))
	}
	return func(L *lua.LState) []lua.LValue {
		top := L.GetTop()
		L.Push(source)
		L.Call(0, lua.MultRet)
		var values []lua.LValue
		for i := top + 1; i <= L.GetTop(); i++ {
			values = append(values, L.Get(i))
		}
		L.SetTop(top)
		if len(values) == 0 || values[0] == lua.LNil {
			return nil
		}
		return values
	}
}
