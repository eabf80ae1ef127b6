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
	python := pythonWith(t, "json")
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
	command := exec.Command(pythonWith(t, "yaml"), "-c", check, "../../pipelines.md")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if want := "2 python, 2 yaml\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}

// pythonWith returns a Python that has a module: the system's, where another comes first. What is not there is
// skipped; .ci/run installs it.
func pythonWith(t *testing.T, module string) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+module).Run() == nil {
			return python
		}
	}
	t.Skipf("there is no python3 with the module %s", module)
	return ""
}
