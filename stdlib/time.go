package stdlib

import (
	"context"
	"errors"
	"math"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/calendar"
	"transect/client/duration"
	"transect/client/fault"
	"transect/client/wait"
	"transect/runtime/module"
)

// began is the origin of the monotonic clock.
var began = time.Now()

var (
	zoneOption = module.Param{Name: "zone", Type: "string",
		Doc: "UTC, local, an offset such as +02:00, or a name such as Europe/Berlin", Default: "UTC"}
	zoneOnly = module.Param{Name: "options", Fields: []module.Param{zoneOption}}
	timeArg  = module.Param{Name: "time", Type: "number|string",
		Doc: "seconds since 1970, or RFC 3339 text as resources have it; now if left out", Optional: true}
	sleepArg = secondsParam(module.Param{Name: "seconds", Doc: "how long, in seconds"})
)

// stepFields are the parts of a step through the calendar.
var stepFields = func() []module.Param {
	var fields []module.Param
	for i, name := range []string{"years", "months", "weeks", "days", "hours", "minutes", "seconds"} {
		f := module.Param{Name: name, Type: "integer", Doc: "how many, also negative", Optional: true, Min: new(-1e12),
			Max: new(1e12)}
		if i >= 4 {
			f.Type = "number"
		}
		fields = append(fields, f)
	}
	return append(fields, zoneOption)
}()

var timeModule = &module.Module{
	Name: "time",
	Doc: "Points in time as seconds since 1970 (UTC), to the millisecond, and their written forms. Zones are known by " +
		"name on every system. " +
		"Without a zone, everything is in UTC.",
	Lazy: timeFuncs,
}

