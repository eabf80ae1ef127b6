//go:build unix

package repl

import (
	"os"

	"golang.org/x/sys/unix"
)

// disableSignals makes Ctrl-C a character on this terminal. The editor does so,
// too, but only after it has printed its prompt.
func disableSignals(f *os.File) error {
	mode, err := unix.IoctlGetTermios(int(f.Fd()), getMode)
	if err != nil {
		return err
	}
	mode.Lflag &^= unix.ISIG
	return unix.IoctlSetTermios(int(f.Fd()), setMode, mode)
}
