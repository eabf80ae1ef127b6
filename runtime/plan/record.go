package plan

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/schema"
	"transect/client/transfer"
	"transect/runtime/sandbox"
)

// Recorder records what a run would write. Writes of the run must only reach memory.
type Recorder struct {
	Folder string     // that paths of effects are shown relative to
	Tree   files.Tree // as seen by the script
	// Private reports whether a path is a temporary file of the script.
	Private func(path string) bool

	mu      sync.Mutex
	ids     ids
	plan    Plan
	made    map[string]*Write // by planned id
	names   map[string]string // of records that were read or planned, by id
	before  map[string]bool   // ids of existing records that are noted
	reads   map[[32]byte]bool
	changed map[string]bool // managers of existing records that are changed or deleted
	began   time.Time
	clients map[string]*client.Client // by platform
	files   map[string]File           // that were sent or downloaded, by path
	code    map[string]string
	found   map[string]int // implicitly created records, see finds
	touched
}

// NewRecorder makes one.
func NewRecorder() *Recorder {
	r := &Recorder{made: map[string]*Write{}, names: map[string]string{}, before: map[string]bool{},
		reads: map[[32]byte]bool{}, files: map[string]File{}, began: time.Now(), code: map[string]string{},
		found: map[string]int{}, changed: map[string]bool{}, touched: touched{}, clients: map[string]*client.Client{}}
	r.ids.file = func(path string) string { return filepath.Base(path) + " " + r.files[path].MD5 }
	return r
}

// Plan returns what was recorded so far.
func (r *Recorder) Plan() *Plan {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.plan
	p.Code = nil
	for _, file := range slices.Sorted(maps.Keys(r.code)) {
		p.Code = append(p.Code, Code{File: file, Sum: r.code[file]})
	}
	p.Present = slices.Sorted(maps.Keys(r.ids.present))
	p.Totals = total(p.Writes)
	return &p
}

// Ran notes a script or module.
func (r *Recorder) Ran(file string, code []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code[file] = sum(code)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// On notes a platform that the run has connected to.
func (r *Recorder) On(l Login, c *client.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients[l.URL] = c
	if !slices.Contains(r.plan.Platforms, l) {
		r.plan.Platforms = append(r.plan.Platforms, l)
	}
}

func (r *Recorder) client(platform string) *client.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients[platform]
}

// mostCounted limits the deleted records of a call whose contents are counted.
const mostCounted = 50

// holdings counts what is deleted along with a record.
func holdings(ctx context.Context, c *client.Client, manager, id string) (list []Held) {
	for _, kind := range c.Manager(manager).Holds {
		within := map[string]any{"filter": map[string]any{declare.Singular(manager): map[string]any{"$eq": id}}, "limit": 1,
			"return_total": true}
		held, err := c.Manager(kind).Op("search").Invoke(ctx, declare.Args{Values: within})
		if err == nil && held.Total > 0 {
			list = append(list, Held{kind, held.Total})
		}
	}
	return list
}

// Upload sets a component's file, by size and MD5, without sending it.
type Upload func(ctx context.Context, dataset, component, path, sum string, size int64) error

// Link returns the innermost interceptor of calls to a platform.
func (r *Recorder) Link(platform string, upload Upload) declare.Interceptor {
	return func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		s := call.Spec
		switch {
		case s.Composed && s.Effect == declare.Read && s.Param("target_path") != nil:
			v, err := next(ctx, call)
			if err == nil && r.guesses() { // names of files made by then are unknown
				_, err = r.Effect(ctx, sandbox.Effect{Kind: sandbox.Download,
					What: filepath.Join(call.Args.Text("target_path"), anyName)})
			}
			return v, err
		case call.Answered, s.Composed, call.SendsNothing():
			return next(ctx, call)
		case s.Effect == declare.Read && s.Param("target_path") != nil:
			return r.download(ctx, call)
		case s.Effect == declare.Read:
			v, err := next(ctx, call)
			r.read(ctx, platform, call, v, err)
			r.learn(ctx, s.Manager, v)
			return v, err
		}
		all := parts(call)
		before := r.existing(ctx, platform, call, all)
		if in, ok := call.In.(client.UploadFile); ok {
			next = func(ctx context.Context, _ *declare.Call) (v declare.Value, err error) {
				f, err := r.file(string(in.FilePath))
				if err == nil {
					err = upload(ctx, string(in.Dataset), in.Component, f.Path, f.MD5, f.Size)
				}
				if err == nil {
					client.Uploaded(ctx, transfer.Uploaded{MD5: f.MD5, Bytes: f.Size, Parts: 1})
				}
				return declare.Value{Shape: declare.ShapeNone, Go: client.None{}}, err
			}
		}
		v, err := next(ctx, call)
		if err == nil {
			err = r.note(ctx, platform, call, v, all, before)
		}
		return v, err
	}
}

