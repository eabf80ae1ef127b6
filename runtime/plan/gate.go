package plan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/files"
	"transect/runtime/sandbox"
)

// Notes keep the state of a plan's writes across processes: the ledger of the run.
type Notes interface {
	Kept(name string) []byte
	Put(name string, value []byte) error
}

// Gate lets a run send only the writes of a plan.
type Gate struct {
	Plan *Plan
	File string     // file of the plan; "" for none
	Tree files.Tree // as seen by the script
	// Private reports whether a path is a temporary file of the script.
	Private func(path string) bool
	// Allow permits the side effects that the plan lists.
	Allow bool

	mu      sync.Mutex
	notes   Notes
	ids     ids
	waiting map[string][]*Write // not sent, by key
	state   map[int]state       // by number of the write
	failed  map[int]bool        // numbers of writes that were refused or lost
	later   map[string]*Write   // records that hold further ids, by id
	taken   map[string]bool     // implicit records that were found
	folder  string              // of the plan, without links
	effects []Effect            // that have not happened
	touched touched
	refused error // the first refusal
	closed  bool  // refuse everything
	opened  bool  // the plan was compared with what earlier starts did
	before  bool  // earlier starts have carried it out
	rest    bool  // what comes next depends on a guess, and is not in the plan
	leftOut []Effect
}

type state int

const (
	begun state = iota + 1 // sent, its answer is not noted
	done
)

// Open prepares the gate for a start of the run; notes hold the state of earlier starts. It fails when they
// belong to another plan with the same id.
func (g *Gate) Open(notes Notes) (first bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notes, g.waiting, g.state, g.failed = notes, map[string][]*Write{}, map[int]state{}, map[int]bool{}
	g.later, g.taken, g.touched = map[string]*Write{}, map[string]bool{}, touched{}
	g.effects = slices.Clone(g.Plan.Effects)
	g.folder = sandbox.Canonical(g.Plan.Folder)
	g.ids.present = map[string]bool{}
	for _, date := range g.Plan.Present {
		g.ids.present[date] = true
	}
	files := map[string]File{}
	for _, f := range g.Plan.Files {
		files[g.Plan.path(f.Path)] = f
	}
	g.ids.file = func(path string) string {
		path = g.Plan.path(path)
		f, planned := files[path]
		if changed, err := f.changed(path); !planned || changed || err != nil {
			f.MD5, _ = sumOf(g.Tree, path) // a file that cannot be read is not in the plan
		}
		return filepath.Base(path) + " " + f.MD5
	}
	earlier := notes.Kept(g.note(noteOfStart))
	if earlier != nil && !bytes.Equal(earlier, g.Plan.name()) {
		return false, fault.Hinted(fault.Of(&fault.PlanError{}, "another plan with the id %s was begun before", g.Plan.ID),
			"plan again: %s", g.Plan.Refresh())
	}
	for _, w := range g.Plan.Writes {
		switch noted := notes.Kept(g.note(w.Number)); {
		case noted == nil:
		case string(noted) == sent:
			g.state[w.Number] = begun
		default:
			g.state[w.Number] = done
			g.recall(w, noted)
		}
		g.waiting[w.Key] = append(g.waiting[w.Key], w)
	}
	// Done writes come last: they match when the ledger answers them again.
	for _, list := range g.waiting {
		slices.SortStableFunc(list, func(a, b *Write) int { return int(g.state[a.Number] - g.state[b.Number]) })
	}
	g.opened = true
	return earlier == nil, nil
}

const (
	noteOfStart = "start"
	noteOfEnd   = "end"
	sent        = "sent" // noted of a write before its answer is there
)

// Complete reports whether earlier starts have done all that is in the plan and may
// happen, so that the script need not run.
func (g *Gate) Complete() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.notes == nil {
		return false
	}
	ended := string(g.notes.Kept(g.note(noteOfEnd)))
	g.before = ended == endOf(true) || ended == endOf(g.Allow)
	return g.before
}

// Opened reports whether the run reached the comparison with the plan.
func (g *Gate) Opened() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// name distinguishes plans with the same id.
func (p *Plan) name() []byte { return []byte(cmp.Or(p.Sum, p.ID)) }

// endOf returns the note for a completed plan, with or without its effects.
func endOf(effects bool) string { return fmt.Sprint("effects ", effects) }

// End notes that the run ended well with all of the plan that may happen.
func (g *Gate) End() error {
	if r := g.Result(); r.Rest || len(r.Missing)+len(r.Undone) > 0 || g.Refused() != nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.notes.Put(g.note(noteOfEnd), []byte(endOf(g.Allow || len(g.leftOut) == 0)))
}

// Begin records that the plan holds and that sending begins.
func (g *Gate) Begin() error { return g.notes.Put(g.note(noteOfStart), g.Plan.name()) }

// note returns the name of a note at this stage of the plan.
func (g *Gate) note(what any) string { return fmt.Sprint("plan ", g.Plan.Stage, " ", what) }

// Link returns the innermost interceptor of calls to a platform.
func (g *Gate) Link(platform string) declare.Interceptor {
	return func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		switch {
		case call.Spec.Composed:
			return next(ctx, call)
		case call.Spec.Effect == declare.Read:
			if folder := call.Args.Text("target_path"); call.Spec.Param("target_path") != nil && !g.mayDownload(folder) {
				return declare.Value{}, g.unlisted(ctx, sandbox.Effect{Kind: sandbox.Download, What: folder})
			}
			v, err := next(ctx, call)
			g.learn(call.Spec.Manager, v)
			return v, err
		}
		all := parts(call)
		writes, err := g.take(ctx, platform, call, all)
		if err != nil {
			return declare.Value{}, err
		}
		v, err := next(ctx, call)
		if err != nil {
			g.release(writes)
			return v, err
		}
		return v, g.finish(writes, all, records(v))
	}
}

