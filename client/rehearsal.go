package client

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"transect/client/declare"
	"transect/client/human"
)

// Rehearsal is a dry run: every write is shown and answered instead of sent. All
// connections of a run share one: each must know what the others pretended to
// create.
type Rehearsal struct {
	line func(text, call string)

	mu      sync.Mutex
	made    int               // ids
	records map[string][]byte // made up, or changed, by id

	kinds            []string // in the order they came
	created, deleted map[string]int
	others           int // writes
	bytes            int64
}

// NewRehearsal returns one that gives each write to line: what would be done, and
// the operation with its arguments.
func NewRehearsal(line func(text, call string)) *Rehearsal {
	return &Rehearsal{line: line, records: map[string][]byte{}, created: map[string]int{}, deleted: map[string]int{}}
}

// Summary is what would have been done: "would create 1 mission, 18 datasets;
// would send 7.6 MB".
func (d *Rehearsal) Summary() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var parts []string
	for verb, counts := range map[string]map[string]int{"create": d.created, "delete": d.deleted} {
		var list []string
		for _, kind := range d.kinds {
			if n := counts[kind]; n > 0 {
				list = append(list, amount(n, kind))
			}
		}
		if len(list) > 0 {
			parts = append(parts, "would "+verb+" "+strings.Join(list, ", "))
		}
	}
	slices.Sort(parts)
	if d.others > 0 {
		parts = append(parts, "would make "+amount(d.others, "other changes"))
	}
	if d.bytes > 0 {
		parts = append(parts, "would send "+human.Size(d.bytes))
	}
	return cmp.Or(strings.Join(parts, "; "), "would change nothing")
}

// Empty reports whether nothing would have been done.
func (d *Rehearsal) Empty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.kinds) == 0 && d.others == 0 && d.bytes == 0
}

// amount writes a number of things, whose name is a plural.
func amount(n int, things string) string {
	if things = strings.ReplaceAll(things, "_", " "); n == 1 {
		things = declare.Singular(things)
	}
	return human.Number(n) + " " + things
}

// note counts and shows a write.
func (d *Rehearsal) note(call *declare.Call, arguments string) {
	s := call.Spec
	text := ""
	d.mu.Lock()
	switch file := call.Args.Text("file_path"); {
	case file != "":
		size := int64(0)
		if info, err := os.Stat(file); err == nil {
			size = info.Size()
		}
		d.bytes += size
		text = fmt.Sprintf("send %s (%s)", file, human.Size(size))
	case s.Effect == declare.Create && s.Shape != declare.ShapeNone:
		text = "create " + d.count(d.created, kindOf(s), namesIn(call))
	case s.Effect == declare.Delete:
		text = "delete " + d.count(d.deleted, kindOf(s), idsIn(call))
	default:
		d.others++
		text = "call " + s.FullName() + " " + strings.Join(idsIn(call), ", ")
	}
	d.mu.Unlock()
	d.line("would "+strings.TrimSpace(text), s.FullName()+" "+arguments)
}

// count counts things of a kind, and names the first of them.
func (d *Rehearsal) count(counts map[string]int, kind string, names []string) string {
	const most = 3
	n := max(1, len(names))
	if counts[kind] += n; !slices.Contains(d.kinds, kind) {
		d.kinds = append(d.kinds, kind)
	}
	text := strings.TrimPrefix(amount(n, kind), "1 ")
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	slices.Sort(names) // files are inspected concurrently: the same lines each time
	if (n > 1 || kind == "products") && len(names) > 0 {
		text += ":" // a product is named after its analytic
	}
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return text + " " + strings.Join(names, ", ")
}

// kindOf is the plural of what an operation creates or deletes.
func kindOf(s *declare.Spec) string {
	if s.FullName() == "analytics.order" {
		return "products"
	}
	return s.Manager
}

// namesIn are the names of what a call creates, one for each thing.
func namesIn(call *declare.Call) (names []string) {
	for _, p := range call.Spec.Params {
		list, ok := call.Args.Values[p.Name].([]any)
		if !ok || p.Type.Elem() != "object" {
			continue
		}
		for _, item := range list {
			fields, _ := item.(map[string]any)
			name, _ := fields["name"].(string)
			names = append(names, name)
		}
		return names
	}
	if name := call.Args.Text("name"); name != "" {
		names = []string{name}
	}
	return names
}

// idsIn are the ids that the first argument of a call names, unless it is a
// secret.
func idsIn(call *declare.Call) []string {
	if len(call.Spec.Params) == 0 || call.Spec.Params[0].Secret {
		return nil
	}
	switch v := call.Args.Values[call.Spec.Params[0].Name].(type) {
	case string:
		return []string{v}
	case []string:
		return v
	}
	return nil
}
