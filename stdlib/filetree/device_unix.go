//go:build unix

package filetree

import (
	"errors"
	"syscall"
)

// otherDevice says that a rename failed because it led to another disk.
func otherDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }
