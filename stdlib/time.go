package stdlib

import (
	"context"
	"time"

	"transect/client/fault"
	"transect/runtime/vm"
)

const isoMillis = "2006-01-02T15:04:05.000Z07:00"

var timeModule = &vm.Module{
	Name: "time",
	Doc:  "Points in time as seconds since 1970 (UTC), and their RFC 3339 text.",
	Funcs: []vm.Func{
		{
			Name: "now", Doc: "The time now.", Returns: "seconds since 1970, with milliseconds",
			Example: `assert(require("time").now() > 1.7e9)`,
			Call:    func(c *vm.Call) (any, error) { return float64(c.In.Options().Now().UnixMilli()) / 1000, nil },
		},
		{
			Name: "format", Doc: "Writes a time as RFC 3339 text in UTC, with milliseconds.",
			Params: []vm.Param{
				{Name: "seconds", Type: "number", Doc: "seconds since 1970; now if left out", Optional: true},
				{Name: "layout", Type: "string", Doc: "what to write", Default: "datetime", Choices: []string{"datetime", "date", "compact"}},
			},
			Returns: "the text: 2024-05-01T10:00:00.000Z, 2024-05-01 or 20240501T100000Z",
			Example: `local time = require("time")
assert(time.format(0) == "1970-01-01T00:00:00.000Z" and time.format(0, "date") == "1970-01-01")`,
			Call: formatTime,
		},
		{
			Name: "parse", Doc: "Reads an RFC 3339 time or a date (midnight UTC).",
			Params:  []vm.Param{{Name: "text", Type: "string", Doc: "2024-05-01T10:00:00Z or 2024-05-01"}},
			Returns: "seconds since 1970",
			Example: `assert(require("time").parse("1970-01-02T00:00:01.5Z") == 86401.5)`,
			Call: func(c *vm.Call) (any, error) {
				for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly} {
					if t, err := time.Parse(layout, c.String("text")); err == nil {
						return float64(t.Unix()) + float64(t.Nanosecond())/1e9, nil
					}
				}
				return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is no RFC 3339 time", c.String("text")),
					"write times like 2024-05-01T10:00:00Z")
			},
		},
		{
			Name: "sleep", Doc: "Waits; other tasks go on.",
			Params:  []vm.Param{{Name: "seconds", Type: "number", Doc: "how long, in seconds"}},
			Example: `require("time").sleep(0.001)`,
			Call:    sleepCall,
		},
	},
}

func formatTime(c *vm.Call) (any, error) {
	t := c.In.Options().Now()
	if c.Has("seconds") {
		n := c.Number("seconds")
		if n != n || n < -62135596800 || n > 253402300799 {
			return nil, fault.Of(&fault.ParameterError{}, "argument seconds is outside of the years 1 to 9999: %v", n)
		}
		t = time.UnixMilli(int64(n*1000 + 0.5))
	}
	layouts := map[string]string{"datetime": isoMillis, "date": time.DateOnly, "compact": "20060102T150405Z"}
	return t.UTC().Format(layouts[c.String("layout")]), nil
}

func sleepCall(c *vm.Call) (any, error) {
	d, err := seconds(c, "seconds")
	if err != nil {
		return nil, err
	}
	return nil, c.Blocking(func(ctx context.Context) error { return sleep(ctx, d) })
}
