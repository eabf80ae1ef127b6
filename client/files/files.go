// Package files opens and describes the user's files for the client: from the disk, or through a
// View, which may refuse some or add files that are not on the disk.
package files

import (
	"io/fs"
	"os"
)

// View provides files under their paths.
type View interface {
	OpenToRead(path string) (*os.File, error) // a file or a folder
	Stat(path string) (fs.FileInfo, error)    // follows links
	Lstat(path string) (fs.FileInfo, error)   // does not follow links
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

// Stat describes a file, or the target of a link.
func (t Tree) Stat(path string) (fs.FileInfo, error) {
	if t.View == nil {
		return os.Stat(path)
	}
	return t.View.Stat(path)
}

// Lstat describes a file or the link itself.
func (t Tree) Lstat(path string) (fs.FileInfo, error) {
	if t.View == nil {
		return os.Lstat(path)
	}
	return t.View.Lstat(path)
}
