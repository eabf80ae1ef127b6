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
	"transect/client/human"
)

// Notes keep what became of the writes of a plan beyond the death of the process: the
// ledger of the run.
type Notes interface {
	Kept(name string) []byte
	Put(name string, value []byte) error
}

// Gate lets a run send what stands in a plan.
type Gate struct {
	Plan *Plan
	File string // that holds the plan; "" for none
	// Ask asks a person whether a write may be sent that depends on what nobody knew
	// before it ran; such writes are refused when it is nil.
	Ask func(ctx context.Context, question string) bool
	// Allow lets the effects happen that the plan lists.
	Allow bool

	mu       sync.Mutex
	notes    Notes
	ids      ids
	waiting  map[string][]*Write // not sent, by key
	state    map[int]state       // by number of the write
	later    map[string]*Write   // records that hold further ids, by id
	taken    map[string]bool     // records that came about by writes, and were found
	patterns map[string]bool     // operation and position of writes on a guess
	asked    int                 // writes that were let through by a pattern or a person
	refused  error               // the first refusal
	closed   bool                // nothing passes
	leftOut  []Effect
}

type state int

const (
	begun state = iota + 1 // sent, its answer is not noted
	done
)

// Open prepares the gate for a start of the run; notes hold what earlier starts did, and
// another plan with the same id is none of them.
func (g *Gate) Open(notes Notes) (first bool, err error) {
	g.notes, g.waiting, g.state = notes, map[string][]*Write{}, map[int]state{}
	g.later, g.patterns, g.taken = map[string]*Write{}, map[string]bool{}, map[string]bool{}
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
			f.MD5, _ = sumOf(path) // one that cannot be read is not in the plan
		}
		return filepath.Base(path) + " " + f.MD5
	}
	earlier := notes.Kept(noteOfStart)
	if earlier != nil && !bytes.Equal(earlier, g.Plan.name()) {
		return false, fault.Hinted(fault.Of(&fault.PlanError{}, "another plan with the id %s was begun before", g.Plan.ID),
			"plan again: %s", g.Plan.Refresh())
	}
	for _, w := range g.Plan.Writes {
		switch noted := notes.Kept(note(w.Number)); {
		case noted == nil:
		case string(noted) == sent:
			g.state[w.Number] = begun
		default:
			g.state[w.Number] = done
			g.recall(w, noted)
		}
		g.waiting[w.Key] = append(g.waiting[w.Key], w)
		if w.Guess && w.Kind != Delete {
			g.patterns[w.Operation+" "+w.Position] = true
		}
	}
	// What was done stands last: it is taken when the ledger gives its answer once more.
	for _, list := range g.waiting {
		slices.SortStableFunc(list, func(a, b *Write) int { return int(g.state[a.Number] - g.state[b.Number]) })
	}
	return earlier == nil, nil
}

const (
	noteOfStart = "plan"
	sent        = "sent" // noted of a write before its answer is there
)

// Complete reports whether earlier starts have done all that is in the plan, so that
// the script need not run.
func (g *Gate) Complete() bool {
	return len(g.Plan.Effects) == 0 && g.Plan.Guess == "" &&
		!slices.ContainsFunc(g.Plan.Writes, func(w *Write) bool { return g.state[w.Number] != done })
}

// Begin notes that the plan holds, and that sending begins.
func (g *Gate) Begin() error { return g.notes.Put(noteOfStart, g.Plan.name()) }

// name tells a plan from others of the same id.
func (p *Plan) name() []byte { return []byte(cmp.Or(p.Sum, p.ID)) }

func note(write int) string { return fmt.Sprintf("plan %d", write) }

// Effect is asked before something happens outside of the platform.
func (g *Gate) Effect(position, what string, _ bool) (happens bool, err error) {
	listed := slices.ContainsFunc(g.Plan.Effects, func(e Effect) bool { return e.What == what })
	switch {
	case g.Allow && listed:
		return true, nil
	case g.Allow:
		return false, g.refuse(fault.Hinted(fault.Of(&fault.PlanError{}, "%s is not in the plan", what),
			"plan again: %s", human.Line(strings.Join(g.Plan.Words("plan"), " "))))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leftOut = append(g.leftOut, Effect{What: what, Position: position})
	return false, nil
}

// Link is the last one of the calls to a platform.
func (g *Gate) Link(platform string) declare.Interceptor {
	return func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		switch {
		case call.Spec.Composed:
			return next(ctx, call)
		case call.Spec.Effect == declare.Read:
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
			g.giveBack(writes)
			return v, err
		}
		return v, g.finish(writes, all, records(v))
	}
}

