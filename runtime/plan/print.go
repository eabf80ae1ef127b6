package plan

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/human"
	"transect/client/schema"
	"transect/runtime/sandbox"
	"transect/scripts"
)

// mostGroups limits the printed lines of a plan; the rest is counted.
const mostGroups = 20

// mostNames limits the names in a line.
const mostNames = 100

// group is one printed line: writes of a kind from one line of the script.
type group struct {
	first *Write
	n     int
	bytes int64
	names []string
	held  []Held // deleted with them
}

// Line is a plan's effects at one line of the script.
type Line struct {
	Write    int // the first, 0 for an effect
	Text     string
	Position string
	Names    []string // of the records, if several
	count    int      // of the records
}

// Lines returns the actions of a plan for people; more counts what exceeds most lines.
func (p *Plan) Lines(most int) (lines []Line, more int) {
	groups := p.groups()
	for _, g := range groups[:min(most, len(groups))] {
		line := Line{Write: g.first.Number, Text: human.Line(g.text()), Position: place(g.first.Position), count: g.n}
		if g.n > 1 {
			for _, name := range g.names[:min(mostNames, len(g.names))] {
				line.Names = append(line.Names, human.Line(name))
			}
			if more := len(g.names) - mostNames; more > 0 {
				line.Names = append(line.Names, fmt.Sprintf("… and %s more", human.Number(more)))
			}
		}
		lines = append(lines, line)
	}
	outside, beyond := effectLines(p.Effects, most)
	return append(lines, outside...), max(0, len(groups)-most) + beyond
}

// someNames joins as many names as fit a line of a screen; "" for a single record and for files that are
// sent.
func (l *Line) someNames() string {
	const width = 80
	if len(l.Names) == 0 || l.Names[0] == "" || strings.HasPrefix(l.Text, signs[Send]) {
		return ""
	}
	text := shortName(l.Names[0])
	for i, name := range l.Names[1:min(len(l.Names), mostNames)] {
		if len([]rune(text+name)) > width {
			return fmt.Sprintf("%s, … and %s more", text, human.Number(l.count-1-i))
		}
		text += ", " + name
	}
	return text
}

// Doubt describes from where on a plan is a guess, or "".
func (h *Head) Doubt() string {
	if h.Guess == "" {
		return ""
	}
	return "what follows " + place(h.Guess) + " may differ: it depends on results that are not there yet; apply " +
		"asks before it does " +
		"anything else"
}

// Summary describes in one line how much a plan does.
func (p *Plan) Summary() string {
	downloads := 0
	for _, e := range p.Effects {
		if e.Kind == sandbox.Download {
			downloads++
		}
	}
	outside := ""
	if n := len(p.Effects) - downloads; n > 0 {
		outside = human.Count(n, "action") + " outside of the platform"
		if !scripts.IsRef(p.Script) {
			outside += " (left out without --allow-effects)"
		}
	}
	return p.Totals.text(outside, downloads)
}

// Print writes a plan for people, at most one screen.
func (p *Plan) Print(out io.Writer) {
	lines, more := p.Lines(mostGroups)
	for _, line := range lines {
		fmt.Fprintf(out, "%s  %s\n", pad(line.Text), line.Position)
		if names := line.someNames(); names != "" && line.Write > 0 {
			fmt.Fprintf(out, "    %s\n", names)
		}
	}
	if more > 0 {
		fmt.Fprintf(out, "… and %s more; --json prints all\n", human.Count(more, "line"))
	}
	if doubt := p.Doubt(); doubt != "" {
		fmt.Fprintln(out, doubt)
	}
	fmt.Fprintln(out, p.Summary())
}

// place formats a position in a script.
func place(position string) string { return human.Line(path.Base(position)) }

// pad pads a text so that positions align.
func pad(text string) string {
	const width = 64
	return human.Line(text) + strings.Repeat(" ", max(0, width-len([]rune(text))))
}

// groups joins writes of the same kind, manager, place and line.
func (p *Plan) groups() (list []*group) {
	byKey := map[string]*group{}
	for _, w := range p.Writes {
		key := strings.Join([]string{string(w.Kind), w.Operation, w.Things, w.In, w.Position}, "\n")
		if w.Kind == Create && w.Things == "datasets" || w.Kind == Send {
			key = strings.Join([]string{"files", w.In, w.Position}, "\n") // datasets, and their files
		}
		g := byKey[key]
		if g == nil {
			g = &group{first: w}
			byKey[key], list = g, append(list, g)
		}
		if w.Kind == Send && g.first.Kind == Create {
			g.bytes += w.Bytes
			continue
		}
		if w.Kind == Create && g.first.Kind == Send {
			g.first = w
			g.n = 0
		}
		g.n++
		g.bytes += w.Bytes
		g.names = append(g.names, w.Name)
		if w.Before != nil {
			g.hold(w.Before.Holds)
		}
	}
	return list
}

