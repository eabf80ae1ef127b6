// Package editor lets the user edit a text.
package editor

import (
	"cmp"
	"context"
	"os"
	"os/exec"

	"github.com/mattn/go-shellwords"

	"transect/client/fault"
	"transect/runtime"
)

// Edit lets the user edit a text in $VISUAL, $EDITOR or vi and returns the
// result. The pattern names the temporary file, as for os.CreateTemp.
func Edit(ctx context.Context, p *runtime.Process, pattern, text string) (string, error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", fault.Of(&fault.FileError{}, "cannot create a file for the editor: %w", fault.Reason(err))
	}
	defer os.Remove(f.Name())
	if _, err = f.WriteString(text); err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", fault.Of(&fault.FileError{}, "cannot write the file for the editor: %w", fault.Reason(err))
	}
	program := cmp.Or(p.Getenv("VISUAL"), p.Getenv("EDITOR"), "vi")
	words, err := shellwords.Parse(program)
	if err != nil || len(words) == 0 {
		words = []string{program}
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, p.Stdout, p.Stderr
	if err := cmd.Run(); err != nil {
		return "", fault.Hinted(fault.Of(&fault.ConfigError{}, "the editor %s failed: %w", program, err),
			"name another one in EDITOR")
	}
	edited, err := os.ReadFile(f.Name())
	if err != nil {
		return "", fault.Of(&fault.FileError{}, "cannot read what was edited: %w", fault.Reason(err))
	}
	return string(edited), nil
}
