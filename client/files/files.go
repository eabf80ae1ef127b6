// Package files is how the client opens and describes files of the user: those of the
// disk, or what a View shows of it, which may refuse some or add what is on no disk.
package files

import (
	"io/fs"
	"os"
)

// View shows files under their paths.
type View interface {
	OpenToRead(path string) (*os.File, error) // a file or a folder
	Stat(path string) (fs.FileInfo, error)    // follows links
	Lstat(path string) (fs.FileInfo, error)   // does not
}

// Tree opens and describes files. The zero value is the disk.
type Tree struct{ View View }

// Open opens a file or a folder for reading.
func (t Tree) Open(path string) (*os.File, error) {
	if t.View == nil {
		return os.Open(path)
	}
	return t.View.OpenToRead(path)
}

// Stat describes a file, or that to which a link leads.
func (t Tree) Stat(path string) (fs.FileInfo, error) {
	if t.View == nil {
		return os.Stat(path)
	}
	return t.View.Stat(path)
}

// Lstat describes a file or a link.
func (t Tree) Lstat(path string) (fs.FileInfo, error) {
	if t.View == nil {
		return os.Lstat(path)
	}
	return t.View.Lstat(path)
}
