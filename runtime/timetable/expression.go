// Package timetable computes when something is due: a cron expression in a time zone, with policies for
// missed times and for times that come while the previous job runs. The system's cron
// (runtime/unattended/cron) and the workers (runtime/jobs/schedule) use it.
//
// No library is used: the available ones report no columns, accept expressions that common crons refuse, and
// do not follow cron when clocks are set or when one of the two day fields begins with *.
//
// Begin reading with Rule (rule.go), then Parse (expression.go) and Next (next.go).
package timetable

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/suggest"
)

// Expression is a cron expression: five fields, or a name such as @daily.
type Expression struct {
	Text   string
	Reboot bool // @reboot: when the machine starts

	minute, hour, day, month, weekday uint64 // one bit per value
	anyDay, anyWeekday                bool   // the field begins with *
	wildcardTime                      bool   // minute or hour begins with *: the job follows the clock when it is set
}

type field struct {
	name     string
	min, max int
	names    []string // of the values from min
	examples string
	overflow string // hint for max+1
}

var fields = []field{
	{"minute", 0, 59, nil, "30, 0,30 or */15", "the full hour is minute 0"},
	{"hour", 0, 23, nil, "2, 8-18 or */6", "midnight is hour 0"},
	{"day of the month", 1, 31, nil, "1, 1,15 or */2", ""},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec"), "3, 4-9 or may-sep", ""},
	{"day of the week", 0, 7, strings.Fields("sun mon tue wed thu fri sat"), "mon-fri, sat,sun or 1", ""},
}

var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Parse parses an expression. It refuses expressions that common crons do not accept, or interpret
// differently; errors contain the column.
func Parse(text string) (*Expression, error) {
	e := &Expression{Text: strings.Join(strings.Fields(text), " ")}
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "@") {
		return e.macro(trimmed)
	}
	p := &parser{text: text}
	sets := make([]uint64, len(fields))
	stars := make([]bool, len(fields))
	for i, f := range fields {
		p.spaces()
		if p.at == len(text) {
			return nil, p.wrong(p.at, fmt.Sprintf("there are %d fields, cron needs 5", i),
				"they are: minute hour day-of-month month day-of-week, such as 30 2 * * mon-fri")
		}
		stars[i] = text[p.at] == '*'
		set, err := p.list(f)
		if err != nil {
			return nil, err
		}
		sets[i] = set
	}
	p.spaces()
	if p.at < len(text) {
		return nil, p.wrong(p.at, "unexpected text after the fifth field",
			"cron has five fields, and none for seconds or years")
	}
	e.minute, e.hour, e.day, e.month, e.weekday = sets[0], sets[1], sets[2], sets[3], sets[4]
	if e.weekday&(1<<7) != 0 {
		e.weekday = e.weekday&^(1<<7) | 1 // 7 is Sunday, too
	}
	e.wildcardTime, e.anyDay, e.anyWeekday = stars[0] || stars[1], stars[2], stars[4]
	if e.never() {
		return nil, p.wrong(0, "this day does not exist", "none of the months has that day")
	}
	return e, nil
}

func (e *Expression) macro(text string) (*Expression, error) {
	name := strings.ToLower(text)
	if name == "@reboot" {
		e.Reboot, e.Text = true, name
		return e, nil
	}
	same, ok := macros[name]
	if !ok {
		hint := "they are @hourly, @daily, @weekly, @monthly, @yearly and @reboot"
		if near := suggest.Nearest(name, []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly",
			"@annually", "@reboot"}); near != "" {
			hint = "did you mean " + near + "?"
		}
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s is not a cron expression", text), "%s", hint)
	}
	parsed, err := Parse(same)
	if err != nil {
		return nil, err
	}
	parsed.Text = name
	if name == "@hourly" {
		parsed.wildcardTime = true
	}
	return parsed, nil
}

// never reports whether none of the months has one of the days. A weekday overrides the days.
func (e *Expression) never() bool {
	if !e.anyWeekday {
		return false
	}
	longest := 0
	for m := 1; m <= 12; m++ {
		if e.month&(1<<m) != 0 {
			longest = max(longest, daysIn[m])
		}
	}
	return bits.TrailingZeros64(e.day) > longest
}

