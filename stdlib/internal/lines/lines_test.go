package lines_test

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"transect/client/fault"
	"transect/stdlib/internal/lines"
)

func TestEveryEndIsUnderstood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\r\n"))).Draw(t, "text")
		want := strings.Split(text, "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1] // what ends is a line, not what begins
		}
		for i := range want {
			want[i] = strings.TrimSuffix(want[i], "\r")
		}
		var got []string
		r := lines.New(iotest.OneByteReader(strings.NewReader(text)))
		for {
			line, ok, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if got = append(got, line); r.Number() != len(got) {
				t.Fatalf("line %d is numbered %d", len(got), r.Number())
			}
		}
		if diff := cmp.Diff(append([]string{}, want...), append([]string{}, got...)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// endless is a text without an end of a line.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestALineWithoutEndIsGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it reads 64 MiB")
	}
	_, _, err := lines.New(endless{}).Next()
	if f := fault.Find(err); f == nil || f.Name() != "LimitError" {
		t.Error(err)
	}
}

func TestABrokenReadIsTold(t *testing.T) {
	r := lines.New(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abc\n"))))
	if _, ok, err := r.Next(); ok || err != iotest.ErrTimeout {
		t.Error(ok, err)
	}
}
