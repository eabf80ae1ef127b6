//go:build unix

package vm

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"transect/client/fault"
)

// CheckStateDir makes sure that a state folder among the temporary files is the
// user's own: any user may create folders there, and the owner could read or
// replace its contents. Other folders need no check.
func CheckStateDir(env func(name string) (string, bool)) error {
	dir := StateDir(env)
	if dir != sharedStateDir() {
		return nil
	}
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the state folder "+dir+" "+format, args...),
			"set HOME, or %s to a folder of your own; without either it is among the temporary files", StateVariable)
	}
	if !errors.Is(err, fs.ErrExist) {
		return wrong("cannot be made: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return wrong("cannot be read: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return wrong("is not a folder")
	case !ok || int(owner.Uid) != os.Getuid():
		return wrong("belongs to another user")
	case info.Mode().Perm()&0o077 != 0:
		return wrong("is open to others (%v)", info.Mode().Perm())
	}
	return nil
}
