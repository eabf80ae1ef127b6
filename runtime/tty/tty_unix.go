//go:build unix

// Package tty changes the mode of a terminal before a prompt is printed: what
// reads the answer does so only afterwards, too late for who types fast.
package tty

import (
	"os"

	"golang.org/x/sys/unix"
)

// DisableSignals makes Ctrl-C a character on this terminal.
func DisableSignals(f *os.File) error {
	return change(f, func(mode *unix.Termios) { mode.Lflag &^= unix.ISIG })
}

// DisableEcho hides what is typed on this terminal.
func DisableEcho(f *os.File) error {
	return change(f, func(mode *unix.Termios) { mode.Lflag &^= unix.ECHO })
}

func change(f *os.File, how func(*unix.Termios)) error {
	mode, err := unix.IoctlGetTermios(int(f.Fd()), getMode)
	if err != nil {
		return err
	}
	how(mode)
	return unix.IoctlSetTermios(int(f.Fd()), setMode, mode)
}
