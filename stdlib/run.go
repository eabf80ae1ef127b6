package stdlib

import (
	"context"
	"encoding/json"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
)

var (
	runName = module.Param{Name: "name", Type: "string", Doc: "name that is unique in the run"}
	runFunc = module.Param{Name: "f", Type: "function", Doc: "what to call"}
)

var runModule = &module.Module{
	Name: "run",
	Doc: "The current run. transect run --run ID names a run; started again under its ID, it takes its earlier " +
		"writes from its ledger " +
		"instead of sending them again. At the prompt, in tests and in dry runs nothing is kept after the program ends.",
	Fields: []module.Field{
		{Name: "id", Doc: "the ID of the run, the same in each start; \"\" when there is no run",
			Read: func(in *vm.Interp) (any, error) {
				if run := in.Options().InRun; run != nil {
					return run.ID, nil
				}
				return "", nil
			}},
		{Name: "started", Doc: "the time of the first start, as from time.now: the same in each start",
			Read: func(in *vm.Interp) (any, error) {
				k := runStateOf(in)
				if run := in.Options().InRun; run != nil && k.started.IsZero() {
					var err error
					if k.started, err = run.Started(); err != nil {
						return nil, err
					}
				}
				return float64(k.started.UnixMilli()) / 1000, nil
			}},
		{Name: "dir", Doc: "a folder for files that are kept as long as the run, created on first use", Read: runDir},
	},
	Lazy: runFuncs,
}

func runFuncs() []module.Func {
	return []module.Func{
		{
			Name: "once", Doc: "Calls a function with effects outside the platform, such as a message to people, in the " +
				"first start that reaches it: " +
				"its result is recorded, and returned from then on. When a start dies while f runs, nothing is recorded: f is " +
				"called again. Errors are not recorded.",
			Params: []module.Param{runName,
				runFunc}, Returns: "what f returned: text, number, boolean, nil, or a table of those",
			Call: func(c *module.Call) (any, error) { return keepInRun(c, "once ") },
		},
		{
			Name: "fixed",
			Doc: "Fixes a value that would differ from start to start, such as one from the clock or from data read: the " +
				"first value is kept for the run.",
			Params: []module.Param{runName, runFunc}, Returns: "the value: text, number, boolean, nil, or a table of those",
			Call: func(c *module.Call) (any, error) { return keepInRun(c, "fixed ") },
		},
		{
			Name: "scope", Doc: "Calls a function whose writes, and its tasks' writes, are kept apart by the name from " +
				"equal ones outside of it; it waits for the tasks. " +
				"For equal writes whose results must not be exchanged between starts.",
			Params: []module.Param{runName, runFunc}, Returns: "what f returned",
			Call: func(c *module.Call) (any, error) {
				if run := c.In.Options().InRun; run != nil {
					return vm.WithContext(c.L, func(ctx context.Context) context.Context { return run.Label(ctx, c.String("name")) },
						c.Value("f")), nil
				}
				return vm.WithScope(c.L, vm.TimeLimit{}, c.Value("f")), nil
			},
		},
		{
			Name: "again",
			Doc: "Calls a function whose writes are sent in each start, whatever the ledger holds, also by tasks it " +
				"spawns; it waits for them.",
			Params: []module.Param{runFunc}, Returns: "what f returned",
			Call: func(c *module.Call) (any, error) {
				if run := c.In.Options().InRun; run != nil {
					return vm.WithContext(c.L, run.Again, c.Value("f")), nil
				}
				return vm.WithScope(c.L, vm.TimeLimit{}, c.Value("f")), nil
			},
		},
	}
}

type runStateKey struct{}

// runState is the module's state in one interpreter.
type runState struct {
	started time.Time
	dir     string            // outside of a run
	values  map[string][]byte // of run.once and run.fixed outside of a run
	making  map[string]*making
}

func runStateOf(in *vm.Interp) *runState {
	return vm.State(in, runStateKey{}, func() *runState {
		k := &runState{values: map[string][]byte{}, making: map[string]*making{}}
		if in.Options().InRun == nil {
			k.started = in.Options().Now()
		}
		return k
	})
}

func runDir(in *vm.Interp) (any, error) {
	if run := in.Options().InRun; run != nil {
		dir, err := run.Folder()
		if err == nil {
			in.Private(dir)
		}
		return dir, err
	}
	k := runStateOf(in)
	if k.dir == "" {
		dir, err := in.Sandbox.TempDir("transect-run-")
		if err != nil {
			return nil, fault.Of(&fault.FileError{}, "cannot make a folder: %w", fault.Reason(err))
		}
		k.dir = dir
	}
	return k.dir, nil
}

type making struct {
	by   *vm.Task
	done chan struct{}
}

// keepInRun returns the value recorded under a name, or calls f and records its result.
func keepInRun(c *module.Call, kind string) (any, error) {
	k := runStateOf(c.In)
	name := kind + c.String("name")
	for {
		text, found, err := k.get(c.In, name)
		c.Must(err)
		if found {
			return vm.DecodeJSON(text, false)
		}
		other := k.making[name]
		if other == nil {
			break
		}
		if other.by == vm.CurrentTask(c.L) {
			return nil, fault.Of(&fault.ParameterError{}, "%q is being computed: f cannot use it", c.String("name"))
		}
		if _, err := vm.Wait(c.L, other.done); err != nil {
			return nil, err
		}
	}
	now := &making{vm.CurrentTask(c.L), make(chan struct{})}
	k.making[name] = now
	defer close(now.done)
	defer delete(k.making, name)
	v := vm.Call(c.L, c.Value("f"))
	text, err := encodeLimited(c, v, maxRunValue)
	switch {
	case err != nil:
		return nil, fault.Of(&fault.ParameterError{}, "what f returned for %q cannot be kept: %w", c.String("name"), err)
	case text == nil:
		return nil, fault.Hinted(fault.Of(&fault.LimitError{}, "what f returned for %q is longer than %d MiB",
			c.String("name"), maxRunValue>>20), "write it to a file in run.dir")
	}
	if run := c.In.Options().InRun; run != nil {
		err = run.Keep(name, text)
	} else {
		k.values[name] = text
	}
	c.Must(err)
	return vm.DecodeJSON(text, false) // as on a restart, except for the order of its keys
}

func (k *runState) get(in *vm.Interp, name string) ([]byte, bool, error) {
	if run := in.Options().InRun; run != nil {
		return run.Kept(name)
	}
	text, found := k.values[name]
	return text, found, nil
}

// maxRunValue limits a value recorded for a run, in bytes.
const maxRunValue = 1 << 20

// encodeLimited returns a value as JSON, nil when it is longer than the limit.
func encodeLimited(c *module.Call, v lua.LValue, limit int) (text []byte, err error) {
	plain, err := vm.FromLua(c.L, v)
	if err == nil {
		err = schema.CheckText(plain)
	}
	if err == nil && encodedSize(plain, 0, 0, 2*limit) <= 2*limit {
		text, err = json.Marshal(plain)
	}
	if len(text) > limit {
		text = nil
	}
	return text, err
}
