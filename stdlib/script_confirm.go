package stdlib

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// confirm asks a yes/no question on the terminal.
func confirm(c *module.Call) (any, error) {
	opt, question := c.In.Options(), c.String("question")
	if opt.DryRun || opt.Agreed {
		return true, nil
	}
	in, isFile := opt.Stdin.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) {
		vm.Raise(c.L, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no terminal to ask: %s", question), "%s",
			c.String("hint")))
	}
	fmt.Fprintf(opt.Stderr, "%s (yes/no) [no]: ", human.Visible(question))
	var answer string
	answered := make(chan struct{})
	go func() { // the read itself cannot be cancelled
		defer close(answered)
		answer = readAnswer(in)
	}()
	if _, err := vm.Wait(c.L, answered); err != nil {
		return nil, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// readAnswer reads up to the end of the line and no further.
func readAnswer(in io.Reader) string {
	var line strings.Builder
	var b [1]byte
	for {
		n, err := in.Read(b[:])
		if n > 0 && b[0] != '\n' {
			line.WriteByte(b[0])
		} else if n > 0 || err != nil {
			return line.String()
		}
	}
}
