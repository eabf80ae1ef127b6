//go:build unix

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameAt moves a name from one open folder to another.
func renameAt(source *os.Root, name string, target *os.Root, other string) error {
	return onFolder(source, func(from int) error {
		return onFolder(target, func(to int) error {
			if err := unix.Renameat(from, name, to, other); err != nil {
				return &os.PathError{Op: "rename", Path: name, Err: err}
			}
			return nil
		})
	})
}

func onFolder(root *os.Root, f func(fd int) error) error {
	self, err := root.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	conn, err := self.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) { err = f(int(fd)) })
	if failed != nil {
		return failed
	}
	return err
}
