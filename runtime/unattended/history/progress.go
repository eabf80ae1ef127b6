package history

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"

	"transect/client/atomicfile"
)

// progressKind is the extension of progress files. They are separate from the summaries, which are read
// whenever runs are listed.
const progressKind = ".progress"

// Progress is the progress of a run: for a run that ended, its transfers over time; for one that was killed,
// its last second.
type Progress struct {
	ItemsDone   int64            `json:"items_done"`
	ItemsFailed int64            `json:"items_failed"`
	Files       map[string]int64 `json:"files,omitempty"`    // of finished ingests, by verdict
	Ingests     []string         `json:"ingests,omitempty"`  // their IDs
	Findings    string           `json:"findings,omitempty"` // about files, lines for people
	Displays    []Display        `json:"displays,omitempty"` // of progress, while running
	Samples     []Sample         `json:"samples"`
}

// Display is one display of progress.
type Display struct {
	Label      string `json:"label"`
	Text       string `json:"text"` // as on terminals
	Files      int64  `json:"files"`
	TotalFiles int64  `json:"total_files"` // 0 when unknown
	Bytes      int64  `json:"bytes"`
	TotalBytes int64  `json:"total_bytes"` // 0 when unknown
}

// Percent returns the percentage done, from 1 to 100; 0 when unknown.
func (d Display) Percent() int64 {
	switch {
	case d.TotalBytes > 0:
		return min(100, max(1, d.Bytes*100/d.TotalBytes))
	case d.TotalFiles > 0:
		return min(100, max(1, d.Files*100/d.TotalFiles))
	}
	return 0
}

// Sample is the number of bytes of files transferred up to a moment of a run.
type Sample struct {
	Seconds        float64 // since the start
	Sent, Received int64
}

// MarshalJSON writes a sample as [seconds, sent, received].
func (s Sample) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{s.Seconds, s.Sent, s.Received})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Sample) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&s.Seconds, &s.Sent, &s.Received})
}

// maxSamples limits the samples kept. Beyond it, every second one is dropped.
const maxSamples = 120

// Samples are samples at growing intervals.
type Samples struct {
	list    []Sample
	skip, n int // keep one in 1<<skip, n were added
}

// Add adds the sample of a second.
func (s *Samples) Add(now Sample) {
	if s.n++; s.n%(1<<s.skip) != 0 {
		return
	}
	s.list = append(s.list, now)
	if len(s.list) < maxSamples {
		return
	}
	s.skip++
	half := s.list[:0]
	for i := 1; i < len(s.list); i += 2 {
		half = append(half, s.list[i])
	}
	s.list = half
}

// With returns the samples, followed by last.
func (s *Samples) With(last Sample) []Sample {
	list := slices.Clone(s.list)
	if n := len(list); n > 0 && list[n-1].Seconds >= last.Seconds {
		return list
	}
	return append(list, last)
}

// Progress returns the progress of a run; empty if it recorded none.
func (s Store) Progress(id string) (*Progress, error) {
	p := &Progress{}
	text, err := os.ReadFile(s.path(id, progressKind))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	return p, json.Unmarshal(text, p)
}

// WriteProgress replaces the progress of the run, without fsync.
func (e *Entry) WriteProgress(text []byte) error {
	return atomicfile.WriteUnsynced(e.store.path(e.id, progressKind), text, 0o600)
}
