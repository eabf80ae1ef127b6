//go:build !linux

package blob

import (
	"errors"
	"os"
)

// Elsewhere each blob is a file of its own.

func makeHole(*os.File, int64, int64) error { return errors.ErrUnsupported }

func isHole(*os.File) bool { return false }

func hold(*os.File) error { return errors.ErrUnsupported }
