package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/bmatcuk/doublestar/v4"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

func pathParam(doc string) module.Param { return module.Param{Name: "path", Type: "string", Doc: doc} }

var fsModule = &module.Module{
	Name: "fs",
	Doc:  "Reads and writes files and folders. Writes are atomic: to a temporary file, then renamed.",
	Funcs: slices.Concat([]module.Func{
		{
			Name: "read", Doc: "Reads a whole file.", Params: []module.Param{pathParam("the file")}, Returns: "its bytes",
			Call: func(c *module.Call) (any, error) {
				var data []byte
				err := onFile(c, func(path string) (err error) { data, err = c.In.ReadFile(path); return err })
				return data, err
			},
		},
		{
			Name: "write", Doc: "Writes a file atomically: readers see the old or the new content, also after a crash.",
			Params: []module.Param{pathParam("the file"), {Name: "text", Type: "string", Doc: "its bytes"},
				{Name: "options", Fields: []module.Param{
					{Name: "overwrite", Type: "boolean", Doc: "replace an existing file", Default: true},
				}}},
			Call: write,
		},
		{
			Name: "exists", Doc: "Reports whether a file or folder exists.", Params: []module.Param{pathParam("a path")}, Returns: "true or false",
			Call: func(c *module.Call) (any, error) {
				err := onFile(c, func(path string) error { _, err := c.In.Stat(path); return err })
				if errors.Is(err, fs.ErrNotExist) {
					return false, nil
				}
				return err == nil, err
			},
		},
		kindFunc("is_file", "Says whether there is a file, and no folder.", fs.FileMode.IsRegular),
		kindFunc("is_dir", "Says whether there is a folder.", fs.FileMode.IsDir),
		{
			Name: "stat", Doc: "Describes a file or folder.", Params: []module.Param{pathParam("a path")},
			Returns: "a table: name, size in bytes, type (file, dir or other), modified in seconds since 1970",
			Call: func(c *module.Call) (any, error) {
				var info fs.FileInfo
				err := onFile(c, func(path string) (err error) { info, err = c.In.Stat(path); return err })
				if err != nil {
					return nil, err
				}
				return describe(info), nil
			},
		},
		{
			Name: "list", Doc: "Lists the names in a folder, sorted.", Params: []module.Param{{Name: "path", Type: "string", Doc: "the folder", Default: "."}},
			Returns: "a list of names",
			Call: func(c *module.Call) (any, error) {
				names := []string{}
				err := onFile(c, func(path string) error {
					entries, err := c.In.ReadDir(path)
					for _, e := range entries {
						names = append(names, e.Name())
					}
					return err
				})
				return names, err
			},
		},
		{
			Name: "glob", Doc: "Finds files by pattern: * and ? inside a name, ** through folders, {a,b} for either.",
			Params: []module.Param{{Name: "pattern", Type: "string", Doc: "such as flight/**/*.{jpg,JPG}"},
				{Name: "options", Fields: []module.Param{
					{Name: "dir", Type: "string", Doc: "folder the pattern starts in; results are relative to it", Optional: true},
				}}},
			Returns: "a sorted list of paths",
			Call:    glob,
		},
		{
			Name: "find", Doc: "Iterates over the files matching a pattern, in the order of glob, without listing all folders first.",
			Params: []module.Param{{Name: "pattern", Type: "string", Doc: "such as flight/**/*.{jpg,JPG}"},
				{Name: "options", Fields: []module.Param{
					{Name: "dir", Type: "string", Doc: "folder the pattern starts in; results are relative to it", Optional: true},
				}}},
			Returns: "an iterator of paths, each with a description as of stat",
			Call:    find,
		},
		{
			Name: "walk", Doc: "Iterates over everything below a folder, sorted within each folder. Links to folders are not followed.",
			Params: []module.Param{pathParam("the folder"), {Name: "options", Fields: []module.Param{
				{Name: "type", Type: "string", Doc: "what to return", Default: "file", Choices: []string{"file", "dir", "any"}},
				{Name: "depth", Type: "integer", Doc: "maximum depth; 1 is the folder alone", Default: 1 << 20},
				{Name: "hidden", Type: "boolean", Doc: "include names that begin with a dot", Default: true},
			}}},
			Returns: "an iterator of paths that start with the folder's, each with a description as of stat",
			Call:    walk,
		},
		{
			Name: "lines", Doc: "Iterates over the lines of a file of any size.", Params: []module.Param{pathParam("the file")},
			Returns: "an iterator of lines without line endings, each with its number",
			Call:    readLines,
		},
		{
			Name: "mkdir", Doc: "Creates a folder and its parents; an existing one is not an error.", Params: []module.Param{pathParam("the folder")},
			Call: func(c *module.Call) (any, error) {
				return nil, onFile(c, func(path string) error { return c.In.MakeFolder(path) })
			},
		},
		{
			Name: "remove", Doc: "Removes a file or an empty folder; recursive removes a folder with its contents. A missing path is not an error.",
			Params: []module.Param{pathParam("what to remove"), {Name: "options", Fields: []module.Param{
				{Name: "recursive", Type: "boolean", Doc: "including its contents", Default: false},
			}}},
			Call: func(c *module.Call) (any, error) {
				all := c.Bool("recursive")
				err := onFile(c, func(path string) error { return c.In.Remove(path, all) })
				if errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
				return nil, err
			},
		},
	}, copyFuncs, []module.Func{watchFunc}),
}

