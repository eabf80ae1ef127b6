package plan

import (
	"context"
	"crypto/md5" // the protocol's checksum, not a protection
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/checksum"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/human"
	"transect/scripts"
)

// Drift lists changes since a plan was made, so that nothing is sent.
type Drift struct {
	fault.PlanError
	Changes []string // the first ones
}

// ExitCodeOfRun returns the exit code of a run that ends with the error; see runtime.ExitDrift.
func (d *Drift) ExitCodeOfRun() int { return 9 }

// drifted returns the error for a plan that no longer holds.
func (p *Plan) drifted(changes []string) error {
	if len(changes) == 0 {
		return nil
	}
	const most = 10
	for i := range changes {
		changes[i] = human.Line(changes[i])
	}
	slices.Sort(changes)
	changes = slices.Compact(changes)
	text := changes
	if len(text) > most {
		text = append(slices.Clone(text[:most]), fmt.Sprintf("and %d more", len(changes)-most))
	}
	d := &Drift{Changes: text}
	d.Message = "the plan no longer holds, and nothing was sent:\n  " + strings.Join(text, "\n  ")
	d.Hint = p.Refresh() + " plans again and shows the difference"
	return d
}

// CheckFiles compares the script, its modules and the files yet to be sent with the plan. code reads a module
// that is not a file.
func (g *Gate) CheckFiles(code func(name string) ([]byte, error)) error {
	p := g.Plan
	changes := p.codeChanges(code)
	waiting := map[string]bool{}
	for _, w := range p.Writes {
		waiting[w.File] = waiting[w.File] || g.state[w.Number] != done
	}
	for _, f := range p.Files {
		if !waiting[f.Path] {
			continue
		}
		switch changed, err := f.changed(p.path(f.Path)); {
		case err != nil:
			changes = append(changes, fmt.Sprintf("the file %s: %v", f.Path, fault.Reason(err)))
		case changed:
			changes = append(changes, "the file "+f.Path+" was changed")
		}
	}
	return p.drifted(changes)
}

// changed reports whether the file at a path is another one than was planned. A file of the
// same size that was touched since is read: programs that write metadata into photos keep
// its modification time, and copies of the same content have another one.
func (f *File) changed(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return false, err
	case info.Size() != f.Size, !info.Mode().IsRegular():
		return true, nil
	case info.ModTime().Equal(f.Modified) && !f.Changed.IsZero() && changeTime(path).Equal(f.Changed):
		return false, nil
	}
	is, err := sumOf(files.Tree{}, path)
	return is != f.MD5, err
}

// sumOf returns the MD5 of a file.
func sumOf(tree files.Tree, path string) (string, error) {
	file, err := tree.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := md5.New()
	_, err = io.Copy(hash, file)
	return checksum.Hex(hash), err
}

// path resolves a path of the plan relative to its folder.
func (p *Plan) path(name string) string {
	if filepath.IsAbs(name) || scripts.IsRef(name) {
		return name
	}
	return filepath.Join(p.Folder, name)
}

func (p *Plan) codeChanges(code func(name string) ([]byte, error)) (changes []string) {
	for _, c := range p.Code {
		if text, err := code(p.path(c.File)); err != nil {
			changes = append(changes, "the script "+c.File+" cannot be read: "+fault.Reason(err).Error())
		} else if sum(text) != c.Sum {
			changes = append(changes, "the script "+c.File+" was changed")
		}
	}
	return changes
}

// Check compares the plan with a platform: lookups return what they returned, and records to be changed or
// deleted are unchanged.
func (p *Plan) Check(ctx context.Context, c *client.Client, platform string) error {
	const atOnce = 8
	var mu sync.Mutex
	var changes []string
	tell := func(change string) {
		if change != "" {
			mu.Lock()
			defer mu.Unlock()
			changes = append(changes, change)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, r := range p.Reads {
		if r.Platform == platform {
			group.Go(func() error {
				change, err := r.compare(ctx, c)
				tell(change)
				return err
			})
		}
	}
	for _, w := range p.Writes {
		if w.Platform == platform && w.Before != nil {
			group.Go(func() error {
				change, err := p.compare(ctx, c, w)
				tell(change)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return p.drifted(changes)
}

// compare describes what a lookup finds now and did not find before.
func (r *Read) compare(ctx context.Context, c *client.Client) (string, error) {
	_, args, err := r.call()
	if err != nil {
		return "", err
	}
	s := c.Operation(r.Operation)
	if s == nil { // another revision of the interface
		return r.Operation + " is not an operation of this connection", nil
	}
	var now []string
	v, err := s.Invoke(ctx, args)
	switch {
	case fault.Status(err) >= 400 && fault.Status(err) < 500:
	case err != nil:
		return "", err
	default:
		now = found(v)
	}
	more, gone := without(now, r.Found), without(r.Found, now)
	if len(more)+len(gone) == 0 {
		return "", nil
	}
	var parts []string
	if len(more) > 0 {
		parts = append(parts, "finds "+strings.Join(more, ", ")+" as well")
	}
	if len(gone) > 0 {
		parts = append(parts, "no longer finds "+strings.Join(gone, ", "))
	}
	return fmt.Sprintf("%s (%s) %s", r.Operation, place(r.Position), strings.Join(parts, ", and ")), nil
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// changes reports whether the plan creates or deletes records of some managers before a write.
func (p *Plan) changes(kinds []string, before *Write) bool {
	return slices.ContainsFunc(p.Writes[:min(before.Number-1, len(p.Writes))], func(w *Write) bool {
		return slices.Contains(kinds, w.Things) && w.Kind != Change
	})
}

// compare describes changes of the record that a write changes or deletes.
func (p *Plan) compare(ctx context.Context, c *client.Client, w *Write) (string, error) {
	manager, _, _ := strings.Cut(w.Operation, ".")
	m := c.Manager(manager)
	if m == nil {
		return "", fmt.Errorf("there is no manager %s", manager)
	}
	record, ok, err := m.Read(ctx, w.Before.ID, nil)
	what := declare.Singular(manager) + " " + w.Before.ID
	if w.Before.Name != "" {
		what = fmt.Sprintf("%s %q", declare.Singular(manager), w.Before.Name)
	}
	switch {
	case err != nil:
		return "", err
	case ok && record == nil:
		return "the " + what + " was deleted", nil
	case ok && stateOf(record, part{subject: w.Before.ID}).differs(w.Before):
		return "the " + what + " was changed", nil
	case w.Kind == Delete && m.Holds != nil:
		if now := holdings(ctx, c, manager, w.Before.ID); !p.changes(m.Holds, w) && !slices.Equal(now, w.Before.Holds) {
			return "what the " + what + " holds was changed", nil
		}
	}
	return "", nil
}

// differs reports whether a record was changed, by its modification date if it has one.
func (b *Before) differs(earlier *Before) bool {
	if b.Modified != "" || earlier.Modified != "" {
		return b.Modified != earlier.Modified
	}
	return b.Sum != earlier.Sum
}
