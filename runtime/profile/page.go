package profile

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"time"
)

//go:embed page.html
var page []byte

// WritePage writes a page that shows the run of a script in any browser. It is one file
// that loads nothing. What it shows is JSON in a script element, where encoding/json
// leaves no <, and becomes text of the document, never HTML.
func (r *Recorder) WritePage(w io.Writer, script string) error {
	lines, operations := r.Lines(500), r.Operations()
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := json.Marshal(map[string]any{
		"script": script, "began": r.Began.Format(time.DateTime), "took": r.took, "kinds": Names,
		"lines": lines, "operations": operations, "tasks": r.tracksForPage(), "calls": r.root.forPage(),
		"waits": r.waits.kept, "requests": r.requests.kept, "dropped": r.waits.dropped + r.requests.dropped,
	})
	if err != nil {
		return err
	}
	_, err = w.Write(bytes.Replace(page, []byte("{{data}}"), data, 1))
	return err
}

// pageCall is a node of the tree of calls.
type pageCall struct {
	Label string     `json:"label"`
	Spent Spent      `json:"spent"`
	Below []pageCall `json:"below,omitempty"`
}

func (n *node) forPage() pageCall {
	c := pageCall{Label: label(n.frame), Spent: n.spent}
	for _, below := range n.below {
		c.Below = append(c.Below, below.forPage())
	}
	return c
}

type pageTask struct {
	Label string        `json:"label"`
	Start time.Duration `json:"start"`
	End   time.Duration `json:"end"`
	Spent Spent         `json:"spent"`
}

func (r *Recorder) tracksForPage() (tasks []pageTask) {
	for _, t := range r.tracks {
		end := t.End
		if end == 0 { // it did not end
			end = r.took
		}
		tasks = append(tasks, pageTask{t.Name, t.Start, end, t.Spent})
	}
	return tasks
}
