package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/filetree"
)

// treeIterator makes the Lua function that gives path and description; shown
// is how paths begin.
func treeIterator(c *module.Call, w *filetree.Walker, shown string) lua.LValue {
	name := c.Name
	return c.L.NewFunction(func(L *lua.LState) int {
		var p filetree.Entry
		var info fs.FileInfo
		ok := false
		err := vm.Blocking(L, func(ctx context.Context) (err error) { p, info, ok, err = w.Next(ctx); return err })
		if err != nil {
			vm.Raise(L, fault.In(name, namedFile(filepath.Join(shown, p.Rel), err)))
		}
		if !ok {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LString(filepath.Join(shown, p.Rel)))
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

func walk(c *module.Call) (any, error) {
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
	w := filetree.Walk(root, depth, c.In, func(p filetree.Entry) bool {
		return (hidden || !strings.HasPrefix(p.DirEntry.Name(), ".")) && (kind == "any" || p.DirEntry.IsDir() == (kind == "dir"))
	})
	return treeIterator(c, w, c.String("path")), nil
}

// find goes through the files a pattern matches.
func find(c *module.Call) (any, error) {
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
	if err := c.In.Permit(sandbox.Read, root); err != nil {
		return nil, err
	}
	depth := strings.Count(rest, "/") + 1
	if strings.Contains(rest, "**") {
		depth = filetree.Unlimited
	}
	w := filetree.Walk(root, depth, c.In, func(p filetree.Entry) bool {
		return !p.DirEntry.IsDir() && doublestar.MatchUnvalidated(rest, filepath.ToSlash(p.Rel))
	})
	return treeIterator(c, w, shown), nil
}
