//go:build !windows

package transfer

import (
	"errors"
	"os"
	"syscall"
)

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// claim opens a file that nobody else is writing. The lock goes with the file.
func claim(in *os.Root, name string) (*os.File, error) {
	file, err := in.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, errClaimed
	}
	// Between opening and locking, its last owner may have given it its name.
	mine, err := file.Stat()
	there, errThere := in.Lstat(name)
	if err != nil || errThere != nil || !os.SameFile(mine, there) {
		_ = file.Close()
		return nil, errClaimed
	}
	return file, nil
}

// closeFirst: a file must be closed before it is renamed.
const closeFirst = false

// removeClaimed removes a claimed file, and its lock with it.
func removeClaimed(in *os.Root, name string, f *os.File) {
	_ = in.Remove(name) // nothing can be done about it
	_ = f.Close()
}
