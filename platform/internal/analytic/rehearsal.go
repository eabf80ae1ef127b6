package analytic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"transect/client/wait"
)

// rehearsal returns an analytic that only waits, writes log lines and ends as ordered, for trying out
// scripts.
func rehearsal() Program {
	return Program{
		Definition: Definition{
			Name: "rehearsal", Version: "1.0.0", DisplayName: "Rehearsal",
			Description: "Does nothing for some time, writes log lines, and ends as asked. For trying out scripts.",
			Inputs:      []Slot{},
			Parameters: []Slot{
				{Name: "duration", DisplayName: "Duration", Description: "how long it runs, in seconds; 3 when not given",
					Scheme: map[string]any{"type": "number", "minimum": 0, "maximum": 86400}},
				{Name: "log_lines", DisplayName: "Log lines", Description: "how many lines it writes; 10 when not given",
					Scheme: map[string]any{"type": "integer", "minimum": 0, "maximum": 100000}},
				{Name: "outcome", DisplayName: "Outcome", Description: "how it ends; available when not given",
					Scheme: map[string]any{"type": "string", "enum": []string{"available", "failed", "rejected"}}},
			},
			Deliverables: []Slot{},
			Tags:         []string{"test"}, Groups: []string{"Transect"},
		},
		Run: rehearse,
	}
}

func rehearse(ctx context.Context, o *Order) ([]Deliverable, error) {
	duration, lines, outcome := 3.0, 10.0, "available"
	if n, ok := number(o.Parameters["duration"]); ok {
		duration = n
	}
	if n, ok := number(o.Parameters["log_lines"]); ok {
		lines = n
	}
	if s, ok := o.Parameters["outcome"].(string); ok {
		outcome = s
	}
	// The times of the lines are counted from the start, so that delays do not add up.
	start := time.Now()
	whole := time.Duration(duration * float64(time.Second))
	for i := range int(lines) {
		fields := map[string]any{"line": i + 1, "of": int(lines)}
		if err := o.Log("info", fmt.Sprintf("rehearsing, line %d of %d", i+1, int(lines)), fields); err != nil {
			return nil, err
		}
		if err := wait.Sleep(ctx, time.Until(start.Add(whole*time.Duration(i+1)/time.Duration(lines)))); err != nil {
			return nil, err
		}
	}
	if err := wait.Sleep(ctx, time.Until(start.Add(whole))); err != nil {
		return nil, err
	}
	switch outcome {
	case "failed":
		return nil, errors.New("failed, as ordered")
	case "rejected":
		return nil, fmt.Errorf("%w, as ordered", ErrRejected)
	}
	return nil, nil
}
