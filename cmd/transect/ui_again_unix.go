//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach keeps Ctrl-C in the terminal of the page from the process.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
