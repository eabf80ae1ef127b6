package plan

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/sandbox"
)

// Effect is a side effect of a script outside the platform.
type Effect struct {
	Kind     sandbox.EffectKind `json:"effect"`
	What     string             `json:"what"`
	To       string             `json:"to,omitempty"` // new path, for moves
	Position string             `json:"at,omitempty"`
	After    int                `json:"after,omitempty"` // number of the last write before it
	Guess    bool               `json:"guess,omitempty"`
}

// same reports whether two effects do the same to the same.
func (e *Effect) same(other Effect) bool {
	return e.Kind == other.Kind && e.What == other.What && e.To == other.To
}

// ofFile reports whether the effect is one of a file, whose paths are relative to a folder.
func (e *Effect) ofFile() bool {
	switch e.Kind {
	case sandbox.RunProgram, sandbox.SendRequest, sandbox.SendMail, sandbox.KeepState, sandbox.SubmitJob:
		return false
	}
	return true
}

// lasting reports whether repeating an effect of the kind changes nothing more, as for creating or keeping
// something.
func (e *Effect) lasting() bool {
	return slices.Contains([]sandbox.EffectKind{sandbox.CreateFile, sandbox.ChangeFile, sandbox.CreateFolder,
		sandbox.KeepState,
		sandbox.Download}, e.Kind)
}

// effectOf returns an effect with paths relative to a folder, where they are below it.
func effectOf(ctx context.Context, of sandbox.Effect, folder string) Effect {
	e := Effect{Kind: of.Kind, What: of.What, To: of.To, Position: declare.Position(ctx)}
	if e.ofFile() {
		e.What, e.To = under(folder, e.What), under(folder, e.To)
	}
	return e
}

// under returns a path relative to a folder if it is below it.
func under(folder, path string) string {
	if rel, err := filepath.Rel(folder, path); path != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// touched holds the files that effects have created or changed, which may be written again.
type touched map[string]bool

// again reports whether an effect is covered by earlier ones, and records it.
func (t touched) again(e *Effect) bool {
	key := e.What
	if !e.ofFile() {
		key = string(e.Kind) + " " + e.What
	}
	known := t[key] && e.lasting()
	switch {
	case e.lasting():
		t[key] = true
	case e.Kind == sandbox.MoveFile:
		t[e.To] = t[e.What]
		delete(t, e.What)
	case e.ofFile():
		delete(t, e.What)
	}
	return known
}

// Effect records a side effect of the script, which does not happen.
func (r *Recorder) Effect(ctx context.Context, of sandbox.Effect) (happens bool, err error) {
	if of.Kind == sandbox.Download && r.Private(of.What) {
		return false, nil
	}
	if of.Answers {
		r.guess(declare.Position(ctx))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := effectOf(ctx, of, r.Folder)
	if r.touched.again(&e) {
		return false, nil
	}
	e.After, e.Guess = len(r.plan.Writes), r.plan.Guess != ""
	r.plan.Effects = append(r.plan.Effects, e)
	return false, nil
}

// Effect decides about a side effect of the script: one that the plan lists happens if allowed, once, after
// the writes that precede it.
func (g *Gate) Effect(ctx context.Context, of sandbox.Effect) (happens bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := effectOf(ctx, of, g.folder)
	if g.touched.again(&e) {
		return g.Allow, nil
	}
	if !g.Allow {
		g.leftOut = append(g.leftOut, e)
		return false, nil
	}
	if g.closed {
		return false, g.refused
	}
	n := slices.IndexFunc(g.effects, e.same)
	if n < 0 {
		return false, g.beyond(fault.Of(&fault.PlanError{}, "%s is not in the plan, and was not done", e.text()))
	}
	listed := g.effects[n]
	for _, w := range g.Plan.Writes {
		failed := w.Number <= listed.After && g.failed[w.Number]
		unsent := w.File != "" && under(g.folder, sandbox.Canonical(g.Plan.path(w.File))) == e.What &&
			e.Kind != sandbox.CreateFile
		if g.state[w.Number] != done && (failed || unsent) {
			return false, g.refuse(fault.Hinted(fault.Of(&fault.PlanError{},
				"%s is not done, as write %d of the plan, before it, "+
					"has not succeeded: %s", e.text(), w.Number, w.text()), "transect apply again does what is missing"))
		}
	}
	g.effects = slices.Delete(g.effects, n, n+1)
	return true, nil
}

// mayDownload reports whether a file may be downloaded into a folder: the plan lists a
// download into it.
func (g *Gate) mayDownload(folder string) bool {
	if g.Private(folder) {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	folder = under(g.folder, sandbox.Canonical(g.Plan.path(folder)))
	into := func(e Effect) bool { return e.Kind == sandbox.Download && filepath.Dir(e.What) == folder }
	if n := slices.IndexFunc(g.effects, into); n >= 0 {
		g.effects = slices.Delete(g.effects, n, n+1)
		return true
	}
	return slices.ContainsFunc(g.Plan.Effects, into)
}

// unlisted refuses an effect that the plan does not list.
func (g *Gate) unlisted(ctx context.Context, of sandbox.Effect) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := effectOf(ctx, of, g.folder)
	return g.beyond(fault.Of(&fault.PlanError{}, "%s is not in the plan, and was not done", e.text()))
}

// text describes an effect for people.
func (e *Effect) text() string {
	switch kind, what, _ := strings.Cut(string(e.Kind), " "); {
	case e.Kind == sandbox.MoveFile:
		return fmt.Sprintf("~ file %s → %s", e.What, e.To)
	case kind == "create":
		return "+ " + what + " " + e.What
	case kind == "change":
		return "~ " + what + " " + e.What
	case kind == "remove":
		return "- " + what + " " + e.What
	case e.Kind == sandbox.Download && filepath.Base(e.What) == anyName:
		return "↓ the files made by then, into " + filepath.Dir(e.What)
	case e.Kind == sandbox.Download:
		return "↓ file " + e.What
	case e.Kind == sandbox.KeepState:
		return "! keep " + e.What + " in the state of this machine"
	case e.Kind == sandbox.SendMail:
		return "! mail to " + e.What
	case e.Kind == sandbox.SendRequest:
		return "! " + e.What
	}
	return "! " + string(e.Kind) + " " + e.What
}

// effectLines formats effects for people, joining those of a kind at one line of the script; more counts what
// exceeds most lines.
func effectLines(effects []Effect, most int) (lines []Line, more int) {
	at, counts := map[string]int{}, []int{}
	for _, e := range effects {
		key := string(e.Kind) + "\n" + e.Position
		n, ok := at[key]
		switch {
		case !ok && len(lines) == most:
			more++
		case !ok:
			at[key], counts = len(lines), append(counts, 0)
			lines = append(lines, Line{Text: human.Line(e.text()), Position: place(e.Position),
				Names: []string{human.Line(e.What)}})
		case counts[n] < mostNames:
			lines[n].Names = append(lines[n].Names, human.Line(e.What))
		}
		if n, shown := at[key]; shown {
			counts[n]++
		}
	}
	for i, l := range lines {
		if len(l.Names) == 1 {
			lines[i].Names = nil
			continue
		}
		kind := strings.TrimSuffix(l.Text, l.Names[0])
		lines[i].Text = fmt.Sprintf("%s%s and %s more", kind, l.Names[0], human.Number(counts[i]-1))
	}
	return lines, more
}
