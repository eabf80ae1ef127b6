package stdlib

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// walker goes through a tree one entry at a time, folder by folder, so that
// the largest takes little memory.
type walker struct {
	in          *vm.Interp
	root, shown string // the folder, and how results begin
	stack       []place
	depth       int
	want        func(place) bool
}

// place is something in the tree.
type place struct {
	rel   string
	entry fs.DirEntry
	depth int
}

func newWalker(in *vm.Interp, root, shown string, depth int, want func(place) bool) *walker {
	return &walker{in: in, root: root, shown: shown, depth: depth, want: want, stack: []place{{rel: "."}}}
}

// next finds the next wanted entry; ok is false at the end. After an error it
// goes on behind the folder that could not be read.
func (w *walker) next(ctx context.Context) (p place, info fs.FileInfo, ok bool, err error) {
	for len(w.stack) > 0 {
		if err := ctx.Err(); err != nil {
			return p, nil, false, err
		}
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if p.entry == nil || p.entry.IsDir() && p.depth < w.depth {
			entries, err := os.ReadDir(filepath.Join(w.root, p.rel))
			if err != nil && (p.entry == nil || !errors.Is(err, fs.ErrNotExist)) {
				return p, nil, false, err
			}
			slices.Reverse(entries) // the first is taken off last
			for _, e := range entries {
				w.stack = append(w.stack, place{filepath.Join(p.rel, e.Name()), e, p.depth + 1})
			}
		}
		if p.entry == nil || !w.want(p) {
			continue
		}
		info, err := w.in.Stat(filepath.Join(w.root, p.rel))
		if errors.Is(err, fs.ErrNotExist) {
			info, err = p.entry.Info() // a link to nothing
		}
		var outside *fault.PermissionError
		switch linked := err == nil && info.IsDir() && !p.entry.IsDir(); {
		case linked, errors.Is(err, fs.ErrNotExist), errors.As(err, &outside):
			continue // a link to a folder, or out of those allowed; or gone meanwhile
		}
		return p, info, err == nil, err
	}
	return p, nil, false, nil
}

// iterator makes the Lua function that gives path and description.
func (w *walker) iterator(c *vm.Call) lua.LValue {
	name := c.Name
	return c.L.NewFunction(func(L *lua.LState) int {
		var p place
		var info fs.FileInfo
		ok := false
		err := vm.Blocking(L, func(ctx context.Context) (err error) { p, info, ok, err = w.next(ctx); return err })
		if err != nil {
			vm.Raise(L, fault.In(name, namedFile(filepath.Join(w.shown, p.rel), err)))
		}
		if !ok {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LString(filepath.Join(w.shown, p.rel)))
		L.Push(vm.ToLua(L, describe(info)))
		return 2
	})
}

// namedFile is a FileError about a file under the name scripts know.
func namedFile(name string, err error) error {
	var p *fs.PathError
	if !errors.As(err, &p) || fault.Find(err) != nil {
		return err
	}
	return fault.Of(&fault.FileError{}, "%s: %w", name, p.Err)
}

func describe(info fs.FileInfo) map[string]any {
	return map[string]any{"name": info.Name(), "size": info.Size(), "type": fileType(info.Mode()),
		"modified": float64(info.ModTime().UnixMilli()) / 1000}
}

func walk(c *vm.Call) (any, error) {
	root, depth, kind := c.In.Path(c.String("path")), c.Int("depth"), c.String("type")
	if depth < 1 {
		return nil, fault.Of(&fault.ParameterError{}, "option depth must be at least 1, got %d", depth)
	}
	err := onFile(c, func(path string) error {
		info, err := c.In.Stat(path)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "walk", Path: path, Err: errors.New("is no folder")}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	hidden := c.Bool("hidden")
	w := newWalker(c.In, root, c.String("path"), depth, func(p place) bool {
		return (hidden || !strings.HasPrefix(p.entry.Name(), ".")) && (kind == "any" || p.entry.IsDir() == (kind == "dir"))
	})
	return w.iterator(c), nil
}

// find goes through the files a pattern matches.
func find(c *vm.Call) (any, error) {
	pattern := filepath.ToSlash(c.String("pattern"))
	if !doublestar.ValidatePattern(pattern) {
		return nil, fault.Of(&fault.ParameterError{}, "%q is not a pattern", pattern)
	}
	start, rest := doublestar.SplitPattern(pattern)
	shown := filepath.FromSlash(start)
	root := c.In.Path(filepath.Join(c.String("dir"), shown))
	if c.String("dir") == "" {
		root = c.In.Path(shown)
	}
	if err := c.In.Permit(vm.Read, root); err != nil {
		return nil, err
	}
	depth := strings.Count(rest, "/") + 1
	if strings.Contains(rest, "**") {
		depth = 1 << 20
	}
	w := newWalker(c.In, root, shown, depth, func(p place) bool {
		return !p.entry.IsDir() && doublestar.MatchUnvalidated(rest, filepath.ToSlash(p.rel))
	})
	return w.iterator(c), nil
}

// readLines goes through the lines of a file.
func readLines(c *vm.Call) (any, error) {
	name, path := c.String("path"), c.In.Path(c.String("path"))
	var f *os.File
	err := c.Blocking(func(context.Context) (err error) { f, err = c.In.Open(path, os.O_RDONLY, 0); return err })
	if err != nil {
		return nil, fileError(c, "path", err)
	}
	closeAtEnd(c.In, f)
	source := newLines(f)
	return c.L.NewFunction(func(L *lua.LState) int {
		var line string
		var ok bool
		err := vm.Blocking(L, func(context.Context) (err error) { line, ok, err = source.next(); return err })
		if err != nil {
			vm.Raise(L, fault.In("fs.lines", namedFile(name, err)))
		}
		if !ok {
			_ = f.Close() // it was only read
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LString(line))
		L.Push(lua.LNumber(source.number))
		return 2
	}), nil
}

// lines takes lines off a file or text.
type lines struct {
	r      *bufio.Reader
	number int
	over   bool
}

const longestLine = 64 << 20

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next is the next line without its end.
func (l *lines) next() (line string, ok bool, err error) {
	if l.over {
		return "", false, nil
	}
	var long []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		if len(long)+len(piece) > longestLine {
			return "", false, fault.Of(&fault.LimitError{}, "line %d is longer than %d MiB", l.number+1, longestLine>>20)
		}
		if err == bufio.ErrBufferFull {
			long = append(long, piece...)
			continue
		}
		if err != nil {
			l.over = true
			if err != io.EOF {
				return "", false, err
			}
			if len(long)+len(piece) == 0 {
				return "", false, nil
			}
		}
		l.number++
		text := string(append(long, piece...))
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), true, nil
	}
}
