package plan

import (
	"fmt"
	"strings"

	"transect/client/human"
)

// Result is what became of a plan when it was carried out.
type Result struct {
	Done    int      `json:"done"`
	Missing []*Write `json:"missing"` // planned and not done
	Lost    []*Write `json:"lost"`    // sent by an earlier start that died before it had the answer
	Guessed int      `json:"guessed"` // sent behind the line of a guess
	LeftOut []Effect `json:"left_out"`
}

// Result says what became of the plan so far.
func (g *Gate) Result() Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := Result{Guessed: g.asked, LeftOut: g.leftOut}
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

// Text is the result for people.
func (r Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "applied: %d of %s", r.Done, human.Count(r.Done+len(r.Missing)+len(r.Lost), "planned write"))
	if r.Guessed > 0 {
		fmt.Fprintf(&b, ", and %d that the plan could only guess", r.Guessed)
	}
	list(&b, "planned, and not done:", r.Missing)
	list(&b, "sent by an earlier start, which died before it had the answer; the script found no need to send it again:",
		r.Lost)
	for _, e := range r.LeftOut {
		fmt.Fprintf(&b, "\nleft out, without --allow-effects: %s  %s", human.Line(e.What), place(e.Position))
	}
	return b.String()
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
		fmt.Fprintf(b, "\n  write %d: %s", w.Number, human.Line((&group{first: w, n: 1, bytes: w.Bytes}).text()))
		if w.Position != "" {
			b.WriteString("  " + place(w.Position))
		}
	}
}