// file returns a file to be sent, from disk or from a planned download.
func (r *Recorder) file(path string) (f File, err error) {
	info, err := r.Tree.Stat(path)
	r.mu.Lock()
	fetched, ok := r.files[path]
	r.mu.Unlock()
	switch {
	case errors.Is(err, fs.ErrNotExist) && ok:
		return fetched, nil
	case err == nil && info.Size() == 0:
		err = fault.Of(&fault.UploadError{}, "%s is empty", path)
	case err == nil:
		f = File{Path: path, Size: info.Size(), Modified: info.ModTime(), Changed: changeTime(path)}
		f.MD5, err = sumOf(r.Tree, path)
	}
	if err != nil {
		return f, fault.Of(&fault.UploadError{}, "cannot read %s: %w", path, fault.Reason(err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[path] = f
	return f, nil
}

// learn records the names in records that were read, and further ids.
func (r *Recorder) learn(ctx context.Context, things string, v declare.Value) {
	list := records(v)
	for _, record := range list {
		if bytes.Contains(record, []byte(`"`+schema.NotKnown+`":true`)) {
			r.guess(declare.Position(ctx))
		}
	}
	if len(list) > mostFound {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range list {
		id := gjson.GetBytes(record, "_id").Str
		name := gjson.GetBytes(record, "name").Str
		if version := gjson.GetBytes(record, "version").Str; version != "" {
			name += " " + version
		}
		r.names[id] = cmp.Or(name, r.names[id])
		r.finds(things, id, record)
		if w := r.made[id]; w != nil {
			r.makes(w, record, id, true)
		}
	}
}

// finds records an implicitly created record when it is first read.
func (r *Recorder) finds(things, id string, record []byte) {
	if r.made[id] != nil || !schema.IsPlannedID(id) {
		return
	}
	text, write := r.ids.related(things, record)
	if write == 0 {
		return
	}
	w := r.plan.Writes[write-1]
	r.found[text]++
	text = fmt.Sprint(text, " ", r.found[text])
	r.ids.add(id, text, write)
	r.made[id] = w
	w.Makes = append(w.Makes, Made{ID: id, Later: true, Found: text})
}

// makes records the ids in a record that a write created. The record is known by its name from then on.
func (r *Recorder) makes(w *Write, record []byte, id string, later bool) {
	planned(record, func(path, found string) {
		if _, ok := r.ids.find(found); ok {
			return
		}
		text := w.Key + "/" + path
		r.ids.add(found, text, w.Number)
		r.made[found] = w
		w.Makes = append(w.Makes, Made{Path: path, ID: found, Later: later})
		if schema.IsPlannedIDOf(w.Things, found) {
			r.names[found] = cmp.Or(r.names[found], w.Name)
		}
	})
}

// guess records that what follows depends on unknown results.
func (r *Recorder) guess(position string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan.Guess = cmp.Or(r.plan.Guess, position, "?")
}

func (r *Recorder) guesses() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plan.Guess != ""
}

// anyName replaces the names of files that are unknown before they are made.
const anyName = "*"

// existing reads the records that a call changes or deletes, as they are.
func (r *Recorder) existing(ctx context.Context, platform string, call *declare.Call, all []part) []*Before {
	list := make([]*Before, len(all))
	describe := call.Spec.Siblings().Describe()
	if describe == nil {
		return list
	}
	for i, p := range all {
		r.mu.Lock()
		fresh := p.subject != "" && declare.IsIdentifier(p.subject) && !r.before[p.subject]
		r.before[p.subject] = true
		r.mu.Unlock()
		if !fresh {
			continue
		}
		record, ok, err := call.Spec.Siblings().Read(ctx, p.subject, nil)
		if err != nil || !ok || record == nil {
			continue // the write itself reports the error
		}
		list[i] = stateOf(record, p)
		if c := r.client(platform); c != nil && call.Spec.Effect == declare.Delete && i < mostCounted {
			list[i].Holds = holdings(ctx, c, call.Spec.Manager, p.subject)
		}
	}
	return list
}

// stateOf returns the state of a record before a write.
func stateOf(record []byte, p part) *Before {
	b := &Before{ID: p.subject, Name: gjson.GetBytes(record, "name").Str,
		Modified: gjson.GetBytes(record, "modification_date").Str, Sum: sum(record)}
	fields := map[string]any{}
	for key := range p.arguments {
		if v := gjson.GetBytes(record, key); v.Exists() {
			fields[key] = v.Value()
		}
	}
	b.Fields, _ = declare.Encode(fields) // it was JSON
	return b
}

// note notes the writes of a call.
func (r *Recorder) note(ctx context.Context, platform string, call *declare.Call, v declare.Value, all []part,
	before []*Before) error {
	answered := records(v)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, p := range all {
		key, uses, err := r.ids.key(platform, call, p)
		if err != nil {
			return err
		}
		r.touches(call.Spec, p.subject)
		w := &Write{Number: len(r.plan.Writes) + 1, Operation: call.Spec.FullName(), Kind: kindOf(call.Spec),
			Platform: platform, Position: declare.Position(ctx), Things: thingsOf(call.Spec), After: uses, Before: before[i],
			Guess: r.plan.Guess != "", Key: key}
		if w.Arguments, err = declare.Encode(p.arguments); err != nil {
			return err
		}
		r.describe(w, p)
		if path := call.Args.Text("file_path"); path != "" {
			r.sends(w, path)
		}
		if p.result < len(answered) {
			r.makes(w, answered[p.result], "", false)
			if id := gjson.GetBytes(answered[p.result], "_id").Str; id != "" && w.Name != "" {
				r.names[id] = w.Name
			}
		}
		r.plan.Writes = append(r.plan.Writes, w)
	}
	return nil
}

// describe sets the name of a write's record and of its container.
func (r *Recorder) describe(w *Write, p part) {
	text := func(v any) string { return declare.Args{Values: map[string]any{"": v}}.Text("") }
	fields := p.arguments
	for _, v := range p.arguments {
		if one, ok := v.(map[string]any); ok && one["name"] != nil && w.Kind == Create {
			fields = one
		}
	}
	w.Name = text(fields["name"])
	if w.Before != nil {
		w.Name = cmp.Or(w.Before.Name, w.Name)
	} else if p.subject != "" {
		w.Name = cmp.Or(r.names[p.subject], p.subject)
	}
	if maker := r.made[text(fields["dataset"])]; maker != nil && w.Kind == Send {
		w.In = maker.In
		return
	}
	if w.Kind == Order {
		w.Name = cmp.Or(r.names[text(fields["analytic"])], text(fields["analytic"]))
	}
	for _, holder := range []string{"mission", "dataset", "project", "target"} {
		if id := text(fields[holder]); id != "" && id != p.subject && r.names[id] != "" {
			w.In = r.names[id]
			return
		}
	}
}

// sends notes the file of a write.
func (r *Recorder) sends(w *Write, path string) {
	w.File, w.Name = path, filepath.Base(path)
	f := r.files[path]
	w.Bytes, w.MD5 = f.Size, f.MD5
	same := func(other File) bool { return other.Path == path }
	if f.Modified.Before(r.began) && !f.Modified.IsZero() && !slices.ContainsFunc(r.plan.Files, same) {
		r.plan.Files = append(r.plan.Files, f) // another one is made by the script, and compared when it is sent
	}
}

// kindOf returns the kind of an operation.
func kindOf(s *declare.Spec) Kind {
	switch {
	case s.FullName() == "analytics.order":
		return Order
	case s.Param("file_path") != nil:
		return Send
	case s.Effect == declare.Create && s.Shape != declare.ShapeNone:
		return Create
	case s.Effect == declare.Delete:
		return Delete
	}
	return Change
}

// thingsOf returns the manager of what an operation creates, changes or deletes.
func thingsOf(s *declare.Spec) string { return cmp.Or(s.Makes, s.Manager) }

// download answers with the path of a file that would be written.
func (r *Recorder) download(ctx context.Context, call *declare.Call) (declare.Value, error) {
	subject := call.Args.Text(call.Spec.Params[0].Name)
	name, file := call.Args.Text("target_name"), gjson.Result{}
	if describe := call.Spec.Siblings().Describe(); describe != nil {
		record, err := describe.Invoke(ctx, declare.Args{Values: map[string]any{describe.Params[0].Name: subject}})
		if err != nil {
			return declare.Value{}, err
		}
		file = gjson.GetBytes(record.JSON, "components.#(name=="+strconv.Quote(call.Args.Text("component"))+")")
		name = cmp.Or(name, file.Get("filename").String(), gjson.GetBytes(record.JSON, "name").String())
	}
	path := filepath.Join(call.Args.Text("target_path"), transfer.SafeName(cmp.Or(name, subject)))
	r.mu.Lock()
	r.files[path] = File{Path: path, Size: file.Get("size").Int(), MD5: file.Get("checksum").String()}
	r.mu.Unlock()
	_, err := r.Effect(ctx, sandbox.Effect{Kind: sandbox.Download, What: path})
	return declare.Value{Shape: declare.ShapeGo, Go: client.Path(path)}, err
}
