// Package plan records what a script would write to the platform, and lets exactly that happen.
//
// A Recorder follows a run whose writes are carried out in memory (platform/overlay), and records each of
// them, with what the run read and which files it used. The resulting Plan is kept in a file. A Gate lets a
// run send the writes of a plan, once each, and refuses everything else before it is sent; Check finds what
// has changed since the plan was made. Begin reading at record.go and gate.go.
package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/human"
)

// Plan lists what a script would write.
type Plan struct {
	Head
	Writes  []*Write
	Reads   []*Read
	Files   []File   // that the writes send
	Code    []Code   // script and modules
	Effects []Effect // outside of the platform: not done
	Own     bool     // the file was written by this user on this machine
	file    string   // file it was read from; "" for none
}

// Refresh returns the command that makes the plan again.
func (p *Plan) Refresh() string {
	return "transect apply --refresh " + human.Line(cmp.Or(p.file, "FILE"))
}

// Head describes a plan as a whole.
type Head struct {
	Format    int       `json:"transect_plan"`
	ID        string    `json:"id"` // of the run that carries it out
	Made      time.Time `json:"made"`
	By        string    `json:"by,omitempty"` // user@machine, as stated in the file
	Version   string    `json:"version"`
	Folder    string    `json:"folder"`            // in which the script runs
	Stage     int       `json:"stage,omitempty"`   // of the rest of a plan whose earlier stages were carried out
	Script    string    `json:"script"`            // path, or @NAME of a script of transect
	Arguments []string  `json:"arguments"`         // of the script
	Options   []string  `json:"options,omitempty"` // of transect run, --name=value: those without an effect of their own
	Platforms []Login   `json:"platforms"`
	Guess     string    `json:"guess,omitempty"`   // line from which on it is one
	Present   []string  `json:"present,omitempty"` // dates in arguments that mean the present time
	Totals    Totals    `json:"totals"`
	Sum       string    `json:"-"` // SHA-256 of the file it was read from
}

// Words returns the words of the planned command, such as transect run.
func (h *Head) Words(command string) []string {
	return slices.Concat([]string{"transect", command}, h.Options, []string{h.Script}, h.Arguments)
}

// Name names a plan, and each plan of a rest, in a folder.
func (h *Head) Name() string {
	if h.Stage == 0 {
		return h.ID
	}
	return fmt.Sprintf("%s-%d", h.ID, h.Stage+1)
}

// Rest names the plan of what follows this one.
func (h *Head) Rest() string { return fmt.Sprintf("%s-%d", h.ID, h.Stage+2) }

// Login is a platform and the user that the plan was made for.
type Login struct {
	URL  string `json:"url"`
	User string `json:"user,omitempty"` // id; "" when unknown
}

// Totals counts writes by kind.
type Totals struct {
	Create int   `json:"create"`
	Change int   `json:"change"`
	Delete int   `json:"delete"`
	Order  int   `json:"order"`
	Files  int   `json:"files"`
	Bytes  int64 `json:"bytes"`
}

// Kind is the kind of a write.
type Kind string

// The kinds.
const (
	Create Kind = "create"
	Change Kind = "change"
	Delete Kind = "delete"
	Send   Kind = "send" // a file
	Order  Kind = "order"
)

// Write is one change of the platform. A call that creates or deletes several records counts as several
// writes: batches may differ when the plan is carried out.
type Write struct {
	Number    int             `json:"write"`
	Operation string          `json:"operation"`
	Kind      Kind            `json:"kind"`
	Platform  string          `json:"platform"`
	Position  string          `json:"at,omitempty"`    // in the script
	Things    string          `json:"things"`          // manager of the changed records
	Name      string          `json:"name,omitempty"`  // of the record
	In        string          `json:"in,omitempty"`    // container of the record, as text
	Arguments json.RawMessage `json:"arguments"`       // without secrets
	After     []int           `json:"after,omitempty"` // writes whose results it uses
	Makes     []Made          `json:"makes,omitempty"`
	Before    *Before         `json:"before,omitempty"` // the record when the plan was made
	File      string          `json:"file,omitempty"`
	Bytes     int64           `json:"bytes,omitempty"`
	MD5       string          `json:"md5,omitempty"`   // of the file
	Guess     bool            `json:"guess,omitempty"` // depends on something unknown at planning time
	Key       string          `json:"key"`             // the same for equal writes
}

// Fields returns the fields of the record that a write creates: its arguments, or the argument that is the
// record.
func (w *Write) Fields() gjson.Result {
	all := gjson.ParseBytes(w.Arguments)
	fields := all
	all.ForEach(func(name, v gjson.Result) bool {
		if v.IsObject() && name.String() == w.Things {
			fields = v
		}
		return true
	})
	return fields
}

// Made is an id in the result of a write.
type Made struct {
	Path  string `json:"path,omitempty"` // in the record, for gjson
	ID    string `json:"id"`
	Later bool   `json:"later,omitempty"` // it was not in the answer, but read afterwards
	Found string `json:"found,omitempty"` // of an implicitly created record: its identity, in place of a path
}

// Before is a record when the plan was made.
type Before struct {
	ID       string          `json:"id"`
	Name     string          `json:"name,omitempty"`
	Modified string          `json:"modified,omitempty"` // its modification date
	Sum      string          `json:"sum"`                // of the whole record
	Fields   json.RawMessage `json:"fields,omitempty"`   // those the write sets
	Others   string          `json:"by,omitempty"`       // creator, if it is another user
	Holds    []Held          `json:"holds,omitempty"`    // deleted along with it
}

// Held counts records of a manager that another record contains.
type Held struct {
	Things string `json:"things"` // their manager
	Count  int64  `json:"count"`
}

// Read is a lookup whose answer the plan rests on.
type Read struct {
	Operation string          `json:"read"`
	Platform  string          `json:"platform"`
	Arguments json.RawMessage `json:"arguments"` // without secrets
	Found     []string        `json:"found"`     // ids
	Position  string          `json:"at,omitempty"`
}

// File is the state of a file to be sent.
type File struct {
	Path     string    `json:"file"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Changed  time.Time `json:"changed,omitzero"` // by the clock of the file system, which programs cannot set
	MD5      string    `json:"md5"`
}

// Code is a script or a module.
type Code struct {
	File string `json:"code"`
	Sum  string `json:"sha256"`
}

// Empty reports whether nothing would be written.
func (p *Plan) Empty() bool { return len(p.Writes) == 0 && len(p.Effects) == 0 }

// total counts writes.
func total(writes []*Write) (t Totals) {
	for _, w := range writes {
		switch w.Kind {
		case Create:
			t.Create++
		case Change:
			t.Change++
		case Delete:
			t.Delete++
		case Order:
			t.Order++
		case Send:
			t.Files++
			t.Bytes += w.Bytes
		}
	}
	return t
}
