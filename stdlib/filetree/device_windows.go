package filetree

import (
	"errors"
	"syscall"
)

// otherDevice says that a rename failed because it led to another disk.
func otherDevice(err error) bool {
	const notSameDevice = syscall.Errno(17) // ERROR_NOT_SAME_DEVICE
	return errors.Is(err, notSameDevice)
}
