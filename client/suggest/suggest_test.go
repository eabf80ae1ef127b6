package suggest

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"run", "runs", "put", "jobs", "lock", "local", "upload_file", "upload_files", "find", "name", "rm", "ls"}
	for name, want := range map[string]string{
		"runn": "run", "rnus": "runs", "jbos": "jobs", "loca": "local", "locale": "local", "upload": "upload_file",
		"nmae": "name", "fnd": "find", "sl": "ls", "PUT": "put",
		"xyz": "", "cp": "", "frobnicate": "", "download": "", "": "", "q": "", "company": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
