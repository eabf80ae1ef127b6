package vm

import (
	"cmp"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// TaskView is a snapshot of a task of a script.
type TaskView struct {
	Waits  string      `json:"waits,omitempty"` // an operation or function that it waits for
	Levels []LevelView `json:"levels"`          // innermost first
}

// LevelView is a function on the stack of a task.
type LevelView struct {
	File      string         `json:"file"`
	Line      int            `json:"line"`
	Function  string         `json:"function,omitempty"`
	Variables []VariableView `json:"variables,omitempty"`
}

// VariableView is a local variable with its value, without secrets.
type VariableView struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

const (
	maxTasksSeen  = 100 // of one script
	maxLevelsSeen = 20  // of one task
)

// Look shows the tasks of the run under way, the main one first. It takes the lock
// between two instructions and runs no Lua. more is how many tasks are left out.
func (in *Interp) Look() (tasks []TaskView, more int) {
	in.acquire()
	defer in.release()
	if in.root == nil {
		return nil, 0
	}
	all := in.root.within(nil)
	modules := Modules(in.main)
	for _, t := range all[:min(len(all), maxTasksSeen)] {
		tasks = append(tasks, t.view(modules))
	}
	return tasks, len(all) - len(tasks)
}

// Modules returns the names of the loaded modules, by what require returned.
func Modules(L *lua.LState) map[lua.LValue]string {
	names := map[lua.LValue]string{}
	if loaded, ok := L.GetField(L.Get(lua.RegistryIndex), "_LOADED").(*lua.LTable); ok {
		loaded.ForEach(func(name, module lua.LValue) {
			if module.Type() == lua.LTTable {
				names[module] = name.String()
			}
		})
	}
	return names
}

// within adds the task and those that it waits for at the end of its scopes.
func (t *Task) within(list []*Task) []*Task {
	list = append(list, t)
	var live []*Task
	add := func(s *Scope) {
		for ; s != nil && s.task == t; s = s.outer {
			for task := range s.live {
				live = append(live, task)
			}
		}
	}
	add(t.own)
	if t.scope != t.own {
		add(t.scope)
	}
	slices.SortFunc(live, func(a, b *Task) int { return cmp.Compare(a.path, b.path) })
	for _, task := range live {
		list = task.within(list)
	}
	return list
}

func (t *Task) view(modules map[lua.LValue]string) TaskView {
	v := TaskView{Waits: t.waits}
	for _, l := range Levels(t.thread, maxLevelsSeen) {
		level := LevelView{File: l.File, Line: l.Line, Function: l.Function}
		for i, local := range l.Locals() {
			level.Variables = slices.DeleteFunc(level.Variables, func(v VariableView) bool { return v.Name == local.Name })
			if f, ok := local.Value.(*lua.LFunction); i < maxValuesSeen && modules[local.Value] == "" && !(ok && f != nil) {
				level.Variables = append(level.Variables, VariableView{local.Name, seen(local)})
			}
		}
		v.Levels = append(v.Levels, level)
	}
	return v
}

// maxValuesSeen is how many variables of a function are shown.
const maxValuesSeen = 50

func seen(v Variable) string {
	if IsSecretName(v.Name) {
		return "…"
	}
	return (&Printer{Depth: 3, Items: 10, Width: 100, Size: 300, OneLine: true, Secrets: true}).Text(v.Value)
}
