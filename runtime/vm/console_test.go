package vm_test

import (
	"bytes"
	"testing"

	"transect/runtime/vm"
)

func TestStatusLineStaysBelowOutput(t *testing.T) {
	var terminal bytes.Buffer
	in := interp(t, vm.Options{Stdout: &terminal, Stderr: &terminal})
	screen := in.Options().Stderr.(*vm.Console)
	screen.SetStatus("50%")
	if _, err := in.RunString("test", `print("a line")`); err != nil {
		t.Fatal(err)
	}
	screen.SetStatus("")
	const erase = "\r\x1b[K"
	if got, want := terminal.String(), erase+"50%"+erase+"a line\n50%"+erase; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShellCommands(t *testing.T) {
	var out bytes.Buffer
	in := interp(t, vm.Options{Stdout: &out, Dir: t.TempDir()})
	if _, err := in.RunString("test", `assert(os.execute("echo hello") == 0); assert(os.execute("exit 3") == 3)`); err != nil {
		t.Fatal(err)
	}
	if got := bytes.TrimSpace(out.Bytes()); string(got) != "hello" {
		t.Errorf("got %q", got)
	}
}
