package filetree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"transect/client/fault"
	"transect/client/wait"
	"transect/runtime/sandbox"
)

// Copier copies and moves files and folders. A file copied to a folder keeps its name.
type Copier struct {
	Disk      *sandbox.Sandbox
	Overwrite bool // replace files that exist
	Recursive bool // copy folders with their contents
	Count     int  // files copied so far
}

// Copy copies a file, or a folder.
func (c *Copier) Copy(ctx context.Context, from, to string) error {
	info, err := c.Disk.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() && !c.Recursive {
		return fault.Hinted(fault.Of(&fault.FileError{}, "%s: is a folder", from),
			"pass recursive = true to copy it with all in it")
	}
	if !info.IsDir() {
		if to, err = c.into(from, to); err != nil {
			return err
		}
	}
	return c.tree(ctx, from, to)
}

// Move renames a file or folder; across file systems it copies and removes.
func (c *Copier) Move(ctx context.Context, from, to string) error {
	info, err := c.Disk.Stat(from)
	if err != nil {
		return err
	}
	if to, err = c.into(from, to); err != nil {
		return err
	}
	switch err := c.check(to, info); {
	case errors.Is(err, errItself) && filepath.Clean(from) == filepath.Clean(to):
		return nil
	case err != nil && !errors.Is(err, errItself): // a change of case on a case-insensitive file system is a rename
		return err
	}
	if err = c.Disk.Rename(ctx, from, to); err == nil || !otherDevice(err) {
		return err
	}
	if err := c.tree(ctx, from, to); err != nil {
		return err
	}
	return c.Disk.Remove(ctx, from, info.IsDir())
}

// otherDevice reports whether a rename failed because it crosses file systems.
func otherDevice(err error) bool {
	const notSameDevice = syscall.Errno(17) // ERROR_NOT_SAME_DEVICE
	return errors.Is(err, syscall.EXDEV) || runtime.GOOS == "windows" && errors.Is(err, notSameDevice)
}

func (c *Copier) tree(ctx context.Context, from, to string) error {
	info, err := c.Disk.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return c.file(ctx, from, to, info)
	}
	if sandbox.Below(sandbox.Canonical(to), sandbox.Canonical(from)) {
		return &fs.PathError{Op: "copy", Path: to, Err: errors.New("is inside the folder to copy")}
	}
	if err := c.Disk.MakeFolder(ctx, to); err != nil {
		return err
	}
	entries, err := c.Disk.ReadDir(from)
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

// file copies one file atomically, with its permissions and modification time.
func (c *Copier) file(ctx context.Context, from, to string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "copy", Path: from, Err: errors.New("is not a file or folder")}
	}
	if err := c.check(to, info); err != nil {
		return err
	}
	source, err := c.Disk.OpenToRead(from)
	if err != nil {
		return err
	}
	defer source.Close()
	f, err := c.Disk.Create(ctx, to)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := io.Copy(f, wait.Reader(ctx, source)); err != nil {
		return err
	}
	if err := f.Like(info); err != nil {
		return err
	}
	f.New = !c.Overwrite
	if err := f.Commit(); errors.Is(err, fs.ErrExist) {
		return Exists(to)
	} else if err != nil {
		return err
	}
	c.Count++
	return nil
}

// Exists returns the error of a file that must not be replaced.
func Exists(path string) error {
	return fault.Hinted(fault.Of(&fault.FileExistsError{}, "%s exists", path), "pass overwrite = true to replace it")
}

var errItself = errors.New("is the source itself")

// check refuses a target that must not be replaced or is the source itself.
func (c *Copier) check(to string, source fs.FileInfo) error {
	if err := c.Disk.Permit(sandbox.Write, to); err != nil {
		return err
	}
	existing, err := c.Disk.Stat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case os.SameFile(existing, source):
		return &fs.PathError{Op: "copy", Path: to, Err: errItself}
	case !c.Overwrite:
		return Exists(to)
	}
	return nil
}

// into returns the target path: in the folder to if it exists, else to itself.
func (c *Copier) into(from, to string) (string, error) {
	if err := c.Disk.Permit(sandbox.Write, to); err != nil {
		return "", err
	}
	if info, err := c.Disk.Stat(to); err == nil && info.IsDir() {
		return filepath.Join(to, filepath.Base(from)), nil
	}
	return to, nil
}
