package debug

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"transect/client/fault"
	"transect/runtime/vm"
)

// Breakpoint is a line at which the script stops.
type Breakpoint struct {
	ID        int
	File      string // as Debugger.Path returns it
	Line      int
	Condition string // stops only if it is true; "": always
	Log       string // printed instead of stopping; {expressions} in it are replaced
}

// Add adds a breakpoint to a file, at the next line with code.
func (d *Debugger) Add(file string, b *Breakpoint) error {
	path := filepath.Clean(d.Path(file))
	if err := place(path, b); err != nil {
		return err
	}
	d.Set(path, append(d.Breakpoints(path), b))
	return nil
}

// place moves a breakpoint to the next line with code.
func place(path string, b *Breakpoint) error {
	code, err := os.ReadFile(path)
	if err != nil {
		return fault.Of(&fault.UsageError{}, "cannot read %s: %w", path, fault.Reason(err))
	}
	if b.Condition != "" {
		if err := vm.CheckExpression(b.Condition); err != nil {
			return fault.Of(&fault.UsageError{}, "the condition %s is not an expression: %w", b.Condition, err)
		}
	}
	for _, line := range vm.Lines(path, code) {
		if line >= b.Line {
			b.Line = line
			return nil
		}
	}
	return fault.Of(&fault.UsageError{}, "%s has no code at line %d or after it", path, b.Line)
}

// Replace replaces the breakpoints of a file, as editors set them. It returns an error for each that could
// not be set, otherwise nil.
func (d *Debugger) Replace(path string, list []*Breakpoint) []error {
	path = filepath.Clean(path)
	failures, set := make([]error, len(list)), []*Breakpoint(nil)
	for i, b := range list {
		if failures[i] = place(path, b); failures[i] == nil {
			set = append(set, b)
		}
	}
	d.Set(path, set)
	return failures
}

// Set replaces the breakpoints of a file.
func (d *Debugger) Set(path string, list []*Breakpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := map[int]*Breakpoint{}
	for _, b := range list {
		if b.ID == 0 {
			d.lastID++
			b.ID = d.lastID
		}
		b.File = path
		lines[b.Line] = b
	}
	d.points[path] = lines
}

// Remove removes a breakpoint.
func (d *Debugger) Remove(b *Breakpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.points[b.File], b.Line)
}

// Breakpoints lists the breakpoints of a file, or of all files when it is "".
func (d *Debugger) Breakpoints(path string) (list []*Breakpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, lines := range d.points {
		for _, b := range lines {
			if path == "" || name == path {
				list = append(list, b)
			}
		}
	}
	slices.SortFunc(list, func(a, b *Breakpoint) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func (d *Debugger) point(path string, line int) *Breakpoint {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.points[path][line]
}
