package stdlib

import (
	"context"
	"log/slog"
	"sort"

	"transect/client/fault"
	"transect/runtime/vm"
)

func logFunc(name string, level slog.Level, doc string) vm.Func {
	return vm.Func{
		Name: name, Doc: doc,
		Params: []vm.Param{
			{Name: "message", Type: "any", Doc: "what happened"},
			{Name: "fields", Type: "table", Doc: "names and values written with it", Optional: true},
		},
		Example: `require("log").` + name + `("ordered", { product = "p1", files = 3 })`,
		Call: func(c *vm.Call) (any, error) {
			attrs, err := logFields(c)
			if err != nil {
				return nil, err
			}
			c.In.Options().Logger.LogAttrs(context.Background(), level, c.L.ToStringMeta(c.Value("message")).String(), attrs...)
			return nil, nil
		},
	}
}

var logModule = &vm.Module{
	Name: "log",
	Doc:  "Writes messages with fields to the error stream, as text or JSON lines.",
	Funcs: []vm.Func{
		logFunc("debug", slog.LevelDebug, "Writes a message for finding faults; shown with -v."),
		logFunc("info", slog.LevelInfo, "Writes a message about the normal course."),
		logFunc("warn", slog.LevelWarn, "Writes a message about something that may need attention."),
		logFunc("error", slog.LevelError, "Writes a message about a failure."),
	},
}

func logFields(c *vm.Call) ([]slog.Attr, error) {
	t := c.Table("fields")
	if t == nil {
		return nil, nil
	}
	v, err := vm.FromLua(t)
	if err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "argument fields: %w", err)
	}
	object, ok := v.(map[string]any)
	if _, empty := v.(vm.EmptyTable); !ok && !empty {
		return nil, fault.Of(&fault.ParameterError{}, "argument fields must have names for keys")
	}
	attrs := make([]slog.Attr, 0, len(object))
	for name, value := range object {
		attrs = append(attrs, slog.Any(name, value))
	}
	sort.Slice(attrs, func(i, j int) bool { return attrs[i].Key < attrs[j].Key })
	return attrs, nil
}
