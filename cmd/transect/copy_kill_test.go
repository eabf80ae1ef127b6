package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

// TestCopyKilled kills transect copy between two platforms at several moments. In the end
// each dataset is there once, whole, and a further run finds nothing to do.
func TestCopyKilled(t *testing.T) {
	const files = 30
	from, to := newHome(t, 0, flightgen.Options{}), newHome(t, 0, flightgen.Options{})
	for i := range files {
		size := 100_000
		if i == 0 {
			size = 12 << 20 // sent in parts
		}
		data := strings.Repeat(string(rune('a'+i)), size)
		if err := os.MkdirAll(filepath.Join(from.dir, "card"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from.dir, "card", fmt.Sprintf("f%02d.bin", i)), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	from.must("put", "--local", "card", "Quarry/May", "--create")
	s := serve(t, to)
	config := filepath.Join(from.dir, ".config", "transect")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "config-connection.json"), fmt.Appendf(nil,
		`{"profiles": {"customer": {"url": %q, "user": %q, "password": %q}}}`, s.URL, s.User, s.Password), 0o600); err != nil {
		t.Fatal(err)
	}
	words := []string{"copy", "--local", "Quarry", "Archive", "--to-profile", "customer", "--create",
		"--bwlimit", "8M"}
	killed := 0
	for after := 100 * time.Millisecond; after < 1500*time.Millisecond; after += 350 * time.Millisecond {
		cmd := from.command(words...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
	}
	if killed == 0 {
		t.Error("no run was killed")
	}
	words = words[:len(words)-2]
	from.must(words...)
	if out := from.must(words...); !strings.Contains(out, "30 datasets of Quarry: 0 copied, 30 already there, 0 left out, 0 failed") {
		t.Errorf("a further run says %s", out)
	}
	if n := strings.Count(from.must("ls", "--profile", "customer", "Archive/May", "--json"), "\n"); n != files {
		t.Errorf("%d datasets, want %d", n, files)
	}
	from.must("verify", "--profile", "customer", "card", "Archive/May", "--download")
}