func (g *group) hold(more []Held) {
	for _, h := range more {
		if n := slices.IndexFunc(g.held, func(other Held) bool { return other.Things == h.Things }); n >= 0 {
			g.held[n].Count += h.Count
		} else {
			g.held = append(g.held, h)
		}
	}
}

var signs = map[Kind]string{Create: "+", Change: "~", Delete: "-", Send: "↑", Order: "▶"}

// text formats a group as a line.
func (g *group) text() string {
	w := g.first
	sign := signs[w.Kind]
	if g.bytes > 0 {
		sign = signs[Send]
	}
	one := declare.Singular(strings.ReplaceAll(w.Things, "_", " "))
	what := one
	switch {
	case w.Kind == Order:
		what = "order " + w.Name
	case g.n > 1:
		what = human.Count(g.n, one)
	case w.Name != "":
		what = fmt.Sprintf("%s %q", one, shortName(w.Name))
	}
	text := sign + " " + what
	if g.bytes > 0 {
		text += ", " + human.Size(g.bytes) + ","
	}
	switch {
	case w.In != "" && g.bytes > 0:
		text += fmt.Sprintf(" into %q", shortName(w.In))
	case w.In != "" && w.Kind == Order:
		text += fmt.Sprintf(" on %q", shortName(w.In))
	case w.In != "":
		text += fmt.Sprintf(" of %q", shortName(w.In))
	}
	if w.Kind == Change {
		text += ": " + g.change()
	}
	if w.Before != nil && w.Before.Holds != nil {
		text += " with " + g.holds()
	}
	return strings.TrimSuffix(text, ",")
}

// holds describes what is deleted along with the records of a group.
func (g *group) holds() string {
	var parts []string
	for _, h := range g.held {
		parts = append(parts, human.Count(int(h.Count), declare.Singular(h.Things)))
	}
	return strings.Join(parts, ", ")
}

// change describes what a write changes: fields with their values before and after.
func (g *group) change() string {
	w := g.first
	if g.n > 1 {
		return w.Operation
	}
	before := w.Before
	if before == nil {
		before = &Before{} // the changed record is planned itself
	}
	const most = 3
	var list []string
	gjson.ParseBytes(w.Arguments).ForEach(func(key, now gjson.Result) bool {
		was := gjson.GetBytes(before.Fields, gjson.Escape(key.String()))
		if now.String() == before.ID || schema.IsPlannedID(now.String()) || now.Raw == was.Raw {
			return true
		}
		if len(list) < most {
			text := key.String() + " " + shortValue(now)
			if was.Exists() {
				text = key.String() + " " + shortValue(was) + " → " + shortValue(now)
			}
			list = append(list, text)
		}
		return true
	})
	if list == nil {
		return w.Operation
	}
	return strings.Join(list, ", ")
}

// shortName shortens a name for a line.
func shortName(name string) string { return human.Shorten(name, 100) }

// shortValue shortens a JSON value for a message.
func shortValue(v gjson.Result) string {
	if !v.Exists() {
		return "absent"
	}
	return human.Shorten(human.Line(v.Raw), 40)
}

// text counts what a plan does.
func (t Totals) text(outside string, downloads int) string {
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, text)
		}
	}
	add(t.Create, human.Number(t.Create)+" to create")
	add(t.Change, human.Number(t.Change)+" to change")
	add(t.Delete, human.Number(t.Delete)+" to delete")
	add(t.Files, human.Count(t.Files, "file")+" of "+human.Size(t.Bytes))
	add(t.Order, human.Count(t.Order, "order"))
	add(downloads, human.Count(downloads, "file")+" to download")
	add(len(outside), outside)
	if parts == nil {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}

// PrintDifference prints what a plan does that an earlier one does not, and what it no longer does.
func (p *Plan) PrintDifference(out io.Writer, earlier *Plan) {
	differ := false
	tell := func(title string, of, others *Plan) {
		counts := map[string]int{}
		for _, w := range others.Writes {
			counts[w.Key]++
		}
		for _, w := range of.Writes {
			if counts[w.Key]--; counts[w.Key] < 0 {
				differ = true
				fmt.Fprintf(out, "%s  %s\n", title, pad(w.text())+"  "+place(w.Position))
			}
		}
	}
	tell("no longer:", earlier, p)
	tell("now:      ", p, earlier)
	if !differ {
		fmt.Fprintln(out, "the same writes as before")
	}
	fmt.Fprintln(out, p.Summary())
}

// text returns the line of a single write.
func (w *Write) text() string {
	g := &group{first: w, n: 1, bytes: w.Bytes}
	if w.Before != nil {
		g.held = w.Before.Holds
	}
	return human.Line(g.text())
}
