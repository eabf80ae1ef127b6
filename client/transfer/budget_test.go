package transfer

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/fault"
)

// virtual is a model of a server, in virtual time.
type virtual struct {
	each    float64 // most bytes a second over one connection
	all     float64 // most bytes a second in total
	answer  float64 // seconds from a request to its first byte
	size    float64 // bytes a request
	thrash  int     // with more connections it gets slower
	limit   int     // with more connections it is overloaded; 0: never
	noise   float64 // error of a window's measurement, as a share
	workers int     // number of transfers that want connections
}

// speed returns the throughput of n connections in bytes per second.
func (v virtual) speed(n int) float64 {
	n = min(n, v.workers)
	all := v.all
	if v.thrash > 0 && n > v.thrash {
		all *= float64(v.thrash) / float64(n)
	}
	rate := min(v.each, all/float64(n))
	return float64(n) * v.size / (v.answer + v.size/rate)
}

func (v virtual) best(most int) (speed float64) {
	for n := 1; n <= most; n++ {
		if v.limit == 0 || n <= v.limit {
			speed = max(speed, v.speed(n))
		}
	}
	return speed
}

// run runs a tuner for a number of windows. It returns the speed of the last half and the limits
// that were set.
func (v virtual) run(t *tuner, random *rand.Rand, windows int) (speed float64, limits []int) {
	for i := range windows {
		if v.limit > 0 && min(t.limit, v.workers) > v.limit {
			t.overloaded()
		}
		real := v.speed(t.limit)
		seen := real * (1 + v.noise*(2*random.Float64()-1))
		s := sample{rate: seen * (1 + requestBytes/v.size), connections: float64(min(t.limit, v.workers))}
		if v.workers > t.limit {
			s.contended = 1
		}
		t.observe(s)
		limits = append(limits, t.limit)
		if i >= windows/2 {
			speed += real / float64(windows-windows/2)
		}
	}
	return speed, limits
}

func TestTunerFindsTheMaximum(t *testing.T) {
	for name, v := range map[string]virtual{
		"one connection fills the line":     {each: 10 * MiB, all: 10 * MiB, size: 10 * MiB, answer: 0.05},
		"eight fill it":                     {each: 1 * MiB, all: 8 * MiB, size: 10 * MiB, answer: 0.1},
		"forty fill it":                     {each: 2 * MiB, all: 80 * MiB, size: 10 * MiB, answer: 0.1},
		"small files far away":              {each: 5 * MiB, all: 500 * MiB, size: 50 << 10, answer: 0.3},
		"more than the most":                {each: 1 * MiB, all: GiB, size: MiB, answer: 0.2},
		"it gets slower when crowded":       {each: 2 * MiB, all: 20 * MiB, size: 4 * MiB, answer: 0.05, thrash: 12},
		"it is overloaded above ten":        {each: 1 * MiB, all: 100 * MiB, size: 4 * MiB, answer: 0.05, limit: 10},
		"it is overloaded above one":        {each: 1 * MiB, all: 100 * MiB, size: 4 * MiB, answer: 0.05, limit: 1},
		"few files":                         {each: 1 * MiB, all: 100 * MiB, size: 4 * MiB, answer: 0.05, workers: 3},
		"a slow line":                       {each: 60 << 10, all: 60 << 10, size: 5 * MiB, answer: 0.5},
		"it is fast and everything is near": {each: GiB, all: 2 * GiB, size: 10 * MiB, answer: 0.0001},
	} {
		for _, noise := range []float64{0, 0.04} {
			t.Run(fmt.Sprint(name, noise), func(t *testing.T) {
				v.noise = noise
				if v.workers == 0 {
					v.workers = 1000
				}
				tune := newTuner(MostConnections)
				speed, limits := v.run(tune, rand.New(rand.NewPCG(1, 2)), 400)
				if best := v.best(MostConnections); speed < 0.85*best {
					t.Errorf("%.1f MiB/s of %.1f, limits %v", speed/MiB, best/MiB, limits)
				}
			})
		}
	}
}