func timeFuncs() []module.Func {
	return []module.Func{
		{
			Name: "now", Doc: "The time now.", Returns: "seconds since 1970, with milliseconds",
			Call: func(c *module.Call) (any, error) { return now(c), nil },
		},
		{
			Name: "clock", Doc: "A monotonic clock, for measuring durations.", Returns: "seconds since the program started",
			Call: func(*module.Call) (any, error) { return time.Since(began).Seconds(), nil },
		},
		{
			Name: "format", Doc: "Formats a time: as RFC 3339 text with milliseconds, or by a layout.",
			Params: []module.Param{timeArg, {Name: "layout", Type: "string", Doc: calendar.LayoutDoc, Default: "datetime"},
				zoneOnly},
			Returns: "the text: 2024-05-01T10:00:00.000Z, 2024-05-01, 20240501T100000Z, 2024-W18 or what the layout says",
			Call: func(c *module.Call) (any, error) {
				c.Must(calendar.CheckLayout(c.String("layout")))
				return calendar.Format(zonedTime(c, "time"), c.String("layout"))
			},
		},
		{
			Name: "parse",
			Doc: "Parses a time: RFC 3339, a date (its midnight), or by a layout. A time without a zone is in the zone of the " +
				"option.",
			Params: []module.Param{{Name: "text", Type: "string", Doc: "2024-05-01T10:00:00Z or 2024-05-01"},
				{Name: "layout", Type: "string", Doc: calendar.LayoutDoc, Optional: true},
				{Name: "options", Fields: []module.Param{zoneOption,
					{Name: "relative", Type: "boolean",
						Doc:     "also accept what people type: today, yesterday, 06:00, or how long ago, such as 12h or 7d",
						Default: false}}}},
			Returns: "seconds since 1970",
			Call: func(c *module.Call) (any, error) {
				if c.Bool("relative") && !c.Has("layout") {
					t, err := calendar.Moment(c.String("text"), c.In.Options().Now().In(zone(c)), calendar.Past)
					if err != nil {
						return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a time", c.String("text")), "%v", err)
					}
					return since1970(t, nil)
				}
				if !c.Has("layout") {
					return since1970(calendar.Parse(c.String("text"), zone(c)))
				}
				c.Must(calendar.CheckLayout(c.String("layout")))
				return since1970(calendar.Read(c.String("text"), c.String("layout"), zone(c)))
			},
		},
		{Name: "sleep", Doc: "Waits; other tasks continue.", Params: []module.Param{sleepArg}, Call: sleepCall},
		{
			Name: "date", Doc: "Splits a time into its fields.", Params: []module.Param{timeArg, zoneOnly},
			Returns: "a table of year, month, day, hour, minute, second, weekday (1 is Monday), yearday, week and weekyear " +
				"(ISO 8601), zone, offset (seconds east of Greenwich) and dst",
			Call: func(c *module.Call) (any, error) { return dateTable(zonedTime(c, "time")), nil },
		},
		{
			Name: "at", Doc: "Makes a time from a date or an ISO week. A local time skipped by a clock change moves forward " +
				"by the change; of an ambiguous one the first is used.",
			Params: []module.Param{{Name: "date", Fields: []module.Param{
				{Name: "year", Type: "integer", Doc: "1 to 9999"},
				{Name: "month", Type: "integer", Doc: "1 to 12; 1 if left out", Optional: true, Min: new(1.0), Max: new(12.0)},
				{Name: "day", Type: "integer", Doc: "of the month; 1 if left out", Optional: true, Min: new(1.0), Max: new(31.0)},
				{Name: "week", Type: "integer", Doc: "of ISO 8601, in place of month and day", Optional: true, Min: new(1.0),
					Max: new(53.0)},
				{Name: "weekday", Type: "integer", Doc: "1 is Monday; goes with week", Optional: true, Min: new(1.0),
					Max: new(7.0)},
				{Name: "hour", Type: "integer", Doc: "0 to 23", Optional: true, Min: new(0.0), Max: new(23.0)},
				{Name: "minute", Type: "integer", Doc: "0 to 59", Optional: true, Min: new(0.0), Max: new(59.0)},
				{Name: "second", Type: "number", Doc: "0 to 59.999", Optional: true, Min: new(0.0), Max: new(59.999)},
				zoneOption}}},
			Returns: "seconds since 1970",
			Call:    timeAt,
		},
		{
			Name: "add",
			Doc: "Adds calendar units: years, months, weeks and days keep the local time, also across clock changes; January " +
				"31 plus a month is the last of February. Hours and below are exact.",
			Params: []module.Param{{Name: "time", Type: "number|string", Doc: "seconds since 1970, or RFC 3339 text"},
				{Name: "step", Fields: stepFields}},
			Returns: "seconds since 1970",
			Call:    func(c *module.Call) (any, error) { return since1970(step(c).From(zonedTime(c, "time"), 1)) },
		},
		{
			Name: "start_of", Doc: "The start of the minute, hour, day, week (Monday), month or year that contains a time.",
			Params: []module.Param{{Name: "unit", Type: "string", Doc: "of what",
				Choices: []string{"minute", "hour", "day", "week", "month", "year"}}, timeArg, zoneOnly},
			Returns: "seconds since 1970",
			Call: func(c *module.Call) (any, error) {
				t := calendar.StartOf(zonedTime(c, "time"), c.String("unit"))
				return since1970(t, calendar.InYears(t))
			},
		},
		{
			Name: "each", Doc: "Iterates from one time to another in calendar steps, both ends included.",
			Params: []module.Param{{Name: "from", Type: "number|string", Doc: "the first time"},
				{Name: "to", Type: "number|string", Doc: "the last"}, {Name: "step", Fields: stepFields}},
			Returns: "an iterator of seconds since 1970",
			Call:    eachTime,
		},
		{
			Name: "duration", Doc: "Parses a duration such as 1h30m, 90s, 2d, 1w, 250ms or PT1H30M. A day is 24 hours.",
			Params:  []module.Param{{Name: "text", Type: "string", Doc: "the duration"}},
			Returns: "seconds",
			Call:    func(c *module.Call) (any, error) { return duration.Seconds(c.String("text")) },
		},
		{
			Name: "format_duration", Doc: "Formats a duration in days, hours, minutes and seconds, to the millisecond.",
			Params:  []module.Param{{Name: "seconds", Type: "number", Doc: "how long", Min: new(-1e12), Max: new(1e12)}},
			Returns: "the text, such as 1h30m",
			Call:    func(c *module.Call) (any, error) { return duration.Format(c.Number("seconds")), nil },
		},
	}
}

