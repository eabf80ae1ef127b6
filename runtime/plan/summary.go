package plan

import (
	"fmt"
	"strings"

	"transect/client/human"
	"transect/runtime/sandbox"
)

// Result is the outcome of carrying out a plan.
type Result struct {
	Done    int      `json:"done"`
	Missing []*Write `json:"missing"` // planned and not done
	Lost    []*Write `json:"lost"`    // sent by an earlier start that died before it had the answer
	LeftOut []Effect `json:"left_out"`
	Undone  []Effect `json:"undone"` // outside of the platform, allowed, and did not happen
	Before  bool     `json:"before"` // it was carried out by earlier starts
	Rest    bool     `json:"rest"`   // what follows a guess is yet to be planned
}

// Result returns the outcome so far.
func (g *Gate) Result() Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := Result{LeftOut: g.leftOut, Rest: g.rest, Before: g.before}
	for _, e := range g.effects {
		if (g.Allow || e.Kind == sandbox.Download) && !e.Guess && !g.before {
			r.Undone = append(r.Undone, e)
		}
	}
	for _, w := range g.Plan.Writes {
		switch g.state[w.Number] {
		case done:
			r.Done++
		case begun:
			r.Lost = append(r.Lost, w)
		default:
			r.Missing = append(r.Missing, w)
		}
	}
	return r
}

// Text formats the result for people.
func (r Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "applied: %d of %s", r.Done, human.Count(r.Done+len(r.Missing)+len(r.Lost), "planned write"))
	list(&b, "planned, and not done:", r.Missing)
	list(&b, "sent by an earlier start, which died before it had the answer; the script found no need to send it again:",
		r.Lost)
	listEffects(&b, "left out, as --allow-effects was not given:", r.LeftOut)
	listEffects(&b, "planned, and not done:", r.Undone)
	return b.String()
}

func listEffects(b *strings.Builder, title string, effects []Effect) {
	lines, more := effectLines(effects, mostGroups)
	if lines == nil {
		return
	}
	b.WriteString("\n" + title)
	for _, l := range lines {
		fmt.Fprintf(b, "\n  %s  %s", l.Text, l.Position)
	}
	if more > 0 {
		fmt.Fprintf(b, "\n  … and %d more", more)
	}
}

func list(b *strings.Builder, title string, writes []*Write) {
	const most = 20
	if len(writes) == 0 {
		return
	}
	b.WriteString("\n" + title)
	for i, w := range writes {
		if i == most {
			fmt.Fprintf(b, "\n  … and %d more", len(writes)-most)
			break
		}
		fmt.Fprintf(b, "\n  write %d: %s", w.Number, w.text())
		if w.Position != "" {
			b.WriteString("  " + place(w.Position))
		}
	}
}