// TestTunerIsNotGreedy: useless connections are released.
func TestTunerIsNotGreedy(t *testing.T) {
	v := virtual{each: 2 * MiB, all: 16 * MiB, size: 10 * MiB, answer: 0.01, workers: 1000, noise: 0.02}
	_, limits := v.run(newTuner(MostConnections), rand.New(rand.NewPCG(3, 4)), 400)
	sum := 0
	for _, n := range limits[200:] {
		sum += n
	}
	if mean := float64(sum) / 200; mean > 14 {
		t.Errorf("%.1f connections where 8 do: %v", mean, limits)
	}
}

// TestTunerFollowsTheNetwork: a new maximum is found.
func TestTunerFollowsTheNetwork(t *testing.T) {
	tune, random := newTuner(MostConnections), rand.New(rand.NewPCG(5, 6))
	v := virtual{each: MiB, all: 6 * MiB, size: 5 * MiB, answer: 0.1, workers: 1000}
	v.run(tune, random, 200)
	v.all = 24 * MiB
	if speed, limits := v.run(tune, random, 600); speed < 0.8*v.best(MostConnections) {
		t.Errorf("%.1f MiB/s after the line got faster: %v", speed/MiB, limits)
	}
}

func TestTunerKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(-1, 100).Draw(t, "most")
		tune := newTuner(most)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.IntRange(0, 9).Draw(t, "what") == 0 {
				tune.overloaded()
			} else {
				tune.observe(sample{rate: rapid.Float64Range(0, 1e12).Draw(t, "rate"), contended: rapid.Float64Range(0, 1).Draw(t, "contended")})
			}
			if tune.limit < 1 || tune.limit > max(most, 1) || math.IsNaN(tune.base.rate) {
				t.Fatalf("%+v", tune)
			}
		}
	})
}

func TestOneComplaintCountsOnce(t *testing.T) {
	tune := newTuner(64)
	tune.limit, tune.best = 30, 30
	for range 30 {
		tune.overloaded()
	}
	if tune.limit != 20 {
		t.Errorf("%d connections after one burst of complaints of 30, want 20", tune.limit)
	}
}

func TestBudgetGrowsByItsWindows(t *testing.T) {
	b := NewTunedBudget(16)
	now := time.Now()
	b.now = func() time.Time { return now }
	b.window = &window{start: now}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range 40 { // more than possible, so that one always waits
		wait.Go(func() {
			if c, err := b.Acquire(ctx, b.Turn(), 0); err == nil {
				<-ctx.Done()
				c.Release()
			}
		})
	}
	for b.Queued() < 40-firstSlots {
		time.Sleep(time.Millisecond)
	}
	for range 60 { // each connection transfers one MiB a second
		now = now.Add(50 * time.Millisecond)
		for range b.Active() {
			b.mu.Lock()
			b.observe(MiB/20, 0)
			b.mu.Unlock()
		}
	}
	if b.Limit() != 16 || b.Active() != 16 {
		t.Errorf("%d of %d connections", b.Active(), b.Limit())
	}
	b.Overloaded()
	if b.Limit() != 10 {
		t.Errorf("%d connections after a complaint", b.Limit())
	}
	cancel()
	wait.Wait()
	if b.Active() != 0 || b.Queued() != 0 {
		t.Errorf("%d active, %d wait", b.Active(), b.Queued())
	}
}

// TestBudgetStartsQuickly: a server that answers each request after a while, whatever their number,
// gets all connections within a few requests of each.
func TestBudgetStartsQuickly(t *testing.T) {
	b := NewTunedBudget(64)
	now := time.Now()
	b.now = func() time.Time { return now }
	b.window = &window{start: now}
	b.window.note(now, firstSlots, true)
	steps := 0
	for ; b.Limit() < 64 && steps < 100; steps++ { // a round of requests, 25 ms
		now = now.Add(25 * time.Millisecond)
		for range b.Limit() {
			b.Answered()
		}
		b.mu.Lock()
		b.window.note(now, b.tuner.limit, true)
		b.mu.Unlock()
	}
	if steps > 25 {
		t.Errorf("%d connections after %d rounds", b.Limit(), steps)
	}
}

