//go:build unix

// Package tty changes the mode of a terminal before a prompt is printed: readers of the answer do so only
// afterwards, too late for fast typists. It also detaches processes from the terminal.
package tty

import (
	"os"
	"os/exec"
	"syscall"

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

// Detach keeps Ctrl-C in this terminal from a process that is yet to be started.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func change(f *os.File, how func(*unix.Termios)) error {
	mode, err := unix.IoctlGetTermios(int(f.Fd()), getMode)
	if err != nil {
		return err
	}
	how(mode)
	return unix.IoctlSetTermios(int(f.Fd()), setMode, mode)
}
