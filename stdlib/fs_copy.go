package stdlib

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"transect/client/fault"
	"transect/runtime/vm"
)

var overwriteOption = vm.Param{Name: "overwrite", Type: "boolean", Doc: "replace an existing file", Default: true}

// copying is one call of copy or move.
type copying struct {
	in        *vm.Interp
	overwrite bool
	count     int
}

func (c *copying) tree(ctx context.Context, from, to string) error {
	info, err := c.in.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return c.file(ctx, from, to, info)
	}
	real, target := vm.Canonical(from), vm.Canonical(to)
	if target == real || strings.HasPrefix(target, real+string(filepath.Separator)) {
		return &fs.PathError{Op: "copy", Path: to, Err: errors.New("lies inside of the folder to copy")}
	}
	if err := c.in.MakeFolder(to); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.tree(ctx, filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// file copies one file in one step, with its permissions and time.
func (c *copying) file(ctx context.Context, from, to string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "copy", Path: from, Err: errors.New("is no file or folder")}
	}
	if err := c.free(to, info); err != nil {
		return err
	}
	source, err := c.in.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	f, err := writeAside(c.in, to)
	if err != nil {
		return err
	}
	defer f.discard()
	if _, err := io.Copy(f, reader{ctx, source}); err != nil {
		return err
	}
	f.mode = info.Mode().Perm()
	if err := f.folder.Chtimes(f.temp, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	if err := f.commit(); err != nil {
		return err
	}
	c.count++
	return nil
}

// free refuses a target that may not be replaced, or is the source itself.
func (c *copying) free(to string, source fs.FileInfo) error {
	if err := c.in.Permit(vm.Write, to); err != nil {
		return err
	}
	there, err := os.Stat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case os.SameFile(there, source):
		return &fs.PathError{Op: "copy", Path: to, Err: errors.New("is the file itself")}
	case !c.overwrite:
		return fault.Hinted(fault.Of(&fault.FileExistsError{}, "%s exists", to), "pass overwrite = true to replace it")
	}
	return nil
}

// into is the target: a folder that exists takes the file under its name.
func (c *copying) into(from, to string) (string, error) {
	if err := c.in.Permit(vm.Write, to); err != nil {
		return "", err
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return filepath.Join(to, filepath.Base(from)), nil
	}
	return to, nil
}

func copyFiles(c *vm.Call) (any, error) {
	w := copying{in: c.In, overwrite: c.Bool("overwrite")}
	from, to, recursive := c.In.Path(c.String("from")), c.In.Path(c.String("to")), c.Bool("recursive")
	err := c.Blocking(func(ctx context.Context) error {
		info, err := c.In.Stat(from)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			if to, err = w.into(from, to); err != nil {
				return err
			}
			return w.file(ctx, from, to, info)
		}
		if !recursive {
			return fault.Hinted(fault.Of(&fault.FileError{}, "%s: is a folder", c.String("from")), "pass recursive = true to copy it with all in it")
		}
		return w.tree(ctx, from, to)
	})
	return w.count, fromPath(err)
}

func moveFile(c *vm.Call) (any, error) {
	w := copying{in: c.In, overwrite: c.Bool("overwrite")}
	from, to := c.In.Path(c.String("from")), c.In.Path(c.String("to"))
	err := c.Blocking(func(ctx context.Context) error {
		info, err := c.In.Stat(from)
		if err != nil {
			return err
		}
		if to, err = w.into(from, to); err != nil {
			return err
		}
		if err := c.In.Permit(vm.Write, to); err != nil {
			return err
		}
		if there, err := os.Stat(to); err == nil && os.SameFile(there, info) && filepath.Clean(from) == filepath.Clean(to) {
			return nil
		} else if err := w.free(to, info); err != nil && !os.SameFile(there, info) {
			return err // another spelling of the same name is a rename, where case does not count
		}
		err = c.In.Rename(from, to)
		if err == nil || !otherDevice(err) {
			return err
		}
		if err := w.tree(ctx, from, to); err != nil {
			return err
		}
		return c.In.Remove(from, info.IsDir())
	})
	return nil, fromPath(err)
}

// fromPath is a FileError that names the file it is about.
func fromPath(err error) error {
	var link *os.LinkError
	if errors.As(err, &link) {
		err = &fs.PathError{Op: link.Op, Path: link.Old, Err: link.Err}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return namedFile(p.Path, err)
	}
	return err
}

var fromTo = []vm.Param{{Name: "from", Type: "string", Doc: "what is there"}, {Name: "to", Type: "string", Doc: "its new place, or the folder to put it in"}}

var copyFuncs = []vm.Func{
	{
		Name: "copy", Doc: "Copies a file in one step, with its permissions and time; recursive copies a folder into a new or existing one.",
		Params: append(fromTo[:2:2], vm.Param{Name: "options", Fields: []vm.Param{overwriteOption,
			{Name: "recursive", Type: "boolean", Doc: "take a folder with all in it", Default: false}}}),
		Returns: "how many files were copied",
		Example: `local fs = require("fs")
fs.write("a.txt", "one")
fs.mkdir("backup")
fs.copy("a.txt", "backup")
assert(fs.read("backup/a.txt") == "one")
assert(fs.copy("backup", "again", { recursive = true }) == 1 and fs.exists("again/a.txt"))`,
		Call: copyFiles,
	},
	{
		Name: "move", Doc: "Renames a file or folder, or moves it to another one, also on another disk.",
		Params: append(fromTo[:2:2], vm.Param{Name: "options", Fields: []vm.Param{overwriteOption}}),
		Example: `local fs = require("fs")
fs.write("new.txt", "one")
fs.move("new.txt", "old.txt")
assert(fs.exists("old.txt") and not fs.exists("new.txt"))`,
		Call: moveFile,
	},
	{
		Name: "append", Doc: "Adds to the end of a file, and makes it if it is not there.",
		Params: []vm.Param{pathParam("the file"), {Name: "text", Type: "string", Doc: "what to add"}},
		Example: `local fs = require("fs")
fs.append("notes.txt", "one\n")
fs.append("notes.txt", "two\n")
assert(fs.read("notes.txt") == "one\ntwo\n")`,
		Call: func(c *vm.Call) (any, error) {
			text := c.String("text")
			return nil, onFile(c, func(path string) error {
				f, err := c.In.Open(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
				if err != nil {
					return err
				}
				_, err = f.WriteString(text)
				return errors.Join(err, f.Close())
			})
		},
	},
	{
		Name: "temp_dir", Doc: "Makes a folder that is removed when the run ends.", Returns: "its path",
		Example: `local fs = require("fs")
assert(fs.stat(fs.temp_dir()).type == "dir")`,
		Call: func(c *vm.Call) (any, error) {
			dir, err := c.In.TempDir("transect-")
			return dir, fromPath(err)
		},
	},
	{
		Name: "temp_file", Doc: "Makes an empty file that is removed when the run ends.",
		Params: []vm.Param{{Name: "name", Type: "string", Doc: "what it is called, in a folder of its own", Default: "file"}}, Returns: "its path",
		Example: `local fs = require("fs")
assert(fs.stat(fs.temp_file("preview.tif")).size == 0)`,
		Call: func(c *vm.Call) (any, error) {
			name := c.String("name")
			if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
				return nil, fault.Of(&fault.ParameterError{}, "argument name must be the name of a file, without a folder, got %q", name)
			}
			dir, err := c.In.TempDir("transect-")
			if err != nil {
				return nil, fromPath(err)
			}
			path := filepath.Join(dir, name)
			f, err := c.In.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				err = f.Close()
			}
			return path, fromPath(err)
		},
	},
}
