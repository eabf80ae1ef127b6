package stdlib

import (
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/engine/table"
	"transect/runtime/meter"
	"transect/runtime/module"
)

var amounts = []module.Param{
	{Name: "files", Type: "integer", Doc: "how many files", Optional: true},
	{Name: "bytes", Type: "integer", Doc: "how many bytes", Optional: true},
}

var progressType = &module.Type{
	Name: "progress",
	Doc:  "The progress of one job.",
	Methods: []module.Func{
		{
			Name: "add", Doc: "Adds finished work.",
			Params: []module.Param{{Name: "done", Fields: append(append([]module.Param{}, amounts...),
				module.Param{Name: "failed", Type: "integer", Doc: "how many items failed", Optional: true},
				module.Param{Name: "retries", Type: "integer", Doc: "retries", Optional: true})}},
			Call: func(c *module.Call) (any, error) {
				files, bytes, failed, retries := c.Int("files"), c.Int("bytes"), c.Int("failed"), c.Int("retries")
				if files < 0 || bytes < 0 || failed < 0 || retries < 0 {
					return nil, fault.Of(&fault.ParameterError{}, "progress cannot go back: give the amount that was added")
				}
				c.Self.(*meter.Meter).Add(int64(files), int64(bytes), int64(failed), int64(retries))
				return nil, nil
			},
		},
		{
			Name: "finish", Doc: "Ends the display with a summary line.",
			Call: func(c *module.Call) (any, error) { c.Self.(*meter.Meter).Finish(); return nil, nil },
		},
	},
}

var progressModule = &module.Module{
	Name: "progress",
	Doc: "Shows progress on the error stream: a redrawn line on a terminal, elsewhere a line a minute " +
		"and one at the end, or JSON lines. A percentage appears only where the total is known.",
	Types: []*module.Type{progressType},
	Lazy:  progressFuncs,
}

func progressFuncs() []module.Func {
	return []module.Func{progressEach, {
		Name: "start", Doc: "Starts a display.",
		Params: []module.Param{{Name: "options", Fields: append([]module.Param{
			{Name: "label", Type: "string", Doc: "what the work is", Default: "progress"},
			{Name: "transfers", Type: "boolean", Doc: "count transferred bytes of uploads and downloads", Default: false},
		}, amounts...)}},
		Returns: "a progress object",
		Call: func(c *module.Call) (any, error) {
			m := startMeter(c, meter.Options{TotalFiles: int64(c.Int("files")), TotalBytes: int64(c.Int("bytes"))})
			if c.Bool("transfers") {
				m.WatchTransfers(c.In)
			}
			return module.NewObject(c.L, progressType, m), nil
		},
	}}
}

const (
	maxMeters = 1000 // each uses a goroutine until it is finished
	maxLabel  = 200  // bytes shown
)

func startMeter(c *module.Call, o meter.Options) *meter.Meter {
	if c.In.OpenDisplays() >= maxMeters {
		c.Raise(fault.Hinted(fault.Of(&fault.LimitError{}, "%d displays of progress are open", maxMeters),
			"end each with its method finish before the next ones start"))
	}
	o.Label = human.Shorten(c.String("label"), maxLabel)
	return meter.Start(c.In, o)
}

var progressEach = module.Func{
	Name: "each",
	Doc: "Iterates over items and shows progress. The display ends with the last item, or with the run when the loop " +
		"is left.",
	Params: []module.Param{
		{Name: "items", Type: "any", Doc: "a list, or an iterator"},
		{Name: "options", Fields: []module.Param{
			{Name: "label", Type: "string", Doc: "what the work is", Default: "progress"},
			{Name: "total", Type: "integer", Doc: "total number, which an iterator does not know", Optional: true},
		}},
	},
	Returns: "an iterator of the items, each with its index (with all values of an iterator)",
	Call: func(c *module.Call) (any, error) {
		next := itemsFrom(c, "items")
		total := c.Int("total")
		if list := c.Table("items"); list != nil && !c.Has("total") {
			total = table.Length(list)
		}
		m := startMeter(c, meter.Options{TotalFiles: int64(total)})
		c.In.OnClose(m.Finish) // when the loop is left early
		begun := false
		return c.L.NewFunction(func(L *lua.LState) int {
			if begun { // the previous one is done
				m.Add(1, 0, 0, 0)
			}
			item := next(L)
			if begun = item != nil; !begun {
				m.Finish()
				L.Push(lua.LNil)
				return 1
			}
			for _, v := range item {
				L.Push(v)
			}
			return len(item)
		}), nil
	},
}
