//go:build !unix

package sandbox

import (
	"os"
	"path/filepath"
)

// renameAt moves a name from one open folder to another.
func renameAt(source *os.Root, name string, target *os.Root, other string) error {
	return os.Rename(filepath.Join(source.Name(), name), filepath.Join(target.Name(), other))
}
