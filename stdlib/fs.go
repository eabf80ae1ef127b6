package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/stdlib/internal/filetree"
)

func pathParam(doc string) module.Param { return module.Param{Name: "path", Type: "string", Doc: doc} }

var (
	overwriteOption = module.Param{Name: "overwrite", Type: "boolean", Doc: "replace an existing file", Default: true}
	fromParam       = module.Param{Name: "from", Type: "string", Doc: "the source path"}
	toParam         = module.Param{Name: "to", Type: "string", Doc: "the new path, or the folder to put it in"}
	patternParams   = []module.Param{{Name: "pattern", Type: "string", Doc: "such as flight/**/*.{jpg,JPG}"},
		{Name: "options", Fields: []module.Param{
			{Name: "dir", Type: "string", Doc: "folder the pattern starts in; results are relative to it", Optional: true},
		}}}
)

var fsModule = &module.Module{
	Name: "fs",
	Doc:  "Reads and writes files and folders. Writes are atomic: to a temporary file, then renamed.",
	Lazy: fsFuncs,
}

func fsFuncs() []module.Func {
	return []module.Func{
		{
			Name: "read", Doc: "Reads a whole file.", Params: []module.Param{pathParam("the file")}, Returns: "its bytes",
			Call: func(c *module.Call) (any, error) { return atPath(c, c.In.ReadFile), nil },
		},
		{
			Name: "write", Doc: "Writes a file atomically: readers see the old or the new content, also after a crash.",
			Params: []module.Param{pathParam("the file"), {Name: "text", Type: "string", Doc: "its bytes"},
				{Name: "options", Fields: []module.Param{overwriteOption}}},
			Call: write,
		},
		kindFunc("exists", "Reports whether a file or folder exists.", func(fs.FileMode) bool { return true }),
		kindFunc("is_file", "Reports whether a path is a file.", fs.FileMode.IsRegular),
		kindFunc("is_dir", "Reports whether a path is a folder.", fs.FileMode.IsDir),
		{
			Name: "stat", Doc: "Describes a file or folder.", Params: []module.Param{pathParam("a path")},
			Returns: "a table: name, size in bytes, type (file, dir or other), modified in seconds since 1970",
			Call:    func(c *module.Call) (any, error) { return describe(atPath(c, c.In.Stat)), nil },
		},
		{
			Name: "list", Doc: "Lists the names in a folder, sorted.", Params: []module.Param{{Name: "path", Type: "string",
				Doc: "the folder", Default: "."}},
			Returns: "a list of names",
			Call: func(c *module.Call) (any, error) {
				entries := atPath(c, c.In.ReadDir)
				names := make([]string, len(entries))
				for i, e := range entries {
					names[i] = e.Name()
				}
				return names, nil
			},
		},
		{
			Name: "glob", Doc: "Finds files by pattern: * and ? inside a name, ** through folders, {a,b} for either.",
			Params: patternParams, Returns: "a sorted list of paths", Call: glob,
		},
		{
			Name:   "find",
			Doc:    "Iterates over the files matching a pattern, in the order of glob, without listing all folders first.",
			Params: patternParams, Returns: "an iterator of paths, each with a description as of stat", Call: find,
		},
		{
			Name: "walk",
			Doc:  "Iterates over everything below a folder, sorted within each folder. Links to folders are not followed.",
			Params: []module.Param{pathParam("the folder"), {Name: "options", Fields: []module.Param{
				{Name: "type", Type: "string", Doc: "what to return", Default: "file", Choices: []string{"file", "dir", "any"}},
				{Name: "depth", Type: "integer", Doc: "maximum depth; 1 is the folder alone", Default: filetree.Unlimited,
					Min: new(1.0)},
				{Name: "hidden", Type: "boolean", Doc: "include names that begin with a dot", Default: true},
				{Name: "skip_unreadable", Type: "boolean", Doc: "skip folders that may not be read", Default: false},
			}}},
			Returns: "an iterator of paths that start with the folder's, each with a description as of stat",
			Call:    walk,
		},
		{
			Name: "lines", Doc: "Iterates over the lines of a file of any size.", Params: []module.Param{pathParam("the file")},
			Returns: "an iterator of lines without line endings, each with its number",
			Call: func(c *module.Call) (any, error) {
				return fileLines(c, func(line string, _ int) (any, error) { return line, nil })
			},
		},
		{
			Name: "mkdir", Doc: "Creates a folder and its parents; an existing one is not an error.",
			Params: []module.Param{pathParam("the folder")},
			Call:   func(c *module.Call) (any, error) { return nil, onFile(c, c.In.MakeFolder) },
		},
		{
			Name: "remove",
			Doc: "Removes a file or an empty folder; recursive removes a folder with its contents. A missing path is not an " +
				"error.",
			Params: []module.Param{pathParam("what to remove"), {Name: "options", Fields: []module.Param{
				{Name: "recursive", Type: "boolean", Doc: "including its contents", Default: false},
			}}},
			Call: func(c *module.Call) (any, error) {
				all := c.Bool("recursive")
				err := onFile(c, func(ctx context.Context, path string) error { return c.In.Remove(ctx, path, all) })
				if missing(err) {
					err = nil
				}
				return nil, err
			},
		},
		{
			Name: "copy",
			Doc: "Copies a file atomically, with its permissions and modification time; recursive copies a folder into a new " +
				"or existing one.",
			Params: []module.Param{fromParam, toParam, {Name: "options", Fields: []module.Param{overwriteOption,
				{Name: "recursive", Type: "boolean", Doc: "copy a folder with its contents", Default: false}}}},
			Returns: "how many files were copied",
			Call: func(c *module.Call) (any, error) {
				w := filetree.Copier{Disk: c.In.Sandbox, Overwrite: c.Bool("overwrite"), Recursive: c.Bool("recursive")}
				err := fromTo(c, w.Copy)
				return w.Count, err
			},
		},
		{
			Name: "move", Doc: "Renames or moves a file or folder, also across file systems.",
			Params: []module.Param{fromParam, toParam, {Name: "options", Fields: []module.Param{overwriteOption}}},
			Call: func(c *module.Call) (any, error) {
				w := filetree.Copier{Disk: c.In.Sandbox, Overwrite: c.Bool("overwrite")}
				return nil, fromTo(c, w.Move)
			},
		},
		{
			Name: "append", Doc: "Appends to a file, which is created when missing.",
			Params: []module.Param{pathParam("the file"), {Name: "text", Type: "string", Doc: "the bytes to append"}},
			Call: func(c *module.Call) (any, error) {
				text := c.String("text")
				return nil, onFile(c, func(ctx context.Context, path string) error {
					f, err := c.In.Open(ctx, path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
					if err != nil {
						return err
					}
					_, err = f.WriteString(text)
					return errors.Join(err, f.Close())
				})
			},
		},
		{
			Name: "temp_dir", Doc: "Creates a temporary folder, removed when the run ends.", Returns: "its path",
			Call: func(c *module.Call) (any, error) {
				dir, err := c.In.TempDir("transect-")
				return dir, ownPath(err)
			},
		},
		{
			Name: "temp_file", Doc: "Creates an empty temporary file, removed when the run ends.",
			Params: []module.Param{{Name: "name", Type: "string", Doc: "its name, in a folder of its own",
				Default: "file"}}, Returns: "its path",
			Call: func(c *module.Call) (any, error) {
				name := c.String("name")
				if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
					return nil, fault.Of(&fault.ParameterError{}, "argument name must be the name of a file, without a folder, got %q",
						name)
				}
				dir, err := c.In.TempDir("transect-")
				c.Must(ownPath(err))
				path := filepath.Join(dir, name)
				f, err := c.In.Open(c.Context(), path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				if err == nil {
					err = f.Close()
				}
				return path, ownPath(err)
			},
		},
		{
			Name: "watch", Doc: "Iterates over files as they are finished: a file, new or replaced, whose size and time stay " +
				"unchanged for some seconds. " +
				"Hidden files, and names that end in .part, .tmp and the like, do not count. It goes on until the loop is left, " +
				"the run ends, or nothing happens for idle seconds.",
			Params: []module.Param{pathParam("the folder"), {Name: "options", Fields: []module.Param{
				{Name: "pattern", Type: "string", Doc: "pattern of the paths, relative to the folder", Default: "**"},
				secondsParam(module.Param{Name: "settle", Doc: "seconds a file must not change", Default: 5}),
				secondsParam(module.Param{Name: "interval", Doc: "seconds between scans of the folder", Default: 2}),
				{Name: "existing", Type: "boolean", Doc: "include files that exist already", Default: true},
				secondsParam(module.Param{Name: "idle",
					Doc: "seconds without a change after which the iterator ends; never if left out", Optional: true}),
			}}},
			Returns: "an iterator of paths that start with the folder's",
			Call:    watch,
		},
	}
}

// kindFunc declares a predicate on the kind of a path.
func kindFunc(name, doc string, is func(fs.FileMode) bool) module.Func {
	return module.Func{
		Name: name, Doc: doc, Params: []module.Param{pathParam("a path")}, Returns: "true or false",
		Call: func(c *module.Call) (any, error) {
			found := false
			err := onFile(c, func(ctx context.Context, path string) error {
				info, err := c.In.Stat(path)
				found = err == nil && is(info.Mode())
				return err
			})
			if missing(err) {
				err = nil
			}
			return found, err
		},
	}
}

// missing reports whether a path does not exist, also because it goes on below a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// atPath returns the result of f for the argument path, without the interpreter lock.
func atPath[T any](c *module.Call, f func(path string) (T, error)) (found T) {
	return changeAt(c, func(_ context.Context, path string) (T, error) { return f(path) })
}

// changeAt is like atPath for an f that changes files.
func changeAt[T any](c *module.Call, f func(ctx context.Context, path string) (T, error)) (result T) {
	c.Must(onFile(c, func(ctx context.Context, path string) (err error) { result, err = f(ctx, path); return err }))
	return result
}

// onFile runs f on the argument path without the interpreter lock.
func onFile(c *module.Call, f func(ctx context.Context, path string) error) error {
	path := c.In.Path(c.String("path"))
	return namedFile(c.String("path"), c.Blocking(func(ctx context.Context) error { return f(ctx, path) }))
}

// fromTo runs f on the arguments from and to without the interpreter lock.
func fromTo(c *module.Call, f func(ctx context.Context, from, to string) error) error {
	from, to := c.In.Path(c.String("from")), c.In.Path(c.String("to"))
	return ownPath(c.Blocking(func(ctx context.Context) error { return f(ctx, from, to) }))
}

// namedFile returns err as a FileError that names the file as the script did.
func namedFile(name string, err error) error {
	if reason := fault.Reason(err); reason != err {
		return fault.Of(&fault.FileError{}, "%s: %w", name, reason)
	}
	return err
}

// ownPath returns err as a FileError that names the file by the error's own path.
func ownPath(err error) error {
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return namedFile(link.Old, err)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return namedFile(path.Path, err)
	}
	return err
}

func describe(info fs.FileInfo) map[string]any {
	kind := "other"
	switch {
	case info.IsDir():
		kind = "dir"
	case info.Mode().IsRegular():
		kind = "file"
	}
	return map[string]any{"name": info.Name(), "size": info.Size(), "type": kind,
		"modified": float64(info.ModTime().UnixMilli()) / 1000}
}

func write(c *module.Call) (any, error) {
	text, overwrite := []byte(c.String("text")), c.Bool("overwrite")
	return nil, onFile(c, func(ctx context.Context, path string) error {
		if err := c.In.Permit(sandbox.Write, path); err != nil {
			return err
		}
		if _, err := c.In.Lstat(path); err == nil && !overwrite {
			return filetree.Exists(path)
		}
		f, err := c.In.Create(ctx, path)
		if err != nil {
			return err
		}
		defer f.Discard()
		if _, err := f.Write(text); err != nil {
			return err
		}
		f.New = !overwrite
		if err := f.Commit(); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return filetree.Exists(path)
	})
}
