// Package human formats quantities and tables for people. Commands, scripts, the prompt, the page,
// logs and progress all use it, so that a file has the same size and a run the same duration
// wherever they are shown.
//
// Sizes are decimal (1 kB is 1000 bytes), like the sizes of disks and networks. Only limits that
// are powers of two are formatted in KiB, MiB and GiB.
package human

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Size formats a number of bytes: 82 kB, 1.5 MB.
func Size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// Limit formats a limit in bytes that is a multiple of a power of two: 16 MiB.
func Limit(n int64) string {
	return strings.Replace(humanize.IBytes(uint64(max(n, 0))), ".0 ", " ", 1)
}

// Number groups the digits of a number: 1,048,576.
func Number[N ~int | ~int64](n N) string { return humanize.Comma(int64(n)) }

// Count formats a number with its noun: 1 dataset, 1,200 datasets, 2 retries.
func Count[N ~int | ~int64](n N, one string) string {
	return Number(n) + " " + english.PluralWord(int(n), one, irregular[one])
}

// irregular are plurals not covered by the general rules.
var irregular = map[string]string{"photo": "photos"}

// Duration formats a length of time in at most two units, in a form that flags accept: 250ms, 1.5s,
// 42s, 3m20s, 5h10m, 3d4h.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d < time.Millisecond && d > 0:
		d = time.Millisecond
		fallthrough
	case d < time.Second && d.Round(time.Millisecond) < time.Second && d != 0:
		return sign + strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + "ms"
	case d.Round(time.Second/10) < 10*time.Second:
		return sign + strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + "s"
	case d.Round(time.Second) < time.Hour:
		return sign + units(d.Round(time.Second), time.Minute, "m", time.Second, "s")
	case d.Round(time.Minute) < 2*day:
		return sign + units(d.Round(time.Minute), time.Hour, "h", time.Minute, "m")
	}
	return sign + units(d.Round(time.Hour), day, "d", time.Hour, "h")
}

// units formats a duration in two units, omitting a zero.
func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := ""
	if n := d / large; n > 0 {
		text = strconv.FormatInt(int64(n), 10) + largeName
	}
	if n := d % large / small; n > 0 {
		text += strconv.FormatInt(int64(n), 10) + smallName
	}
	return text
}

// Shorten cuts a text to a number of bytes, ending with a mark.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Ago formats an age in one unit: 12s ago, 5m ago, 3h ago, 4d ago.
func Ago(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		from   time.Duration
		name   string
	}{{24 * time.Hour, 48 * time.Hour, "d"}, {time.Hour, time.Hour, "h"}, {time.Minute, time.Minute, "m"},
		{time.Second, time.Second, "s"}} {
		if d >= unit.from {
			return strconv.FormatInt(int64(d/unit.length), 10) + unit.name + " ago"
		}
	}
	return "just now"
}
