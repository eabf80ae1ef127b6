package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// watch waits for files to be finished: as long in one size and with one time
// as settle says. It looks at the folder again and again, which works on every
// disk, memory card and network share, where notices of the system do not.
type watch struct {
	in                     *vm.Interp
	root, shown, pattern   string
	settle, interval, idle time.Duration
	known                  map[string]*sight
	ready                  []string
	latest                 time.Time // when something happened last
}

// sight is how a file was seen.
type sight struct {
	size     int64
	modified time.Time
	since    time.Time
	given    bool
	present  bool
}

// unfinished are the names under which programs write what is not yet whole.
var unfinished = []string{".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".filepart", ".!ut", "~"}

func temporary(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(name, ".") || slices.ContainsFunc(unfinished, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// look goes through the folder once.
func (w *watch) look(ctx context.Context, first, existing bool) error {
	now := time.Now()
	for _, s := range w.known {
		s.present = false
	}
	tree := newWalker(w.in, w.root, "", 1<<20, func(p place) bool {
		return !p.entry.IsDir() && !temporary(p.entry.Name()) && doublestar.MatchUnvalidated(w.pattern, filepath.ToSlash(p.rel))
	})
	for {
		p, info, ok, err := tree.next(ctx)
		if errors.Is(err, fs.ErrPermission) && p.rel != "." {
			continue // a folder of the system, perhaps
		}
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if !info.Mode().IsRegular() {
			continue
		}
		s := w.known[p.rel]
		switch {
		case s == nil:
			s = &sight{size: info.Size(), modified: info.ModTime(), since: now, given: first && !existing}
			w.known[p.rel] = s
			w.latest = now
		case s.size != info.Size() || !s.modified.Equal(info.ModTime()):
			*s = sight{size: info.Size(), modified: info.ModTime(), since: now}
			w.latest = now
		}
		s.present = true
		if !s.given && now.Sub(s.since) >= w.settle {
			s.given = true
			w.ready = append(w.ready, p.rel)
		}
	}
	maps.DeleteFunc(w.known, func(_ string, s *sight) bool { return !s.present })
	return nil
}

// next waits for a finished file; ok is false when nothing happened for too
// long.
func (w *watch) next(ctx context.Context) (rel string, ok bool, err error) {
	for len(w.ready) == 0 {
		if err := w.look(ctx, false, false); err != nil {
			return "", false, err
		}
		if len(w.ready) > 0 {
			break
		}
		if w.idle > 0 && time.Since(w.latest) >= w.idle {
			return "", false, nil
		}
		if err := sleep(ctx, w.interval); err != nil {
			return "", false, err
		}
	}
	rel, w.ready = w.ready[0], w.ready[1:]
	w.latest = time.Now()
	return rel, true, nil
}

func watchFolder(c *vm.Call) (any, error) {
	w := &watch{in: c.In, root: c.In.Path(c.String("path")), shown: c.String("path"), pattern: c.String("pattern"), known: map[string]*sight{}, latest: time.Now()}
	if !doublestar.ValidatePattern(w.pattern) {
		return nil, fault.Of(&fault.ParameterError{}, "option pattern: %q is not a pattern", w.pattern)
	}
	for name, d := range map[string]*time.Duration{"settle": &w.settle, "interval": &w.interval, "idle": &w.idle} {
		if !c.Has(name) {
			continue
		}
		var err error
		if *d, err = seconds(c, name); err != nil {
			return nil, err
		}
	}
	w.interval = max(w.interval, time.Millisecond)
	existing := c.Bool("existing")
	err := onFile(c, func(path string) error {
		info, err := c.In.Stat(path)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "watch", Path: path, Err: errors.New("is no folder")}
		}
		return err
	})
	if err == nil {
		err = c.Blocking(func(ctx context.Context) error { return w.look(ctx, true, existing) })
	}
	if err != nil {
		return nil, fileError(c, "path", err)
	}
	return c.L.NewFunction(func(L *lua.LState) int {
		var rel string
		var ok bool
		err := vm.Blocking(L, func(ctx context.Context) (err error) { rel, ok, err = w.next(ctx); return err })
		if err != nil {
			vm.Raise(L, fault.In("fs.watch", namedFile(w.shown, err)))
		}
		if !ok {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LString(filepath.Join(w.shown, rel)))
		return 1
	}), nil
}

var watchFunc = vm.Func{
	Name: "watch", Doc: "Waits for files that are finished, one after the other: a file that stays as it is for some seconds, also one that was replaced. " +
		"Hidden files, and names that end in .part, .tmp and the like, do not count. It goes on until the loop is left, the run ends, or nothing happens for idle seconds.",
	Params: []vm.Param{pathParam("the folder"), {Name: "options", Fields: []vm.Param{
		{Name: "pattern", Type: "string", Doc: "which files, from the folder on", Default: "**"},
		{Name: "settle", Type: "number", Doc: "seconds a file must not change", Default: 5},
		{Name: "interval", Type: "number", Doc: "seconds between looks at the folder", Default: 2},
		{Name: "existing", Type: "boolean", Doc: "also files that are there already", Default: true},
		{Name: "idle", Type: "number", Doc: "seconds without a change after which the iterator ends; without it, it never does", Optional: true},
	}}},
	Returns: "an iterator of paths that start with the folder's",
	Example: `local fs, path = require("fs"), require("path")
fs.mkdir("card")
fs.write("card/DJI_0001.JPG", "…")
fs.write("card/DJI_0002.JPG.part", "…")
local names = {}
for file in fs.watch("card", { pattern = "**/*.{jpg,JPG}", settle = 0.01, interval = 0.005, idle = 0.05 }) do
  names[#names + 1] = path.base(file)
end
assert(#names == 1 and names[1] == "DJI_0001.JPG")`,
	Call: watchFolder,
}
