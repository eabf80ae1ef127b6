package stdlib

import (
	"context"
	"slices"
	"time"
	"transect/client/wait"

	"transect/runtime/module"
	"transect/stdlib/calendar"
)

// began is where the monotonic clock starts.
var began = time.Now()

var timeModule = &module.Module{
	Name: "time",
	Doc: "Points in time as seconds since 1970 (UTC), to the millisecond, and their texts. Zones are known by name on every system. " +
		"Without a zone, everything is in UTC.",
	Funcs: slices.Concat([]module.Func{
		{
			Name: "now", Doc: "The time now.", Returns: "seconds since 1970, with milliseconds",
			Call: func(c *module.Call) (any, error) { return float64(c.In.Options().Now().UnixMilli()) / 1000, nil },
		},
		{
			Name: "clock", Doc: "A monotonic clock, for measuring durations.", Returns: "seconds since the program started",
			Call: func(*module.Call) (any, error) { return time.Since(began).Seconds(), nil },
		},
		{
			Name: "format", Doc: "Formats a time: as RFC 3339 text with milliseconds, or by a layout.",
			Params:  []module.Param{timeArg, {Name: "layout", Type: "string", Doc: calendar.LayoutDoc, Default: "datetime"}, zoneOnly},
			Returns: "the text: 2024-05-01T10:00:00.000Z, 2024-05-01, 20240501T100000Z, 2024-W18 or what the layout says",
			Call: func(c *module.Call) (any, error) {
				if err := calendar.CheckLayout(c.String("layout")); err != nil {
					return nil, err
				}
				t, err := zonedTime(c)
				if err != nil {
					return nil, err
				}
				return calendar.Format(t, c.String("layout"))
			},
		},
		{
			Name: "parse", Doc: "Parses a time: RFC 3339, a date (its midnight), or by a layout. A time without a zone is in that of the option.",
			Params: []module.Param{{Name: "text", Type: "string", Doc: "2024-05-01T10:00:00Z or 2024-05-01"},
				{Name: "layout", Type: "string", Doc: calendar.LayoutDoc, Optional: true}, zoneOnly},
			Returns: "seconds since 1970",
			Call: func(c *module.Call) (any, error) {
				loc, err := zone(c)
				if err != nil {
					return nil, err
				}
				var t time.Time
				if !c.Has("layout") {
					t, err = calendar.Parse(c.String("text"), loc)
				} else if err = calendar.CheckLayout(c.String("layout")); err == nil {
					t, err = calendar.Read(c.String("text"), c.String("layout"), loc)
				}
				return calendar.Since1970(t), err
			},
		},
		{
			Name: "sleep", Doc: "Waits; other tasks go on.",
			Params: []module.Param{{Name: "seconds", Type: "number", Doc: "how long, in seconds"}},
			Call:   sleepCall,
		},
	}, calendarFuncs, durationFuncs),
}

func sleepCall(c *module.Call) (any, error) {
	d, err := seconds(c, "seconds")
	if err != nil {
		return nil, err
	}
	return nil, c.Blocking(func(ctx context.Context) error { return wait.Sleep(ctx, d) })
}