// take finds the planned writes of a call, all or none.
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
		w := g.next(key, call.Answered)
		if w == nil {
			w = g.adopt(platform, call, p)
		}
		if w == nil && !g.guessed(ctx, call, p) {
			g.restore(writes)
			return nil, g.unplanned(ctx, call, p)
		}
		writes = append(writes, w)
	}
	for _, w := range writes {
		if w != nil && g.state[w.Number] == 0 {
			g.state[w.Number] = begun
			if err := g.notes.Put(note(w.Number), []byte(sent)); err != nil {
				return nil, err
			}
		}
	}
	return writes, nil
}

// next takes a write of a key that is not done; one that is for the ledger's answer.
func (g *Gate) next(key string, answered bool) *Write {
	list := g.waiting[key]
	at := 0
	if answered {
		at = max(0, slices.IndexFunc(list, func(w *Write) bool { return g.state[w.Number] == done }))
	}
	if at >= len(list) || !answered && g.state[list[at].Number] == done {
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
			if _, known := g.ids.find(id); known {
				continue
			}
			for _, made := range maker.Makes {
				trial := ids{file: g.ids.file, origin: maps.Clone(g.ids.origin), present: g.ids.present}
				trial.add(id, maker.Key+"/"+made.Path, number)
				if key, _, err := trial.key(platform, call, p); err == nil {
					if w := g.next(key, false); w != nil {
						g.ids.add(id, maker.Key+"/"+made.Path, number)
						return w
					}
				}
			}
		}
	}
	return nil
}

// identifiers are the ids in arguments.
func identifiers(v any) (list []string) {
	text, err := declare.Encode(v)
	if err != nil {
		return nil
	}
	return identifier().FindAllString(string(text), -1)
}

// guessed reports whether a write may pass that depends on what nobody knew before.
func (g *Gate) guessed(ctx context.Context, call *declare.Call, p part) bool {
	if g.Plan.Guess == "" {
		return false
	}
	position := declare.Position(ctx)
	ok := g.patterns[call.Spec.FullName()+" "+position]
	if !ok && g.Ask != nil {
		text, _ := declare.Encode(p.arguments)
		ok = g.Ask(ctx, fmt.Sprintf("%s is not in the plan, which was a guess from %s on. Send %s %s?", position,
			g.Plan.Guess, call.Spec.FullName(), text))
	}
	if ok {
		g.asked++
	}
	return ok
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
		for _, made := range w.Makes {
			if id := gjson.GetBytes(record, made.Path).String(); !made.Later && id != "" {
				real[made.Path] = id
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
		if err := g.notes.Put(note(w.Number), noted); err != nil {
			return err
		}
	}
	return nil
}

// recall takes the ids that a write made.
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

// learn takes further ids from records that the plan's writes made.
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
		for _, made := range w.Makes {
			if id := gjson.GetBytes(record, made.Path).String(); made.Later && made.Path != "" && id != "" {
				g.ids.add(id, w.Key+"/"+made.Path, w.Number)
			}
		}
	}
}

// finds takes the id of a record that came about by a planned write.
func (g *Gate) finds(things, id string, record []byte) {
	text, write := g.ids.related(things, record)
	if _, known := g.ids.find(id); known || write == 0 {
		return
	}
	for _, made := range g.Plan.Writes[write-1].Makes {
		rest, found := strings.CutPrefix(made.Found, text+" ")
		if _, err := strconv.Atoi(rest); found && err == nil && !g.taken[made.Found] {
			g.taken[made.Found] = true
			g.ids.add(id, made.Found, write)
			return
		}
	}
}

// giveBack makes writes that failed available again: they are not done.
func (g *Gate) giveBack(writes []*Write) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.restore(writes)
}

func (g *Gate) restore(writes []*Write) {
	for _, w := range writes {
		if w != nil {
			g.waiting[w.Key] = append([]*Write{w}, g.waiting[w.Key]...)
		}
	}
}
