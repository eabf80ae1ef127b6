package main

import (
	"os"
	"os/exec"

	"transect/client/fault"
)

// runAgain starts this program in a folder, with the arguments of an earlier run.
// It goes on when the page ends; the history says what becomes of it.
func (a *app) runAgain(folder string, arguments []string) error {
	program, err := os.Executable()
	if err != nil {
		return fault.Of(&fault.ConfigError{}, "the program cannot be found: %w", err)
	}
	cmd := exec.Command(program, arguments...)
	cmd.Dir = folder
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot run it again in %s: %w", folder, fault.Reason(err)), "the folder may have been moved: run the command in a shell")
	}
	go func() { _ = cmd.Wait() }() // its exit code is in the history
	return nil
}
