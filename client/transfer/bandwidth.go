package transfer

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/time/rate"

	"transect/client/fault"
	"transect/client/wait"
)

// Bandwidth limits the bytes per second of all transfers together, up and down.
// Nil is unlimited. It is safe for concurrent use.
type Bandwidth struct {
	table []limitFrom // by time of day, at least one
	now   func() time.Time
	sleep func(context.Context, time.Duration) error

	mu      sync.Mutex
	limiter *rate.Limiter
	present float64 // the limiter's limit
}

// limitFrom is a limit from a time of day on.
type limitFrom struct {
	from  int     // minutes after midnight
	limit float64 // bytes per second; 0 is unlimited
}

const bandwidthHint = "write it like 512k or 10M (bytes a second; k, M and G are 1024, 1024² and 1024³ bytes), " +
	"off, " +
	"or by local time of day: \"08:00,512k 19:00,10M 23:00,off\""

// ParseBandwidth parses a limit: "512k", "10M", "off", or a table by time of day, "08:00,512k
// 19:00,10M 23:00,off", whose last entry continues past midnight. It returns nil for no limit at
// all.
func ParseBandwidth(text string) (*Bandwidth, error) {
	wrong := func(what string) error {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a bandwidth limit: %s", text, what), "%s", bandwidthHint)
	}
	b := &Bandwidth{now: time.Now, sleep: wait.Sleep}
	entries := strings.Fields(text)
	if len(entries) == 0 {
		return nil, wrong("it is empty")
	}
	for _, entry := range entries {
		at, amount, timed := strings.Cut(entry, ",")
		if !timed {
			if at, amount = "00:00", entry; len(entries) > 1 {
				return nil, wrong("in " + strconv.Quote(entry) + " the time is missing")
			}
		}
		clock, err := time.Parse("15:04", at)
		if err != nil {
			return nil, wrong(strconv.Quote(at) + " is not a time of day")
		}
		limit, reason := bytesPerSecond(amount)
		if reason != "" {
			return nil, wrong(reason)
		}
		from := clock.Hour()*60 + clock.Minute()
		if n := len(b.table); n > 0 && b.table[n-1].from >= from {
			return nil, wrong("the times are not in order at " + at)
		}
		b.table = append(b.table, limitFrom{from, limit})
	}
	if len(b.table) == 1 && b.table[0].limit == 0 {
		return nil, nil
	}
	return b, nil
}

// bytesPerSecond parses an amount; 0 is unlimited. reason explains an invalid one.
func bytesPerSecond(text string) (limit float64, reason string) {
	lower := strings.ToLower(text)
	if lower == "off" {
		return 0, ""
	}
	if strings.Contains(lower, "bit") {
		return 0, "it counts bytes, not bits: divide by 8"
	}
	// Here 10M and 10MB are 10 MiB too, as in rsync and rclone.
	number := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(lower, "/s"), "b"), "i")
	if strings.HasSuffix(number, "k") || strings.HasSuffix(number, "m") || strings.HasSuffix(number, "g") {
		number += "ib"
	}
	n, err := humanize.ParseBytes(number)
	switch {
	case strings.HasPrefix(number, "-"):
		return 0, strconv.Quote(text) + " is negative"
	case err != nil:
		return 0, strconv.Quote(text) + " is not a number of bytes"
	case n == 0:
		return 0, "nothing would ever be transferred; off means no limit"
	case n < 1024:
		return 0, strconv.Quote(text) + " is less than 1k, too little to keep a connection alive"
	}
	return float64(n), ""
}

// at returns the limit at a moment, in local time.
func (b *Bandwidth) at(now time.Time) float64 {
	minute := now.Hour()*60 + now.Minute()
	limit := b.table[len(b.table)-1].limit // the last entry, in force since the day before
	for _, s := range b.table {
		if s.from <= minute {
			limit = s.limit
		}
	}
	return limit
}

// maxGrant returns the most bytes to grant at a time: few enough that no connection waits for long
// and that a changed limit takes effect soon.
func maxGrant(limit float64) int { return int(max(512, min(limit/16, 64<<10))) }

// untilNext returns the time until the table's next entry.
func (b *Bandwidth) untilNext(now time.Time) time.Duration {
	since := time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute +
		time.Duration(now.Second())*time.Second + time.Duration(now.Nanosecond())
	for _, s := range b.table {
		if from := time.Duration(s.from) * time.Minute; from > since {
			return from - since
		}
	}
	return 24*time.Hour - since + time.Duration(b.table[0].from)*time.Minute
}

// Take waits until bytes may be transferred and returns how many, from 1 to want. A changed limit
// applies to waiting callers, too.
func (b *Bandwidth) Take(ctx context.Context, want int) (int, error) {
	if b == nil || want <= 0 {
		return want, nil
	}
	for {
		now := b.now()
		limit := b.at(now)
		if limit == 0 {
			return want, nil
		}
		n := min(want, maxGrant(limit))
		b.mu.Lock()
		if b.limiter == nil || b.present != limit {
			// A burst of a twentieth of a second makes up for late timers.
			burst := max(maxGrant(limit), int(limit/20))
			b.limiter, b.present = rate.NewLimiter(rate.Limit(limit), burst), limit
			b.limiter.AllowN(now, burst) // start empty
		}
		reservation := b.limiter.ReserveN(now, n)
		b.mu.Unlock()
		wait, next := reservation.DelayFrom(now), b.untilNext(now)
		if err := b.sleep(ctx, min(wait, next)); err != nil {
			reservation.CancelAt(b.now())
			return 0, err
		}
		if wait <= next || b.at(b.now()) == limit {
			return n, nil
		}
		reservation.CancelAt(b.now())
	}
}
