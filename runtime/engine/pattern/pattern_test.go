package pattern_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/pm"
	"pgregory.net/rapid"

	"transect/runtime/engine/pattern"
)

// items are pieces of patterns that the interpreter's matcher understands as
// Lua 5.1 does. It has no %f, takes "[" and "]" in sets otherwise, and counts
// position captures it went back on.
var items = []string{"a", "b", "c", ".", "%a", "%d", "%s", "%w", "%A", "%.", "[ab]", "[^a]", "[a-c]", "[%d_]", "[^%s]", "-", "%-", " "}

func drawPattern(t *rapid.T) string {
	var b strings.Builder
	if rapid.Bool().Draw(t, "anchored") {
		b.WriteByte('^')
	}
	captures, closed := 0, 0
	for range rapid.IntRange(0, 6).Draw(t, "items") {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			b.WriteString("(" + rapid.SampledFrom(items[:12]).Draw(t, "inside") + rapid.SampledFrom([]string{"", "*", "+", "?"}).Draw(t, "times") + ")")
			captures++
			closed++
		case 1:
			b.WriteString("%b()")
		case 2:
			if closed > 0 {
				fmt.Fprintf(&b, "%%%d", rapid.IntRange(1, closed).Draw(t, "again"))
			}
		default:
			item := rapid.SampledFrom(items).Draw(t, "item")
			if item == "-" {
				item = "%-"
			}
			b.WriteString(item + rapid.SampledFrom([]string{"", "*", "+", "-", "?"}).Draw(t, "times"))
		}
	}
	if rapid.Bool().Draw(t, "to the end") {
		b.WriteByte('$')
	}
	return b.String()
}

// same compares with the interpreter's own matcher.
func same(t interface {
	Fatalf(string, ...any)
}, text, pat string) {
	theirs, theirErr := pm.Find(pat, []byte(text), 0, 1)
	m := &pattern.Matcher{Text: text, Pattern: pat}
	start, end, err := m.Find(0)
	if (err != nil) != (theirErr != nil) {
		t.Fatalf("%q in %q: %v, theirs %v", pat, text, err, theirErr)
	}
	if err != nil {
		return
	}
	if end < 0 || len(theirs) == 0 {
		if end >= 0 || len(theirs) > 0 {
			t.Fatalf("%q in %q: %d to %d, theirs %v", pat, text, start, end, theirs)
		}
		return
	}
	if their := theirs[0]; their.Capture(0) != start || their.Capture(1) != end {
		t.Fatalf("%q in %q: %d to %d, theirs %d to %d", pat, text, start, end, their.Capture(0), their.Capture(1))
	}
	for i := range m.Level() {
		c, err := m.Capture(i)
		if err != nil {
			t.Fatalf("%q in %q: %v", pat, text, err)
		}
		if their := theirs[0]; their.Capture(2*i+2) != c.Start || their.Capture(2*i+3) != c.Start+c.Len {
			t.Fatalf("%q in %q: capture %d is %v, theirs %d to %d", pat, text, i+1, c, their.Capture(2*i+2), their.Capture(2*i+3))
		}
	}
}

func TestMatchesAsTheInterpreterDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abc1_ .-()")), 0, 14, -1).Draw(t, "text")
		same(t, text, drawPattern(t))
	})
}

func TestWhatLua51Says(t *testing.T) {
	for _, c := range []struct {
		text, pattern string
		start, end    int
	}{
		{"THE (quick) fox", "%((%a+)%)", 4, 11},
		{"THE (quick) fox", "%f[%a]%a+", 0, 3},
		{"hello", "", 0, 0},
		{"", "", 0, 0},
		{"", "x", -1, -1},
		{"aaa", "^a-$", 0, 3},
		{"a]b", "[]]", 1, 2},
		{"a^b", "[b^]", 1, 2},
		{"x-y", "[a-]", 1, 2},
		{"\x00a", "%z%a", 0, 2},
		{"((a)b", "%b()", 1, 4},
		{"k = v", "(%w+) = (%w+)", 0, 5},
		{"abab", "(ab)%1", 0, 4},
		{"\xff", "[\x80-\xff]", 0, 1},
	} {
		m := &pattern.Matcher{Text: c.text, Pattern: c.pattern}
		start, end, err := m.Find(0)
		if err != nil || end != c.end || end >= 0 && start != c.start {
			t.Errorf("%q in %q: %d to %d, %v; want %d to %d", c.pattern, c.text, start, end, err, c.start, c.end)
		}
	}
	for pat, want := range map[string]error{
		"%": pattern.ErrEndsWithEscape, "[a": pattern.ErrMissingBracket, "[": pattern.ErrMissingBracket, "[^": pattern.ErrMissingBracket,
		"[%": pattern.ErrMissingBracket, "[]": pattern.ErrMissingBracket, "%b": pattern.ErrUnbalanced, "%bx": pattern.ErrUnbalanced,
		"%f": pattern.ErrMissingSet, "(a": pattern.ErrUnfinished, "a)": pattern.ErrInvalidCapture, "%1": pattern.ErrCaptureIndex,
		"(a%1)": pattern.ErrCaptureIndex, strings.Repeat("()", 40): pattern.ErrTooMany, strings.Repeat("a?", 50_000): pattern.ErrTooComplex,
	} {
		m := &pattern.Matcher{Text: strings.Repeat("a", 60_000), Pattern: pat}
		_, _, err := m.Find(0)
		if err == nil {
			_, err = m.Capture(0)
		}
		if !errors.Is(err, want) {
			t.Errorf("%.10q: %v, want %v", pat, err, want)
		}
	}
}

func TestRunawayIsEnded(t *testing.T) {
	end := errors.New("enough")
	steps := 0
	m := &pattern.Matcher{Text: strings.Repeat("a", 3000), Pattern: strings.Repeat("a*", 20) + "b", Steps: func(n int) {
		if steps += n; steps > 1e6 {
			panic(end)
		}
	}}
	defer func() {
		if p := recover(); p != end || steps > 1e6+5000 {
			t.Errorf("got %v after %d steps", p, steps)
		}
	}()
	_, _, err := m.Find(0)
	t.Errorf("it came to an end: %v", err)
}

func FuzzFind(f *testing.F) {
	f.Add("hello world", "(%w+) %w+$")
	f.Add("a]b-c", "[]%-]+")
	f.Fuzz(func(t *testing.T, text, pat string) {
		steps, enough := 0, errors.New("enough")
		m := &pattern.Matcher{Text: text, Pattern: pat, Steps: func(n int) {
			if steps += n; steps > 1e6 {
				panic(enough)
			}
		}}
		defer func() {
			if p := recover(); p != nil && p != enough {
				panic(p)
			}
		}()
		start, end, err := m.Find(0)
		if err == nil && end >= 0 && (start < 0 || end < start || end > len(text)) {
			t.Fatalf("%q in %q: %d to %d", pat, text, start, end)
		}
	})
}
