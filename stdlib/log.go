package stdlib

import (
	"context"
	"log/slog"
	"slices"
	"sort"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
)

// logger holds the fields of all its messages, sorted by name.
type logger []slog.Attr

// with returns the logger with more fields, replacing existing names.
func (l logger) with(more []slog.Attr) logger {
	merged := slices.DeleteFunc(slices.Clone(l), func(a slog.Attr) bool {
		return slices.ContainsFunc(more, func(b slog.Attr) bool { return a.Key == b.Key })
	})
	merged = append(merged, more...)
	sort.Slice(merged, func(i, j int) bool { return merged[i].Key < merged[j].Key })
	return merged
}

// logFuncs returns the functions of the module and of a logger.
func logFuncs() []module.Func {
	return []module.Func{
		logFunc("debug", slog.LevelDebug, "Writes a debug message; shown with -v."),
		logFunc("info", slog.LevelInfo, "Writes an informational message."),
		logFunc("warn", slog.LevelWarn, "Writes a warning."),
		logFunc("error", slog.LevelError, "Writes an error message."),
		{
			Name:    "with",
			Doc:     "Makes a logger that adds these fields to each of its messages; a message's own take precedence.",
			Params:  []module.Param{{Name: "fields", Type: "table", Doc: "names and values"}},
			Returns: "a logger, with the functions of this module as methods",
			Call: func(c *module.Call) (any, error) {
				kept, _ := c.Self.(logger)
				return module.NewObject(c.L, loggerType, kept.with(logFields(c))), nil
			},
		},
	}
}

func logFunc(name string, level slog.Level, doc string) module.Func {
	return module.Func{
		Name: name, Doc: doc,
		Params: []module.Param{
			{Name: "message", Type: "any", Doc: "what happened"},
			{Name: "fields", Type: "table", Doc: "names and values written with it", Optional: true},
		},
		Call: func(c *module.Call) (any, error) {
			kept, _ := c.Self.(logger)
			c.In.Options().Logger.LogAttrs(context.Background(), level, c.L.ToStringMeta(c.Value("message")).String(),
				kept.with(logFields(c))...)
			return nil, nil
		},
	}
}

var loggerType = &module.Type{
	Name: "logger", Doc: "Writes messages with common fields, such as the flight they are about.",
	Text: func(self any) string {
		var names []string
		for _, a := range self.(logger) {
			names = append(names, a.String())
		}
		return "logger (" + strings.Join(names, " ") + ")"
	},
}

// Set here because loggers create loggers: in loggerType it would be an initialisation cycle.
func init() { loggerType.Methods = logFuncs() }

var logModule = &module.Module{
	Name:  "log",
	Doc:   "Writes messages with fields to the error stream, as text or JSON lines.",
	Types: []*module.Type{loggerType},
	Lazy:  logFuncs,
}

func logFields(c *module.Call) (attrs []slog.Attr) {
	if c.Table("fields") == nil {
		return nil
	}
	v := c.Go("fields")
	object, ok := v.(map[string]any)
	if _, empty := v.(schema.Empty); !ok && !empty {
		c.Raise(fault.Of(&fault.ParameterError{}, "argument fields must have names for keys"))
	}
	for name, value := range object {
		attrs = append(attrs, slog.Any(name, value))
	}
	return attrs
}
