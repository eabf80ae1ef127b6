package stdlib

import (
	"math"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/stdlib/calendar"
)

var durationFuncs = []module.Func{
	{
		Name: "duration", Doc: "Parses a duration such as 1h30m, 90s, 2d, 1w, 250ms or PT1H30M. A day is 24 hours.",
		Params:  []module.Param{{Name: "text", Type: "string", Doc: "the duration"}},
		Returns: "seconds",
		Call:    func(c *module.Call) (any, error) { return calendar.ParseDuration(c.String("text")) },
	},
	{
		Name: "format_duration", Doc: "Formats a duration in days, hours, minutes and seconds, to the millisecond.",
		Params:  []module.Param{{Name: "seconds", Type: "number", Doc: "how long"}},
		Returns: "the text, such as 1h30m",
		Call: func(c *module.Call) (any, error) {
			n := c.Number("seconds")
			if !(math.Abs(n) <= 1e12) {
				return nil, fault.Of(&fault.ParameterError{}, "argument seconds is too large: %v", n)
			}
			return calendar.FormatDuration(n), nil
		},
	},
}
