//go:build unix

package vm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/client/fault"
	"transect/runtime/vm"
)

// Without a home the state is among the temporary files, where anybody may
// have put something in its place.
func TestStateDirAmongTemporaryFiles(t *testing.T) {
	env := func(string) (string, bool) { return "", false }
	for name, c := range map[string]struct {
		make func(dir, elsewhere string) error
		want string // of the error; "" for none
	}{
		"none yet":   {func(dir, _ string) error { return nil }, ""},
		"own":        {func(dir, _ string) error { return os.Mkdir(dir, 0o700) }, ""},
		"open":       {func(dir, _ string) error { return os.Mkdir(dir, 0o755) }, "is open to others"},
		"a link":     {func(dir, elsewhere string) error { return os.Symlink(elsewhere, dir) }, "is not a folder"},
		"a file":     {func(dir, _ string) error { return os.WriteFile(dir, nil, 0o600) }, "is not a folder"},
		"a stranger": {func(dir, _ string) error { return pairOf(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, -1)) }, "belongs to another user"},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		dir := vm.StateDir(env)
		if filepath.Dir(dir) != os.TempDir() {
			t.Fatalf("the state folder is %s", dir)
		}
		if err := c.make(dir, t.TempDir()); err != nil {
			t.Logf("%s: not tried: %v", name, err) // only root can give folders away
			continue
		}
		for range 2 {
			err := vm.CheckStateDir(env)
			switch f := fault.Find(err); {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: %v, want %q", name, err, c.want)
			case err != nil && (f.Name() != "ConfigError" || !strings.Contains(f.Facts().Hint, "TRANSECT_STATE_DIR")):
				t.Errorf("%s: %v does not say what to do", name, err)
			}
		}
		if info, err := os.Lstat(dir); c.want == "" && (err != nil || info.Mode().Perm() != 0o700) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	named := func(name string) (string, bool) { return "/tmp", name == vm.StateVariable }
	if err := vm.CheckStateDir(named); err != nil {
		t.Errorf("one that was named needs no check: %v", err)
	}
}

func pairOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
