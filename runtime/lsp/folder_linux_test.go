package lsp

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The scripts of a workspace are regular files of a bounded size. A pipe that nobody
// writes, a device without an end and a huge file are passed over.
func TestWorkspaceOfOtherThings(t *testing.T) {
	const before, after = "local lib = require('lib')\nlib.", "target()\n"
	c := start(t, map[string]string{"lib.lua": "local lib = {}\nfunction lib.target() end\nreturn lib\n", "main.lua": before + after,
		"other.lua": before + after})
	path := func(name string) string { return filepath.Join(c.dir, name) }
	if err := errors.Join(syscall.Mkfifo(path("pipe.lua"), 0o600), os.Symlink("/dev/zero", path("zero.lua")),
		os.WriteFile(path("huge.lua"), append([]byte(before+after), bytes.Repeat([]byte("\n"), maxFile)...), 0o600)); err != nil {
		t.Fatal(err)
	}
	var got []location
	where := c.at("main.lua", before+"|"+after)
	where["context"] = object{"includeDeclaration": true}
	c.call("textDocument/references", where, &got)
	if len(got) != 3 {
		t.Errorf("%d references, want 3: %v", len(got), got)
	}
}
