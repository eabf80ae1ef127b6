package transfer

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// IsFull reports whether a file could not be written because its disk is full.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// OpenLocked opens or creates a file and locks it against other processes until it is closed. The
// lock is on a byte far beyond its end. It returns ErrLocked when another process has it.
func OpenLocked(in *os.Root, name string) (*os.File, error) {
	file, err := in.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if err != nil {
		_ = file.Close()
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrLocked
		}
		return nil, err
	}
	return file, nil
}

// closeBeforeRename is whether a file must be closed before it is renamed.
const closeBeforeRename = true

// RemoveLocked closes and removes a locked file: an open one cannot be removed.
func RemoveLocked(in *os.Root, name string, f *os.File) {
	_ = f.Close()
	_ = in.Remove(name) // if this fails, pruned later
}
