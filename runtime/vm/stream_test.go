package vm_test

import (
	"bytes"
	"strings"
	"testing"

	"transect/runtime/vm"
)

func TestStandardStreamsAreThoseOfTheOptions(t *testing.T) {
	var out, errs bytes.Buffer
	in := interp(t, vm.Options{Stdout: &out, Stderr: &errs, Stdin: strings.NewReader("first\r\n12.5 rest\nlast"), Dir: t.TempDir()})
	_, err := in.RunString("test", `
		io.write("a", 1, "\n"); io.stdout:write("b"):write("c\n"); io.stderr:write("oops\n")
		assert(io.read() == "first\r"); assert(io.read("*n") == 12.5)
		local rest = {}; for line in io.lines() do rest[#rest + 1] = line end
		assert(#rest == 2 and rest[2] == "last" and io.read() == nil)
		assert(io.type(io.stdout) == "file" and io.type(3) == nil)
		local f = assert(io.open("x.txt", "w")); f:write("in a file\n"); f:close()
		for line in io.lines("x.txt") do assert(line == "in a file") end
		io.output("y.txt"); io.write("elsewhere"); io.close(); io.output(io.stdout)
		assert(io.open("y.txt"):read("*a") == "elsewhere")
		print("end")`)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != "a1\nbc\nend\n" || errs.String() != "oops\n" {
		t.Errorf("out %q, err %q", out.String(), errs.String())
	}
}
