// Package cron knows the times of cron, and keeps a user's crontab: it adds,
// lists and removes lines of its own and leaves all others as they are.
package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/suggest"
)

// Expression is when a job fires: five fields, or a name such as @daily.
type Expression struct {
	Text   string
	Reboot bool // @reboot: when the machine starts

	minute, hour, day, month, weekday uint64 // a bit a value
	anyDay, anyWeekday                bool   // the field begins with *
	floats                            bool   // minute or hour begins with *: it follows a clock that is set
}

type field struct {
	name     string
	min, max int
	names    []string // of the values from min on
	such     string   // examples
	beyond   string   // what somebody means who writes max+1
}

var fields = []field{
	{"minute", 0, 59, nil, "30, 0,30 or */15", "the full hour is minute 0"}, {"hour", 0, 23, nil, "2, 8-18 or */6", "midnight is hour 0"},
	{"day of the month", 1, 31, nil, "1, 1,15 or */2", ""},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec"), "3, 4-9 or may-sep", ""},
	{"day of the week", 0, 7, strings.Fields("sun mon tue wed thu fri sat"), "mon-fri, sat,sun or 1", ""},
}

var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Parse reads an expression. It refuses what the common crons do not
// understand, or understand differently, and tells the column of the mistake.
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
			return nil, p.wrong(p.at, fmt.Sprintf("there are %d fields, cron wants 5", i), "they are: minute hour day-of-month month day-of-week, such as 30 2 * * mon-fri")
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
		return nil, p.wrong(p.at, "there is more behind the fifth field", "cron knows five fields; it has none for seconds or years")
	}
	e.minute, e.hour, e.day, e.month, e.weekday = sets[0], sets[1], sets[2], sets[3], sets[4]
	if e.weekday&(1<<7) != 0 {
		e.weekday = e.weekday&^(1<<7) | 1 // 7 is Sunday too
	}
	e.floats, e.anyDay, e.anyWeekday = stars[0] || stars[1], stars[2], stars[4]
	if e.never() {
		return nil, p.wrong(0, "there is no such day", "no month named has that day")
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
		if near := suggest.Nearest(name, []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@reboot"}); near != "" {
			hint = "did you mean " + near + "?"
		}
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cron does not know %s", text), "%s", hint)
	}
	parsed, err := Parse(same)
	if err != nil {
		return nil, err
	}
	parsed.Text = name
	if name == "@hourly" {
		parsed.floats = true
	}
	return parsed, nil
}

// never says that only days are named that none of the months has. With a
// weekday beside it, that one counts.
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
	return fault.Hinted(fault.Of(&fault.UsageError{}, "cron does not understand %q: column %d: %s", p.text, at+1, what), "%s", hint)
}

func (p *parser) spaces() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// peek is the next character, 0 at the end of a field.
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
			return 0, p.wrong(p.at, fmt.Sprintf("%q does not belong into the %s", p.rune(), f.name), "a field is *, a value, a range a-b, a step */n or a-b/n, or a list of them with commas")
		}
	}
}

func (p *parser) rune() rune {
	for _, r := range p.text[p.at:] {
		return r
	}
	return 0
}

// part reads *, a, a-b, */n or a-b/n.
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
		return 0, p.wrong(start, fmt.Sprintf("the range goes backwards, from %d to %d", low, high), "write the two pieces with a comma between them")
	}
	step := 1
	if p.peek() == '/' {
		slash := p.at
		p.at++
		if !several {
			return 0, p.wrong(slash, "a step wants a range or *", fmt.Sprintf("write %d-%d%s", low, f.max, p.text[slash:slash+1]+"n"))
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

// value reads a number or a name.
func (p *parser) value(f field) (int, error) {
	from := p.at
	if n, ok := p.number(); p.at > from {
		if !ok || n < f.min || n > f.max {
			return 0, p.wrong(from, fmt.Sprintf("the %s is %d to %d, got %s", f.name, f.min, f.max, p.text[from:p.at]), f.hint(n))
		}
		return n, nil
	}
	for c := p.peek() | 0x20; c >= 'a' && c <= 'z'; c = p.peek() | 0x20 {
		p.at++
	}
	name := strings.ToLower(p.text[from:p.at])
	for i, known := range f.names {
		if name == known {
			return f.min + i, nil
		}
	}
	switch {
	case name != "" && f.names != nil:
		return 0, p.wrong(from, fmt.Sprintf("there is no %s %q", f.name, name), "the names are "+strings.Join(f.names, ", "))
	case name != "":
		return 0, p.wrong(from, fmt.Sprintf("the %s is a number, got %q", f.name, name), rangeHint(f))
	case p.peek() == 0:
		return 0, p.wrong(from, "a value is missing for the "+f.name, rangeHint(f))
	}
	return 0, p.wrong(from, fmt.Sprintf("%q is no %s", p.rune(), f.name), rangeHint(f))
}

// hint helps with a value that is out of range.
func (f field) hint(n int) string {
	if n == f.max+1 && f.beyond != "" {
		return f.beyond
	}
	return "such as " + f.such
}

func rangeHint(f field) string {
	hint := fmt.Sprintf("the %s is %d to %d", f.name, f.min, f.max)
	if f.names != nil {
		hint += ", or " + f.names[0] + " to " + f.names[len(f.names)-1]
	}
	return hint
}
