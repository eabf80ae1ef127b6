// Package tty changes the mode of a terminal before a prompt is printed.
package tty

import (
	"os"
	"os/exec"
)

// DisableSignals does nothing: the editor does it in time here.
func DisableSignals(*os.File) error { return nil }

// DisableEcho does nothing: term.ReadPassword does it.
func DisableEcho(*os.File) error { return nil }

// Detach does nothing: a process started here has a console of its own.
func Detach(*exec.Cmd) {}