// TestIdleTimeIsNoEvidence: the time before the first transfer does not count as time in which no
// connection was wanted.
func TestIdleTimeIsNoEvidence(t *testing.T) {
	b := NewTunedBudget(64)
	now := time.Now()
	b.now = func() time.Time { return now }
	b.window = &window{start: now}
	now = now.Add(time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for range 2 * firstSlots {
		others.Go(func() {
			if c, err := b.Acquire(ctx, b.Turn(), 0); err == nil {
				<-ctx.Done()
				c.Release()
			}
		})
	}
	for b.Queued() < firstSlots {
		time.Sleep(time.Millisecond)
	}
	now = now.Add(25 * time.Millisecond)
	for range firstSlots {
		b.Answered()
	}
	if b.Limit() != 2*firstSlots {
		t.Errorf("%d connections after the first round", b.Limit())
	}
	cancel()
	others.Wait()
}

// TestBudgetIsNeverExceeded: not even while its limit changes and waits end.
func TestBudgetIsNeverExceeded(t *testing.T) {
	for _, b := range []*Budget{NewBudget(3), NewTunedBudget(8)} {
		var wait sync.WaitGroup
		var mu sync.Mutex
		active, most := 0, 0
		for i := range 64 {
			wait.Go(func() {
				for range 50 {
					ctx, cancel := context.WithCancel(t.Context())
					if i%3 == 0 {
						go cancel()
					}
					c, err := b.Acquire(ctx, b.Turn(), 1000)
					if err != nil {
						isFault[*fault.CancelledError](t, err)
						cancel()
						continue
					}
					mu.Lock()
					active++
					most = max(most, active)
					mu.Unlock()
					c.moved(1000)
					b.Answered()
					if i == 5 {
						b.Overloaded()
					}
					mu.Lock()
					active--
					mu.Unlock()
					c.Release()
					cancel()
				}
			})
		}
		wait.Wait()
		if b.Active() != 0 || most > 8 || b.tuner == nil && most > 3 {
			t.Errorf("%d left, %d at a time", b.Active(), most)
		}
	}
}

// TestFirstBegunFirst: whatever the order of requests, the file begun first is first.
func TestFirstBegunFirst(t *testing.T) {
	b := NewBudget(1)
	held, err := b.Acquire(t.Context(), b.Turn(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var order []int64
	var wait sync.WaitGroup
	for _, turn := range []int64{7, 3, 9, 3, 5} {
		queued := b.Queued()
		wait.Go(func() {
			c, err := b.Acquire(t.Context(), turn, 100)
			if err != nil {
				t.Error(err)
				return
			}
			order = append(order, turn) // one at a time
			c.Release()
		})
		for b.Queued() == queued {
			time.Sleep(time.Millisecond)
		}
	}
	held.Release()
	wait.Wait()
	if !slices.Equal(order, []int64{3, 3, 5, 7, 9}) {
		t.Error(order)
	}
}

// TestLargeFilesTakeTheirTurns: until the speed of the line is known, a large file is in flight
// together with the start of the next, or with many small ones.
func TestLargeFilesTakeTheirTurns(t *testing.T) {
	for size, most := range map[int64]int{10 * MiB: 1, MiB: 1, 200_000: 5, 20_000: 16} {
		b := NewTunedBudget(MostConnections)
		now := time.Now()
		b.now = func() time.Time { return now }
		admitted := make(chan *Connection, 40)
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		for range 40 {
			wait.Go(func() {
				if c, err := b.Acquire(ctx, b.Turn(), size); err == nil {
					admitted <- c
					<-ctx.Done()
					c.Release()
				}
			})
		}
		for b.Active()+b.Queued() < 40 {
			time.Sleep(time.Millisecond)
		}
		if n := b.Active(); n > most || n < (most+1)/2 {
			t.Errorf("%d files of %d bytes at once", n, size)
		}
		for first := <-admitted; most == 1 && first.left > 0 && b.Active() == 1; { // a slow line
			now = now.Add(time.Second)
			first.moved(100_000)
		}
		if n := b.Active(); most == 1 && n != 2 && n != 3 { // including one as a trial
			t.Errorf("%d files of %d bytes when the first is nearly there", b.Active(), size)
		}
		cancel()
		wait.Wait()
	}
}
