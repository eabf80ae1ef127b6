//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tty

import "golang.org/x/sys/unix"

const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)
