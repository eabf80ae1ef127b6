package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/filetree"
)

func watchFolder(c *module.Call) (any, error) {
	pattern, shown := c.String("pattern"), c.String("path")
	if !doublestar.ValidatePattern(pattern) {
		return nil, fault.Of(&fault.ParameterError{}, "option pattern: %q is not a pattern", pattern)
	}
	opt := filetree.WatchOptions{Disk: c.In, Existing: c.Bool("existing"), Want: func(p filetree.Entry) bool {
		return doublestar.MatchUnvalidated(pattern, filepath.ToSlash(p.Rel))
	}}
	for name, d := range map[string]*time.Duration{"settle": &opt.Settle, "interval": &opt.Interval, "idle": &opt.Idle} {
		if !c.Has(name) {
			continue
		}
		var err error
		if *d, err = seconds(c, name); err != nil {
			return nil, err
		}
	}
	var w *filetree.Watch
	err := onFile(c, func(path string) error {
		info, err := c.In.Stat(path)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "watch", Path: path, Err: errors.New("is no folder")}
		}
		return err
	})
	if err == nil {
		root := c.In.Path(shown)
		err = c.Blocking(func(ctx context.Context) (err error) { w, err = filetree.NewWatch(ctx, root, opt); return err })
	}
	if err != nil {
		return nil, fileError(c, "path", err)
	}
	return c.L.NewFunction(func(L *lua.LState) int {
		var rel string
		var ok bool
		err := vm.Blocking(L, func(ctx context.Context) (err error) { rel, ok, err = w.Next(ctx); return err })
		if err != nil {
			vm.Raise(L, fault.In("fs.watch", namedFile(shown, err)))
		}
		if !ok {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LString(filepath.Join(shown, rel)))
		return 1
	}), nil
}

var watchFunc = module.Func{
	Name: "watch", Doc: "Iterates over files as they are finished: a file, new or replaced, whose size and time stay unchanged for some seconds. " +
		"Hidden files, and names that end in .part, .tmp and the like, do not count. It goes on until the loop is left, the run ends, or nothing happens for idle seconds.",
	Params: []module.Param{pathParam("the folder"), {Name: "options", Fields: []module.Param{
		{Name: "pattern", Type: "string", Doc: "pattern of the paths, relative to the folder", Default: "**"},
		{Name: "settle", Type: "number", Doc: "seconds a file must not change", Default: 5},
		{Name: "interval", Type: "number", Doc: "seconds between scans of the folder", Default: 2},
		{Name: "existing", Type: "boolean", Doc: "include files that exist already", Default: true},
		{Name: "idle", Type: "number", Doc: "seconds without a change after which the iterator ends; never if left out", Optional: true},
	}}},
	Returns: "an iterator of paths that start with the folder's",
	Call:    watchFolder,
}
