package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"transect/client/human/tabular"
	"transect/runtime/vm"
)

// Line is the cost of one line of a script, or of one operation, to all tasks.
type Line struct {
	Name  string        `json:"name"` // "file:12", "projects.search"
	Spent Spent         `json:"spent"`
	Sum   time.Duration `json:"sum"`
	Waits int           `json:"waits"`
}

// Lines returns at most so many lines of scripts, the costliest first. A line includes what it calls, except Lua
// functions.
func (r *Recorder) Lines(most int) []Line {
	lines := r.sums(func(stack []vm.CallFrame) string {
		for _, f := range slices.Backward(stack) {
			if f.Line > 0 {
				return place(f)
			}
		}
		return ""
	})
	return lines[:min(most, len(lines))]
}

// Operations returns what tasks have waited for, the costliest first.
func (r *Recorder) Operations() []Line {
	return r.sums(func(stack []vm.CallFrame) string {
		if last := stack[len(stack)-1]; last.File == "" {
			return last.Function
		}
		return ""
	})
}

func (r *Recorder) sums(name func(stack []vm.CallFrame) string) []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := map[string]*Line{}
	r.root.visit(nil, func(stack []vm.CallFrame, n *node) {
		if len(stack) == 0 || n.spent == (Spent{}) {
			return
		}
		key := name(stack)
		if key == "" {
			return
		}
		if named[key] == nil {
			named[key] = &Line{Name: key}
		}
		named[key].Spent.add(n.spent)
		named[key].Waits += n.count
	})
	list := []Line{}
	for _, l := range named {
		l.Sum = l.Spent.Sum()
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Summary formats the time of the run and its costliest lines for a screen.
func (r *Recorder) Summary(most int) string {
	var parts []string
	var main Spent // the script itself, which waits for its tasks
	r.mu.Lock()
	if len(r.tracks) > 0 {
		main = r.tracks[0].Spent
	}
	r.mu.Unlock()
	for kind, d := range main {
		if d >= time.Millisecond {
			parts = append(parts, Names[kind]+" "+short(d))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the script took %s: %s\n", short(r.took), strings.Join(parts, ", "))
	if len(r.tracks) > 1 {
		fmt.Fprintf(&b, "the lines below add up its %d tasks, which ran at the same time\n", len(r.tracks))
	}
	rows := []tabular.Row{}
	for _, l := range r.Lines(most) {
		row := tabular.Row{l.Name, short(l.Sum)}
		for _, d := range l.Spent {
			row = append(row, short(d))
		}
		rows = append(rows, row)
	}
	return b.String() + tabular.Table(header(), rows) + "\n"
}

func header() tabular.Row {
	row := tabular.Row{"line", "time"}
	for _, name := range Names {
		row = append(row, name)
	}
	return row
}

// short formats a time for tables, "" when it is next to nothing.
func short(d time.Duration) string {
	switch {
	case d < 50*time.Microsecond:
		return ""
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return d.Round(100 * time.Millisecond).String()
}
