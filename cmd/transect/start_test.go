package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

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
		if out, err := exec.Command("go", "build", "-o", build[0], build[1]).CombinedOutput(); err != nil {
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
