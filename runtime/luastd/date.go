package luastd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

func (l *library) time(L *lua.LState) int {
	if !given(L, 1) {
		return vm.Push(L, lua.LNumber(l.Options().Now().Unix()))
	}
	t := checkTable(L, 1)
	second, minute, hour := dateField(L, t, "sec", 0), dateField(L, t, "min", 0), dateField(L, t, "hour", 12)
	day, month, year := dateField(L, t, "day", -1), dateField(L, t, "month", -1), dateField(L, t, "year", -1)
	at := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.Local)
	if isTrue(L.GetField(t, "isdst")) && !at.IsDST() && observesDST(at) {
		at = at.Add(-time.Hour)
	}
	return vm.Push(L, lua.LNumber(at.Unix()))
}

// observesDST reports whether clocks are moved in the year of a time.
func observesDST(t time.Time) bool {
	for month := range time.Month(12) {
		if time.Date(t.Year(), month+1, 1, 0, 0, 0, 0, t.Location()).IsDST() {
			return true
		}
	}
	return false
}

// dateField returns a field of a table for os.time; it is required if otherwise is negative.
func dateField(L *lua.LState, t *lua.LTable, name string, otherwise int) int {
	if n, ok := number.Of(L.GetField(t, name)); ok {
		return int(int32(integer(n)))
	}
	if otherwise < 0 {
		vm.RaiseText(L, "field '%s' missing in date table", name)
	}
	return otherwise
}

func difference(L *lua.LState) int {
	a := checkLong(L, 1)
	return vm.Push(L, lua.LNumber(a-optLong(L, 2, 0)))
}

func (l *library) clock(L *lua.LState) int {
	return vm.Push(L, lua.LNumber(processorTime().Seconds()))
}

func (l *library) date(L *lua.LState) int {
	format := optString(L, 1, "%c")
	at := l.Options().Now()
	if given(L, 2) {
		at = time.Unix(int64(checkLong(L, 2)), 0)
	}
	at = at.Local()
	if rest, utc := strings.CutPrefix(format, "!"); utc {
		at, format = at.In(time.FixedZone("GMT", 0)), rest
	}
	vm.Work(L, 4*len(format))
	if year := at.Year(); year > 1<<31 || year < -1<<31 {
		L.Push(lua.LNil) // C has no such date
		return 1
	}
	if format == "*t" {
		return vm.Push(L, dateTable(L, at))
	}
	b := l.text(L, "date")
	for {
		before, rest, found := strings.Cut(format, "%")
		b.write(before)
		if !found {
			break
		}
		if rest == "" {
			b.write("%")
			break
		}
		b.write(dateText(at, rest[0]))
		format = rest[1:]
	}
	return vm.Push(L, lua.LString(b.String()))
}

func dateTable(L *lua.LState, t time.Time) *lua.LTable {
	fields := L.NewTable()
	for name, n := range map[string]int{
		"year": t.Year(), "month": int(t.Month()), "day": t.Day(), "hour": t.Hour(), "min": t.Minute(), "sec": t.Second(),
		"wday": int(t.Weekday()) + 1, "yday": t.YearDay(),
	} {
		fields.RawSetString(name, lua.LNumber(n))
	}
	fields.RawSetString("isdst", lua.LBool(t.IsDST()))
	return fields
}

// layouts maps conversions of dates to Go layouts, in the locale C.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02", 'D': "01/02/06",
	'e': "_2", 'h': "Jan", 'H': "15", 'I': "03", 'm': "01", 'M': "04", 'n': "\n", 'p': "PM", 'P': "pm", 'r': "03:04:05 PM",
	'R': "15:04", 'S': "05", 't': "\t", 'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05", 'y': "06", 'z': "-0700",
	'Z': "MST",
}

// dateText formats one conversion; an unknown one stays.
func dateText(t time.Time, c byte) string {
	if layout, ok := layouts[c]; ok {
		return t.Format(layout)
	}
	isoYear, isoWeek := t.ISOWeek()
	week := func(first time.Weekday) int { // week 1 begins on the first such day
		return (t.YearDay() + 6 - (int(t.Weekday()-first)+7)%7) / 7
	}
	switch c {
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 'F':
		return fmt.Sprintf("%d-%02d-%02d", t.Year(), t.Month(), t.Day())
	case 'g':
		return fmt.Sprintf("%02d", isoYear%100)
	case 'G':
		return strconv.Itoa(isoYear)
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'k':
		return fmt.Sprintf("%2d", t.Hour())
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1)
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'U':
		return fmt.Sprintf("%02d", week(time.Sunday))
	case 'V':
		return fmt.Sprintf("%02d", isoWeek)
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 'W':
		return fmt.Sprintf("%02d", week(time.Monday))
	case 'Y':
		return strconv.Itoa(t.Year())
	case '%':
		return "%"
	}
	return "%" + string([]byte{c})
}
