//go:build !windows

package transfer

import (
	"errors"
	"os"
	"syscall"
)

// IsFull reports whether a file could not be written because its disk is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// OpenLocked opens or creates a file and locks it against other processes until it is closed. It
// returns ErrLocked when another process has it.
func OpenLocked(in *os.Root, name string) (*os.File, error) {
	file, err := in.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, err
	}
	// Its last owner may have renamed or removed it between opening and locking.
	opened, err := file.Stat()
	current, errCurrent := in.Lstat(name)
	if err != nil || errCurrent != nil || !os.SameFile(opened, current) {
		_ = file.Close()
		return nil, ErrLocked
	}
	return file, nil
}

// closeBeforeRename is whether a file must be closed before it is renamed.
const closeBeforeRename = false

// RemoveLocked removes a locked file and its lock.
func RemoveLocked(in *os.Root, name string, f *os.File) {
	_ = in.Remove(name) // if this fails, pruned later
	_ = f.Close()
}
