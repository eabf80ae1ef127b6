package blob

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// makeHole gives the space of a range back.
func makeHole(f *os.File, offset, size int64) error {
	if size == 0 {
		return nil
	}
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = errors.ErrUnsupported
	}
	return err
}

// isHole tells that a file has no data at all.
func isHole(f *os.File) bool {
	_, err := f.Seek(0, unix.SEEK_DATA)
	return errors.Is(err, unix.ENXIO)
}

// hold locks a file for this process as long as it is open here, or fails.
func hold(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
