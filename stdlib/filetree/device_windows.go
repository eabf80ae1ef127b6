package filetree

import (
	"errors"
	"syscall"
)

// otherDevice reports that a rename failed because it crosses file systems.
func otherDevice(err error) bool {
	const notSameDevice = syscall.Errno(17) // ERROR_NOT_SAME_DEVICE
	return errors.Is(err, notSameDevice)
}
