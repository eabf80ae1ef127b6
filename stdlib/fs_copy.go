package stdlib

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/stdlib/filetree"
)

var overwriteOption = module.Param{Name: "overwrite", Type: "boolean", Doc: "replace an existing file", Default: true}

func copyFiles(c *module.Call) (any, error) {
	w := filetree.Copier{Disk: disk{c.In}, Overwrite: c.Bool("overwrite"), Recursive: c.Bool("recursive")}
	from, to := c.In.Path(c.String("from")), c.In.Path(c.String("to"))
	err := c.Blocking(func(ctx context.Context) error { return w.Copy(ctx, from, to) })
	if p := (*fs.PathError)(nil); errors.As(err, &p) && p.Err == filetree.ErrFolder {
		err = fault.Hinted(fault.Of(&fault.FileError{}, "%s: is a folder", c.String("from")), "pass recursive = true to copy it with all in it")
	}
	return w.Count, fromPath(err)
}

func moveFile(c *module.Call) (any, error) {
	w := filetree.Copier{Disk: disk{c.In}, Overwrite: c.Bool("overwrite")}
	from, to := c.In.Path(c.String("from")), c.In.Path(c.String("to"))
	return nil, fromPath(c.Blocking(func(ctx context.Context) error { return w.Move(ctx, from, to) }))
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

var fromTo = []module.Param{{Name: "from", Type: "string", Doc: "the source path"}, {Name: "to", Type: "string", Doc: "the new path, or the folder to put it in"}}

var copyFuncs = []module.Func{
	{
		Name: "copy", Doc: "Copies a file atomically, with its permissions and modification time; recursive copies a folder into a new or existing one.",
		Params: append(fromTo[:2:2], module.Param{Name: "options", Fields: []module.Param{overwriteOption,
			{Name: "recursive", Type: "boolean", Doc: "copy a folder with its contents", Default: false}}}),
		Returns: "how many files were copied",
		Call:    copyFiles,
	},
	{
		Name: "move", Doc: "Renames or moves a file or folder, also across file systems.",
		Params: append(fromTo[:2:2], module.Param{Name: "options", Fields: []module.Param{overwriteOption}}),
		Call:   moveFile,
	},
	{
		Name: "append", Doc: "Appends to a file, which is created when missing.",
		Params: []module.Param{pathParam("the file"), {Name: "text", Type: "string", Doc: "the bytes to append"}},
		Call: func(c *module.Call) (any, error) {
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
		Name: "temp_dir", Doc: "Creates a temporary folder, removed when the run ends.", Returns: "its path",
		Call: func(c *module.Call) (any, error) {
			dir, err := c.In.TempDir("transect-")
			return dir, fromPath(err)
		},
	},
	{
		Name: "temp_file", Doc: "Creates an empty temporary file, removed when the run ends.",
		Params: []module.Param{{Name: "name", Type: "string", Doc: "its name, in a folder of its own", Default: "file"}}, Returns: "its path",
		Call: func(c *module.Call) (any, error) {
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
