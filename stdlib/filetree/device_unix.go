//go:build unix

package filetree

import (
	"errors"
	"syscall"
)

// otherDevice reports that a rename failed because it crosses file systems.
func otherDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }
