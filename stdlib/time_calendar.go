package stdlib

import (
	"errors"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/stdlib/calendar"
)

var (
	zoneOption = module.Param{Name: "zone", Type: "string", Doc: "UTC, local, an offset such as +02:00, or a name such as Europe/Berlin", Default: "UTC"}
	zoneOnly   = module.Param{Name: "options", Fields: []module.Param{zoneOption}}
	timeArg    = module.Param{Name: "time", Type: "number|string", Doc: "seconds since 1970, or RFC 3339 text as resources have it; now if left out", Optional: true}
)

// stepFields are the parts of a step through the calendar.
var stepFields = func() []module.Param {
	var fields []module.Param
	for _, name := range []string{"years", "months", "weeks", "days"} {
		fields = append(fields, module.Param{Name: name, Type: "integer", Doc: "how many, also negative", Optional: true})
	}
	for _, name := range []string{"hours", "minutes", "seconds"} {
		fields = append(fields, module.Param{Name: name, Type: "number", Doc: "how many, also negative", Optional: true})
	}
	return append(fields, zoneOption)
}()

// step reads the way through the calendar that the options tell.
func step(c *module.Call) (calendar.Step, error) {
	for _, f := range stepFields {
		if n := c.Number(f.Name); f.Name != "zone" && !(n >= -1e12 && n <= 1e12) {
			return calendar.Step{}, fault.Of(&fault.ParameterError{}, "option %s is too large: %v", f.Name, n)
		}
	}
	return calendar.Step{Months: 12*c.Int("years") + c.Int("months"), Days: 7*c.Int("weeks") + c.Int("days"),
		Seconds: c.Number("hours")*3600 + c.Number("minutes")*60 + c.Number("seconds")}, nil
}

// dateFields are those of time.at, with the least and most of each.
var dateFields = []struct {
	name        string
	least, most int
}{{"month", 1, 12}, {"day", 1, 31}, {"hour", 0, 23}, {"minute", 0, 59}, {"week", 1, 53}, {"weekday", 1, 7}}

func timeAt(c *module.Call) (any, error) {
	loc, err := zone(c)
	if err != nil {
		return nil, err
	}
	for _, f := range dateFields {
		if n := c.Int(f.name); c.Has(f.name) && (n < f.least || n > f.most) {
			return nil, fault.Of(&fault.ParameterError{}, "option %s must be between %d and %d, got %d", f.name, f.least, f.most, n)
		}
	}
	second := c.Number("second")
	if !(second >= 0 && second < 60) {
		return nil, fault.Of(&fault.ParameterError{}, "option second must be at least 0 and below 60, got %v", second)
	}
	var day time.Time
	or1 := func(name string) int {
		if c.Has(name) {
			return c.Int(name)
		}
		return 1
	}
	if c.Has("week") || c.Has("weekday") {
		if c.Has("month") || c.Has("day") || !c.Has("week") {
			return nil, fault.Of(&fault.ParameterError{}, "give either month and day, or week and weekday")
		}
		day, err = calendar.WeekDate(c.Int("year"), c.Int("week"), or1("weekday"))
	} else {
		day, err = calendar.Date(c.Int("year"), or1("month"), or1("day"))
	}
	if err != nil {
		return nil, err
	}
	shown := day.Add(time.Duration(c.Int("hour"))*time.Hour + time.Duration(c.Int("minute"))*time.Minute + time.Duration(second*1e9))
	return calendar.Since1970(calendar.Wall(shown, loc)), nil
}

// dateTable is a time taken apart.
func dateTable(t time.Time) map[string]any {
	name, offset := t.Zone()
	weekyear, week := t.ISOWeek()
	return map[string]any{
		"year": t.Year(), "month": int(t.Month()), "day": t.Day(), "hour": t.Hour(), "minute": t.Minute(),
		"second": float64(t.Second()) + float64(t.Nanosecond()/1e6)/1e3, "weekday": calendar.Weekday(t), "yearday": t.YearDay(),
		"week": week, "weekyear": weekyear, "offset": offset, "zone": name, "dst": t.IsDST(),
	}
}

var calendarFuncs = []module.Func{
	{
		Name: "date", Doc: "Splits a time into its fields.", Params: []module.Param{timeArg, zoneOnly},
		Returns: "a table of year, month, day, hour, minute, second, weekday (1 is Monday), yearday, week and weekyear (ISO 8601), zone, offset (seconds east of Greenwich) and dst",
		Call: func(c *module.Call) (any, error) {
			t, err := zonedTime(c)
			if err != nil {
				return nil, err
			}
			return dateTable(t), nil
		},
	},
	{
		Name: "at", Doc: "Makes a time from a date or an ISO week. A local time skipped by a clock change counts on from the change; of an ambiguous one the first is taken.",
		Params: []module.Param{{Name: "date", Fields: []module.Param{
			{Name: "year", Type: "integer", Doc: "1 to 9999"},
			{Name: "month", Type: "integer", Doc: "1 to 12; 1 if left out", Optional: true},
			{Name: "day", Type: "integer", Doc: "of the month; 1 if left out", Optional: true},
			{Name: "week", Type: "integer", Doc: "of ISO 8601, in place of month and day", Optional: true},
			{Name: "weekday", Type: "integer", Doc: "1 is Monday; goes with week", Optional: true},
			{Name: "hour", Type: "integer", Doc: "0 to 23", Optional: true},
			{Name: "minute", Type: "integer", Doc: "0 to 59", Optional: true},
			{Name: "second", Type: "number", Doc: "0 to 59.999", Optional: true},
			zoneOption}}},
		Returns: "seconds since 1970",
		Call:    timeAt,
	},
	{
		Name: "add", Doc: "Adds calendar units: years, months, weeks and days keep the local time, also across clock changes; January 31 plus a month is the last of February. Hours and below are exact.",
		Params:  []module.Param{{Name: "time", Type: "number|string", Doc: "seconds since 1970, or RFC 3339 text"}, {Name: "step", Fields: stepFields}},
		Returns: "seconds since 1970",
		Call: func(c *module.Call) (any, error) {
			t, err := zonedTime(c)
			if err != nil {
				return nil, err
			}
			way, err := step(c)
			if err == nil {
				t, err = way.From(t, t.Location(), 1)
			}
			return calendar.Since1970(t), err
		},
	},
	{
		Name: "start_of", Doc: "The start of the minute, hour, day, week (Monday), month or year that a time lies in.",
		Params:  []module.Param{{Name: "unit", Type: "string", Doc: "of what", Choices: []string{"minute", "hour", "day", "week", "month", "year"}}, timeArg, zoneOnly},
		Returns: "seconds since 1970",
		Call: func(c *module.Call) (any, error) {
			t, err := zonedTime(c)
			if err != nil {
				return nil, err
			}
			t = calendar.StartOf(t, c.String("unit"))
			return calendar.Since1970(t), calendar.InYears(t)
		},
	},
	{
		Name: "each", Doc: "Iterates from one time to another in calendar steps, both ends included.",
		Params:  []module.Param{{Name: "from", Type: "number|string", Doc: "the first time"}, {Name: "to", Type: "number|string", Doc: "the last"}, {Name: "step", Fields: stepFields}},
		Returns: "an iterator of seconds since 1970",
		Call:    eachTime,
	},
}

// zone reads the option zone.
func zone(c *module.Call) (*time.Location, error) {
	return calendar.Zone(c.String("zone"), c.In.Options().Env)
}

// moment reads an argument that is a time: seconds since 1970 or RFC 3339
// text; now when it is left out. Times are kept to the millisecond.
func moment(c *module.Call, name string) (time.Time, error) {
	if !c.Has(name) {
		return c.In.Options().Now().UTC(), nil
	}
	if c.Value(name).Type() == lua.LTString {
		t, err := calendar.Parse(c.String(name), time.UTC)
		if err == nil {
			err = calendar.InYears(t)
		}
		return t, err
	}
	t, ok := calendar.FromSeconds(c.Number(name))
	if !ok {
		return t, fault.Of(&fault.ParameterError{}, "argument %s is %w: %v", name, calendar.ErrYears, c.Number(name))
	}
	return t, nil
}

// zonedTime is the argument time in the zone of the options.
func zonedTime(c *module.Call) (time.Time, error) {
	loc, err := zone(c)
	if err != nil {
		return time.Time{}, err
	}
	t, err := moment(c, "time")
	return t.In(loc), err
}

func eachTime(c *module.Call) (any, error) {
	loc, err := zone(c)
	if err != nil {
		return nil, err
	}
	from, err := moment(c, "from")
	if err != nil {
		return nil, err
	}
	to, err := moment(c, "to")
	if err != nil {
		return nil, err
	}
	from = from.In(loc)
	way, err := step(c)
	if err != nil {
		return nil, err
	}
	next, err := way.From(from, loc, 1)
	over := errors.Is(err, calendar.ErrYears) // the first is all there is
	if err != nil && !over {
		return nil, err
	}
	if next.Equal(from) && !over {
		return nil, fault.Of(&fault.ParameterError{}, "the step must not be empty, such as { days = 1 }")
	}
	forth, n := next.After(from) || over && !to.Before(from), 0
	return c.L.NewFunction(func(L *lua.LState) int {
		// Counted from the start, so that January 31 comes back in March.
		t, err := way.From(from, loc, n)
		if err != nil || forth && t.After(to) || !forth && t.Before(to) {
			L.Push(lua.LNil) // past the last year there is
			return 1
		}
		n++
		L.Push(lua.LNumber(calendar.Since1970(t)))
		return 1
	}), nil
}
