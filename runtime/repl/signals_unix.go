//go:build unix

package repl

import (
	"os"

	"golang.org/x/sys/unix"
)

// quiet makes Ctrl-C a character on this terminal. The editor does so itself,
// but only when its prompt is on the screen already.
func quiet(f *os.File) error {
	mode, err := unix.IoctlGetTermios(int(f.Fd()), getMode)
	if err != nil {
		return err
	}
	mode.Lflag &^= unix.ISIG
	return unix.IoctlSetTermios(int(f.Fd()), setMode, mode)
}
