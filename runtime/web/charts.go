package web

import (
	"fmt"
	"slices"
	"time"

	"transect/runtime/unattended/history"
)

// Charts are SVG made by templates: Go computes coordinates, templates draw shapes.

// durations is a bar chart of the durations of runs, the latest at the right.
type durations struct {
	Bars    []durationBar
	Width   int
	Height  int
	Longest time.Duration
}

type durationBar struct {
	Run       *runRow
	X, Y      int
	W, Height int
}

const (
	maxBars     = 60
	barWidth    = 9
	barGap      = 3
	chartHeight = 72
)

// newDurations returns the chart of the newest runs; nil when there are too few.
func newDurations(runs []*history.Summary, now time.Time) *durations {
	runs = slices.Clone(runs[:min(len(runs), maxBars)])
	slices.Reverse(runs)
	c := &durations{Height: chartHeight, Width: len(runs) * (barWidth + barGap)}
	for _, run := range runs {
		if run.State != history.Lost {
			c.Longest = max(c.Longest, run.Duration(now))
		}
	}
	if len(runs) < 2 || c.Longest <= 0 {
		return nil
	}
	for i, run := range runs {
		b := durationBar{Run: &runRow{Summary: run, Now: now}, X: i * (barWidth + barGap), W: barWidth, Height: 3}
		if run.State != history.Lost {
			b.Height = max(3, int(run.Duration(now)*chartHeight/c.Longest))
		}
		b.Y = chartHeight - b.Height
		c.Bars = append(c.Bars, b)
	}
	return c
}

// curve is a chart of bytes per second over the time of a run.
type curve struct {
	Sent, Received string // points of the areas; "" where nothing moved
	Width, Height  int
	Peak           int64 // bytes per second
	Seconds        float64
}

const (
	curveWidth  = 600
	curveHeight = 90
)

// newCurve returns a chart of samples; nil when there are too few.
func newCurve(samples []history.Sample) *curve {
	// The moment before the end is too short for a rate of its own.
	if n := len(samples); n > 2 &&
		samples[n-1].Seconds-samples[n-2].Seconds < (samples[n-2].Seconds-samples[n-3].Seconds)/2 {
		samples = append(samples[:n-2:n-2], samples[n-1])
	}
	if len(samples) < 2 {
		return nil
	}
	c := &curve{Width: curveWidth, Height: curveHeight, Seconds: samples[len(samples)-1].Seconds}
	sent, received := rates(samples, func(s history.Sample) int64 { return s.Sent }),
		rates(samples, func(s history.Sample) int64 { return s.Received })
	c.Peak = int64(max(slices.Max(sent), slices.Max(received)))
	if c.Peak <= 0 || c.Seconds <= 0 {
		return nil
	}
	c.Sent, c.Received = c.area(samples, sent), c.area(samples, received)
	return c
}

// rates returns the bytes per second up to each sample.
func rates(samples []history.Sample, of func(history.Sample) int64) []float64 {
	list := make([]float64, len(samples))
	before := history.Sample{}
	for i, s := range samples {
		if passed := s.Seconds - before.Seconds; passed > 0 {
			list[i] = max(0, float64(of(s)-of(before))/passed)
		}
		before = s
	}
	return list
}

// area returns the polygon below the steps of rates.
func (c *curve) area(samples []history.Sample, rates []float64) string {
	if slices.Max(rates) == 0 {
		return ""
	}
	x := func(seconds float64) float64 { return seconds / c.Seconds * curveWidth }
	path, from := fmt.Sprintf("0,%d", curveHeight), 0.0
	for i, s := range samples {
		y := curveHeight - rates[i]/float64(c.Peak)*curveHeight
		path += fmt.Sprintf(" %.1f,%.1f %.1f,%.1f", x(from), y, x(s.Seconds), y)
		from = s.Seconds
	}
	return path + fmt.Sprintf(" %d,%d", curveWidth, curveHeight)
}
