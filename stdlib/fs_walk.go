package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sync/semaphore"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/stdlib/internal/filetree"
	"transect/stdlib/internal/lines"
)

// fileLines iterates over the lines of the file named by the argument path. value converts a line, yielded
// with its number; nil skips it.
func fileLines(c *module.Call, value func(line string, number int) (any, error)) (any, error) {
	f := atPath(c, c.In.OpenToRead)
	c.In.OnClose(func() { _ = f.Close() }) // when the loop is left early
	name, source := c.String("path"), lines.New(f)
	source.Fits = c.In.Fits
	return blockingIterator(c, func(context.Context) (module.Values, error) {
		for {
			line, ok, err := source.Next()
			if !ok || err != nil {
				_ = f.Close() // it was only read
				return nil, namedFile(name, err)
			}
			if v, err := value(line, source.Number()); v != nil || err != nil {
				return module.Values{v, source.Number()}, err
			}
		}
	}), nil
}

// blockingIterator returns an iterator whose steps run without the interpreter lock, one at a time.
func blockingIterator(c *module.Call, next func(ctx context.Context) (module.Values, error)) any {
	stepping := semaphore.NewWeighted(1) // several tasks may share the iterator
	return c.Iterator(func(c *module.Call) (values module.Values, err error) {
		err = c.Blocking(func(ctx context.Context) error {
			if err := stepping.Acquire(ctx, 1); err != nil {
				return err
			}
			defer stepping.Release(1)
			values, err = next(ctx)
			return err
		})
		return values, err
	})
}

// treeIterator yields paths and descriptions; shown is the prefix of the paths.
func treeIterator(c *module.Call, w *filetree.Walker, shown string) any {
	return blockingIterator(c, func(ctx context.Context) (module.Values, error) {
		e, info, ok, err := w.Next(ctx)
		path := filepath.Join(shown, e.Rel)
		if !ok || err != nil {
			return nil, namedFile(path, err)
		}
		return module.Values{path, describe(info)}, nil
	})
}

// needFolder raises unless the argument path is a folder.
func needFolder(c *module.Call) {
	c.Must(onFile(c, func(ctx context.Context, path string) error {
		info, err := c.In.Stat(path)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Path: path, Err: errors.New("is not a folder")}
		}
		return err
	}))
}

func walk(c *module.Call) (any, error) {
	needFolder(c)
	hidden, kind := c.Bool("hidden"), c.String("type")
	w := filetree.Walk(c.In.Path(c.String("path")), c.Int("depth"), c.In.Sandbox, func(e filetree.Entry) bool {
		return (hidden || !strings.HasPrefix(e.Name(), ".")) && (kind == "any" || e.IsDir() == (kind == "dir"))
	})
	w.SkipUnreadable = c.Bool("skip_unreadable")
	return treeIterator(c, w, c.String("path")), nil
}

// splitPattern splits the argument pattern into the folder it starts in, as a path and as shown in results,
// and the rest.
func splitPattern(c *module.Call) (root, shown, rest string) {
	pattern := filepath.ToSlash(c.String("pattern"))
	if !doublestar.ValidatePattern(pattern) {
		c.Raise(fault.Of(&fault.ParameterError{}, "%q is not a pattern", pattern))
	}
	dir := c.String("dir")
	if pattern = path.Clean(pattern); dir != "" {
		pattern = strings.TrimLeft(pattern, "/") // relative to dir, as the results are
	}
	shown, rest = doublestar.SplitPattern(pattern)
	shown = filepath.FromSlash(shown)
	root = c.In.Path(shown)
	if dir != "" {
		root = c.In.Path(filepath.Join(dir, shown))
	}
	c.Must(c.In.Permit(sandbox.Read, root))
	return root, shown, rest
}

func glob(c *module.Call) (any, error) {
	root, shown, rest := splitPattern(c)
	found := []string{}
	err := c.Blocking(func(context.Context) error {
		matches, err := doublestar.Glob(readable{c.In.Sandbox, root}, rest, doublestar.WithFilesOnly())
		for _, name := range matches {
			if c.In.Permit(sandbox.Read, filepath.Join(root, name)) == nil { // links can leave a folder
				found = append(found, filepath.Join(shown, name))
			}
		}
		return err
	})
	slices.Sort(found)
	return found, namedFile(c.String("pattern"), err)
}

// readable is a folder for doublestar, without paths the script may not read.
type readable struct {
	*sandbox.Sandbox
	folder string
}

func (r readable) Open(name string) (fs.File, error) {
	f, err := r.OpenToRead(filepath.Join(r.folder, name))
	return f, hidden(err)
}

func (r readable) Stat(name string) (fs.FileInfo, error) {
	info, err := r.Sandbox.Stat(filepath.Join(r.folder, name))
	return info, hidden(err)
}

func (r readable) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := r.Sandbox.ReadDir(filepath.Join(r.folder, name))
	return entries, hidden(err)
}

func hidden(err error) error {
	if _, denied := errors.AsType[*fault.PermissionError](err); denied {
		return fs.ErrNotExist
	}
	return err
}

func find(c *module.Call) (any, error) {
	root, shown, rest := splitPattern(c)
	depth := strings.Count(rest, "/") + 1
	if strings.Contains(rest, "**") {
		depth = filetree.Unlimited
	}
	w := filetree.Walk(root, depth, c.In.Sandbox, func(e filetree.Entry) bool {
		return !e.IsDir() && doublestar.MatchUnvalidated(rest, filepath.ToSlash(e.Rel))
	})
	return treeIterator(c, w, shown), nil
}

func watch(c *module.Call) (any, error) {
	pattern, shown := c.String("pattern"), c.String("path")
	if !doublestar.ValidatePattern(pattern) {
		return nil, fault.Of(&fault.ParameterError{}, "option pattern: %q is not a pattern", pattern)
	}
	opt := filetree.WatchOptions{Disk: c.In.Sandbox, Existing: c.Bool("existing"),
		Settle: c.Seconds("settle"), Interval: c.Seconds("interval"), Idle: c.Seconds("idle"),
		Want: func(e filetree.Entry) bool { return doublestar.MatchUnvalidated(pattern, filepath.ToSlash(e.Rel)) }}
	needFolder(c)
	var w *filetree.Watch
	root := c.In.Path(shown)
	c.Must(namedFile(shown, c.Blocking(func(ctx context.Context) (err error) {
		w, err = filetree.NewWatch(ctx, root, opt)
		return err
	})))
	return blockingIterator(c, func(ctx context.Context) (module.Values, error) {
		rel, ok, err := w.Next(ctx)
		if !ok || err != nil {
			return nil, namedFile(shown, err)
		}
		return module.Values{filepath.Join(shown, rel)}, nil
	}), nil
}