var daysIn = [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

type parser struct {
	text string
	at   int
}

func (p *parser) wrong(at int, what, hint string) error {
	return fault.Hinted(fault.Of(&fault.UsageError{}, "invalid cron expression %q: column %d: %s", p.text, at+1, what),
		"%s", hint)
}

func (p *parser) spaces() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// peek returns the next character, or 0 at the end of a field.
func (p *parser) peek() byte {
	if p.at == len(p.text) || p.text[p.at] == ' ' || p.text[p.at] == '\t' {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) list(f field) (uint64, error) {
	var set uint64
	for {
		part, err := p.part(f)
		if err != nil {
			return 0, err
		}
		set |= part
		switch c := p.peek(); c {
		case 0:
			return set, nil
		case ',':
			p.at++
		default:
			return 0, p.wrong(p.at, fmt.Sprintf("%q is not allowed in the %s", p.rune(), f.name),
				"a field is *, a value, a range a-b, a step */n or a-b/n, or a list of them with commas")
		}
	}
}

func (p *parser) rune() rune {
	for _, r := range p.text[p.at:] {
		return r
	}
	return 0
}

// part parses *, a, a-b, */n or a-b/n.
func (p *parser) part(f field) (uint64, error) {
	start := p.at
	low, high, several := f.min, f.max, true
	if p.peek() == '*' {
		p.at++
	} else {
		var err error
		if low, err = p.value(f); err != nil {
			return 0, err
		}
		high, several = low, false
		if p.peek() == '-' {
			p.at++
			if high, err = p.value(f); err != nil {
				return 0, err
			}
			several = true
		}
	}
	if low > high {
		return 0, p.wrong(start, fmt.Sprintf("the range is reversed: %d to %d", low, high),
			"write two ranges separated by a comma")
	}
	step := 1
	if p.peek() == '/' {
		slash := p.at
		p.at++
		if !several {
			return 0, p.wrong(slash, "a step needs a range or *", fmt.Sprintf("write %d-%d%s", low, f.max,
				p.text[slash:slash+1]+"n"))
		}
		from := p.at
		n, ok := p.number()
		if !ok || n < 1 || n > f.max-f.min+1 {
			return 0, p.wrong(from, fmt.Sprintf("the step must be a number from 1 to %d", f.max-f.min+1), "such as */5")
		}
		step = n
	}
	var set uint64
	for v := low; v <= high; v += step {
		set |= 1 << v
	}
	return set, nil
}

func (p *parser) number() (int, bool) {
	from := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(p.text[from:p.at])
	return n, err == nil && p.at-from <= 3
}

// value parses a number or a name.
func (p *parser) value(f field) (int, error) {
	from := p.at
	if n, ok := p.number(); p.at > from {
		if !ok || n < f.min || n > f.max {
			return 0, p.wrong(from, fmt.Sprintf("the %s is %d to %d, got %s", f.name, f.min, f.max, p.text[from:p.at]),
				f.hint(n))
		}
		return n, nil
	}
	for c := p.peek() | 0x20; c >= 'a' && c <= 'z'; c = p.peek() | 0x20 {
		p.at++
	}
	name := strings.ToLower(p.text[from:p.at])
	for i, full := range f.names {
		if name == full {
			return f.min + i, nil
		}
	}
	switch {
	case name != "" && f.names != nil:
		return 0, p.wrong(from, fmt.Sprintf("unknown %s %q", f.name, name), "the names are "+strings.Join(f.names, ", "))
	case name != "":
		return 0, p.wrong(from, fmt.Sprintf("the %s is a number, got %q", f.name, name), rangeHint(f))
	case p.peek() == 0:
		return 0, p.wrong(from, "the "+f.name+" is missing", rangeHint(f))
	}
	return 0, p.wrong(from, fmt.Sprintf("%q is not a %s", p.rune(), f.name), rangeHint(f))
}

// hint returns the hint for a value out of range.
func (f field) hint(n int) string {
	if n == f.max+1 && f.overflow != "" {
		return f.overflow
	}
	return "such as " + f.examples
}

func rangeHint(f field) string {
	hint := fmt.Sprintf("the %s is %d to %d", f.name, f.min, f.max)
	if f.names != nil {
		hint += ", or " + f.names[0] + " to " + f.names[len(f.names)-1]
	}
	return hint
}
