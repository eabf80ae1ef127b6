package local

import (
	"path/filepath"
	"testing"

	"transect/runtime"
)

func TestFolderOfTheLocalPlatform(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	p := &runtime.Process{Dir: t.TempDir(), Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	if dir, err := Dir(p, "given"); err != nil || dir != filepath.Join(p.Dir, "given") {
		t.Errorf("%q %v", dir, err)
	}
	env["TRANSECT_LOCAL_DIR"] = "named"
	if dir, err := Dir(p, ""); err != nil || dir != filepath.Join(p.Dir, "named") {
		t.Errorf("%q %v", dir, err)
	}
}