// kindFunc declares a question about what a path is.
func kindFunc(name, doc string, is func(fs.FileMode) bool) module.Func {
	return module.Func{
		Name: name, Doc: doc, Params: []module.Param{pathParam("a path")}, Returns: "true or false",
		Call: func(c *module.Call) (any, error) {
			found := false
			err := onFile(c, func(path string) error {
				info, err := c.In.Stat(path)
				found = err == nil && is(info.Mode())
				return err
			})
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return found, err
		},
	}
}

// onFile runs f on the argument path without the interpreter lock.
func onFile(c *module.Call, f func(path string) error) error {
	path := c.In.Path(c.String("path"))
	return fileError(c, "path", c.Blocking(func(context.Context) error { return f(path) }))
}

// fileError makes a FileError that names the file as the script did.
func fileError(c *module.Call, param string, err error) error {
	return namedFile(c.String(param), err)
}

func fileType(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "dir"
	case mode.IsRegular():
		return "file"
	}
	return "other"
}

func write(c *module.Call) (any, error) {
	text, overwrite := c.String("text"), c.Bool("overwrite")
	return nil, onFile(c, func(path string) error {
		if err := c.In.Permit(sandbox.Write, path); err != nil {
			return err
		}
		if !overwrite {
			if _, err := os.Lstat(path); err == nil {
				return fault.Hinted(fault.Of(&fault.FileExistsError{}, "%s exists", path), "pass overwrite = true to replace it")
			}
		}
		return writeAtomic(c.In, path, text)
	})
}

// matching finds the files of a pattern that begins in a folder.
func matching(in *vm.Interp, pattern, folder string) ([]string, error) {
	if !in.Restricted() {
		return doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
	}
	if err := in.Permit(sandbox.Read, folder); err != nil {
		return nil, err
	}
	rest, err := filepath.Rel(folder, pattern)
	if err != nil {
		return nil, err
	}
	found, err := doublestar.Glob(within{in, folder}, filepath.ToSlash(rest), doublestar.WithFilesOnly())
	for i, name := range found {
		found[i] = filepath.Join(folder, filepath.FromSlash(name))
	}
	return found, err
}

func glob(c *module.Call) (any, error) {
	pattern, dir := c.String("pattern"), c.String("dir")
	if !doublestar.ValidatePathPattern(pattern) {
		return nil, fault.Of(&fault.ParameterError{}, "%q is not a pattern", pattern)
	}
	// Patterns are matched from the script's folder, results given as written.
	base := dir
	if base == "" && !filepath.IsAbs(pattern) {
		base = "."
	}
	full := pattern
	if base != "" {
		base = c.In.Path(base)
		full = filepath.Join(base, pattern)
	}
	found := []string{}
	start, _ := doublestar.SplitPattern(filepath.ToSlash(full))
	err := c.Blocking(func(context.Context) error {
		matches, err := matching(c.In, full, filepath.FromSlash(start))
		for _, m := range c.In.Readable(matches) {
			if base != "" {
				if m, err = filepath.Rel(base, m); err != nil {
					return err
				}
			}
			found = append(found, m)
		}
		return err
	})
	sort.Strings(found)
	return found, fileError(c, "pattern", err)
}
