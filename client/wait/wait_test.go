package wait

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	began := time.Now()
	if err := Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if err := Sleep(ctx, 0); err == nil {
		t.Error("a sleep of no time hides that its context has ended")
	}
	if err := Sleep(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
}

func TestBackoffDoublesUpToItsLimit(t *testing.T) {
	const first, longest = 100 * time.Millisecond, 3 * time.Second
	for n, most := range map[int]time.Duration{1: first, 2: 2 * first, 5: 16 * first, 6: longest, 31: longest, 40: longest, 1000: longest} {
		for range 50 {
			if d := Backoff(n, first, longest); d < most/2 || d > most {
				t.Fatalf("retry %d waits %v, want %v to %v", n, d, most/2, most)
			}
		}
	}
}
