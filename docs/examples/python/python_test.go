// Package python tests the Python module that runs scripts.
package python

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed pipelines_check.py
var check string

// A Python program gets a script's result and report, and its error by name.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(home, "transect"), "transect/cmd/transect").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	command := exec.Command(python, "use_it.py")
	command.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+home+string(os.PathListSeparator)+os.Getenv("PATH"))
	command.Stderr = os.Stderr
	out, err := command.Output()
	if want := "North quarry True success 1\n1 ParameterError 2 True\n2 UsageError\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}

// The examples of docs/pipelines.md for Airflow, GitHub and GitLab are read: none of these programs runs here.
func TestPipelines(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	command := exec.Command(python, "-c", check, "../../pipelines.md")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if string(out) == "no yaml\n" {
		t.Skip("python3 has no module yaml")
	}
	if want := "2 python, 2 yaml\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}
