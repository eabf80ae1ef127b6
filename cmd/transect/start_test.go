package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"transect/runtime"
	"transect/scripts"
)

// Every start pays for what packages prepare before main: tables, compiled
// patterns. What is made there is counted, as times differ from machine to
// machine. Who fails this test prepares something that could wait until it is
// used (sync.OnceValue), or imports a package that does.
func TestStartPreparesLittle(t *testing.T) {
	const ours, theirs = 150, 1500 // allocations; the most are those of stdlib and semver
	cmd := exec.Command("transect", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	prepared := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`).FindAllStringSubmatch(trace.String(), -1)
	if len(prepared) < 20 {
		t.Fatalf("no trace of the start:\n%s", trace.String())
	}
	for _, p := range prepared {
		most := theirs
		if strings.HasPrefix(p[1], "transect/") {
			most = ours
		}
		if n, _ := strconv.Atoi(p[2]); n > most {
			t.Errorf("%s prepares %d things at every start, want at most %d", p[1], n, most)
		}
	}
}

// The one command that is called is declared as among all.
func TestOneCommandIsDeclaredAlone(t *testing.T) {
	a := newCommandLine(&runtime.Process{})
	for _, c := range a.Root(nil).Commands() {
		all, _, err := a.Root(nil).Find([]string{c.Name()})
		if err != nil || all.Name() != c.Name() {
			t.Fatalf("%s finds %s: %v", c.Name(), all.Name(), err)
		}
		if script, ok := scripts.Find("@" + c.Name()); ok && script.Command || c.Name() == "help" || c.Name() == "completion" {
			continue // declared with all
		}
		alone := a.Root([]string{c.Name(), "--help"}).Commands()
		if len(alone) != 1 || alone[0].UsageString() != all.UsageString() {
			t.Errorf("%s is not alone, or another: %v", c.Name(), alone)
		}
	}
}

// BenchmarkStart measures from the start of the process to the first line of a
// script, and for comparison what a Go program that only prints takes. Without
// its own end: the pipe gives the line as soon as it is printed.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	program, empty := filepath.Join(dir, "transect.exe"), filepath.Join(dir, "empty.exe")
	source, script := filepath.Join(dir, "empty.go"), filepath.Join(dir, "x.lua")
	for path, text := range map[string]string{
		source: "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"x\\n\") }\n",
		script: "print('x')\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, build := range [][]string{{program, "."}, {empty, source}} {
		compile := exec.Command("go", "build", "-o", build[0], build[1])
		compile.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is handed out: no loader of libraries before it starts
		if out, err := compile.CombinedOutput(); err != nil {
			b.Fatalf("go build: %v\n%s", err, out)
		}
	}
	b.Run("empty", func(b *testing.B) { firstLine(b, empty) })
	b.Run("transect", func(b *testing.B) { firstLine(b, program, "run", script) })
}

func firstLine(b *testing.B, name string, args ...string) {
	for b.Loop() {
		cmd := exec.Command(name, args...)
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if _, err := stdout.Read(make([]byte, 16)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