// take claims the planned writes of a call, all or none.
func (g *Gate) take(ctx context.Context, platform string, call *declare.Call, all []part) ([]*Write, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, g.refused
	}
	writes := make([]*Write, 0, len(all))
	for _, p := range all {
		key, _, err := g.ids.key(platform, call, p)
		if err != nil {
			return nil, err
		}
		w := g.next(key, call)
		if w == nil {
			w = g.adopt(platform, call, p)
		}
		if w == nil && !call.Answered { // a call answered by the ledger is not sent
			g.restore(writes)
			return nil, g.unplanned(ctx, call, p)
		}
		writes = append(writes, w)
	}
	for _, w := range writes {
		if w != nil && g.state[w.Number] == 0 {
			g.state[w.Number] = begun
			if err := g.notes.Put(g.note(w.Number), []byte(sent)); err != nil {
				return nil, err
			}
		}
	}
	return writes, nil
}

// next claims a write by key. A done write matches when the ledger answers the call, and when the ledger
// sends it again: the start that sent it died after the gate had recorded it, and before the ledger had.
func (g *Gate) next(key string, call *declare.Call) *Write {
	list := g.waiting[key]
	at := 0
	switch {
	case call.Answered:
		at = max(0, slices.IndexFunc(list, func(w *Write) bool { return g.state[w.Number] == done }))
	case call.Resent:
		at = max(0, slices.IndexFunc(list, func(w *Write) bool { return g.state[w.Number] != 0 }))
	}
	if at >= len(list) || !call.Answered && !call.Resent && g.state[list[at].Number] == done {
		return nil
	}
	w := list[at]
	g.waiting[key] = slices.Delete(slices.Clone(list), at, at+1)
	return w
}

// adopt finds the write of a call that names an id whose origin is lost: what an earlier
// start created, which died before it could note the answer.
func (g *Gate) adopt(platform string, call *declare.Call, p part) *Write {
	for number, state := range g.state {
		if state != begun {
			continue
		}
		maker := g.Plan.Writes[number-1]
		for _, id := range identifiers(p.arguments) {
			if _, ok := g.ids.find(id); ok {
				continue
			}
			for _, resource := range maker.Makes {
				trial := ids{file: g.ids.file, origin: maps.Clone(g.ids.origin), present: g.ids.present}
				trial.add(id, maker.Key+"/"+resource.Path, number)
				if key, _, err := trial.key(platform, call, p); err == nil {
					if w := g.next(key, call); w != nil {
						g.ids.add(id, maker.Key+"/"+resource.Path, number)
						return w
					}
				}
			}
		}
	}
	return nil
}

// identifiers returns the ids in arguments.
func identifiers(v any) (list []string) {
	text, err := declare.Encode(v)
	if err != nil {
		return nil
	}
	return identifier().FindAllString(string(text), -1)
}

// finish notes writes that were carried out, and the ids that they made.
func (g *Gate) finish(writes []*Write, all []part, answered [][]byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range writes {
		if w == nil {
			continue
		}
		var record []byte
		if all[i].result < len(answered) {
			record = answered[all[i].result]
		}
		real := map[string]string{}
		for _, resource := range w.Makes {
			if id := gjson.GetBytes(record, resource.Path).String(); !resource.Later && id != "" {
				real[resource.Path] = id
			}
		}
		noted, err := json.Marshal(real)
		if err != nil {
			return err
		}
		g.recall(w, noted)
		if g.state[w.Number] == done {
			continue
		}
		g.state[w.Number] = done
		if err := g.notes.Put(g.note(w.Number), noted); err != nil {
			return err
		}
	}
	return nil
}

// recall adds the ids that a write created.
func (g *Gate) recall(w *Write, noted []byte) {
	var real map[string]string
	_ = json.Unmarshal(noted, &real) // it is of our own making
	for path, id := range real {
		g.ids.add(id, w.Key+"/"+path, w.Number)
		if slices.ContainsFunc(w.Makes, func(m Made) bool { return m.Later }) {
			g.later[id] = w
		}
	}
}

// learn adds further ids from records that the plan's writes created.
func (g *Gate) learn(things string, v declare.Value) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := records(v)
	if len(g.later) == 0 || len(list) > mostFound {
		return
	}
	for _, record := range list {
		id := gjson.GetBytes(record, "_id").Str
		w := g.later[id]
		if w == nil {
			g.finds(things, id, record)
			continue
		}
		for _, resource := range w.Makes {
			if id := gjson.GetBytes(record, resource.Path).String(); resource.Later && resource.Path != "" && id != "" {
				g.ids.add(id, w.Key+"/"+resource.Path, w.Number)
			}
		}
	}
}

// finds adds the id of a record created implicitly by a planned write.
func (g *Gate) finds(things, id string, record []byte) {
	text, write := g.ids.related(things, record)
	if _, ok := g.ids.find(id); ok || write == 0 {
		return
	}
	for _, resource := range g.Plan.Writes[write-1].Makes {
		rest, found := strings.CutPrefix(resource.Found, text+" ")
		if _, err := strconv.Atoi(rest); found && err == nil && !g.taken[resource.Found] {
			g.taken[resource.Found] = true
			g.ids.add(id, resource.Found, write)
			return
		}
	}
}

// release makes writes that failed available again: they are not done.
func (g *Gate) release(writes []*Write) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range writes {
		if w != nil {
			g.failed[w.Number] = true
		}
	}
	g.restore(writes)
}

func (g *Gate) restore(writes []*Write) {
	for _, w := range writes {
		if w != nil {
			g.waiting[w.Key] = append([]*Write{w}, g.waiting[w.Key]...)
		}
	}
}