func sleepCall(c *module.Call) (any, error) {
	d := c.Seconds("seconds")
	return nil, c.Blocking(func(ctx context.Context) error { return wait.Sleep(ctx, d) })
}

func since1970(t time.Time, err error) (any, error) { return calendar.Since1970(t), err }

// zone reads the option zone.
func zone(c *module.Call) *time.Location {
	loc, err := calendar.Zone(c.String("zone"), c.In.Options().Env)
	if err != nil {
		c.Raise(err)
	}
	return loc
}

// zonedTime reads an argument that is a time, seconds since 1970 or RFC 3339 text, in the zone of the
// options; default: now. Times are kept to the millisecond.
func zonedTime(c *module.Call, name string) time.Time {
	t, err := c.In.Options().Now(), error(nil)
	if c.Has(name) {
		if c.Value(name).Type() == lua.LTString {
			t, err = calendar.Parse(c.String(name), time.UTC)
		} else if t, err = calendar.FromSeconds(c.Number(name)); err != nil {
			err = fault.Of(&fault.ParameterError{}, "argument %s is %w: %v", name, err, c.Number(name))
		}
	}
	if err != nil {
		c.Raise(err)
	}
	return t.In(zone(c))
}

// dateTable splits a time into its fields.
func dateTable(t time.Time) map[string]any {
	name, offset := t.Zone()
	weekyear, week := t.ISOWeek()
	return map[string]any{
		"year": t.Year(), "month": int(t.Month()), "day": t.Day(), "hour": t.Hour(), "minute": t.Minute(),
		"second": float64(t.Second()) + float64(t.Nanosecond()/1e6)/1e3, "weekday": calendar.Weekday(t),
		"yearday": t.YearDay(),
		"week":    week, "weekyear": weekyear, "offset": offset, "zone": name, "dst": t.IsDST(),
	}
}

func timeAt(c *module.Call) (any, error) {
	or1 := func(name string) int {
		if c.Has(name) {
			return c.Int(name)
		}
		return 1
	}
	var day time.Time
	var err error
	if c.Has("week") || c.Has("weekday") {
		if c.Has("month") || c.Has("day") || !c.Has("week") {
			return nil, fault.Of(&fault.ParameterError{}, "give either month and day, or week and weekday")
		}
		day, err = calendar.WeekDate(c.Int("year"), c.Int("week"), or1("weekday"))
	} else {
		day, err = calendar.Date(c.Int("year"), or1("month"), or1("day"))
	}
	shown := day.Add(time.Duration(c.Int("hour"))*time.Hour + time.Duration(c.Int("minute"))*time.Minute +
		time.Duration(math.Round(c.Number("second")*1e9)))
	return since1970(calendar.Wall(shown, zone(c)), err)
}

// step reads the options of a calendar step.
func step(c *module.Call) calendar.Step {
	return calendar.Step{Months: 12*c.Int("years") + c.Int("months"), Days: 7*c.Int("weeks") + c.Int("days"),
		Seconds: c.Number("hours")*3600 + c.Number("minutes")*60 + c.Number("seconds")}
}

func eachTime(c *module.Call) (any, error) {
	from, to, step := zonedTime(c, "from"), zonedTime(c, "to"), step(c)
	next, err := step.From(from, 1)
	over := errors.Is(err, calendar.ErrYears) // the first result is the only one
	if err != nil && !over {
		return nil, err
	}
	if next.Equal(from) && !over {
		return nil, fault.Of(&fault.ParameterError{}, "the step must not be empty, such as { days = 1 }")
	}
	forward, n := next.After(from) || over && !to.Before(from), 0
	return c.L.NewFunction(func(L *lua.LState) int {
		// Counted from the start, so that January 31 comes back in March.
		t, err := step.From(from, n)
		if err != nil || forward && t.After(to) || !forward && t.Before(to) {
			L.Push(lua.LNil) // after the end, or the last supported year
			return 1
		}
		n++
		L.Push(lua.LNumber(calendar.Since1970(t)))
		return 1
	}), nil
}
