package duration_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/duration"
)

func TestDurationsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := float64(rapid.Int64Range(-1e12, 1e12).Draw(t, "millis")) / 1000
		got, err := duration.Seconds(duration.Format(want))
		if err != nil || math.Abs(got-want) > 1e-6 {
			t.Fatalf("%v came back as %v: %v", want, got, err)
		}
	})
}

func TestLengthsAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour, "250ms": 250 * time.Millisecond} {
		if got, err := duration.Parse(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "-1h", "1 fortnight", "999999999d"} {
		if got, err := duration.Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
