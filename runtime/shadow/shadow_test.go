package shadow_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/runtime/sandbox"
	"transect/runtime/shadow"
)

// A script whose changes do not happen sees the same as one whose changes do, and leaves
// the disk as it was.
func TestShadow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, err := os.MkdirTemp("", "shadow")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(base)
		before, after := filepath.Join(base, "before"), filepath.Join(base, "after")
		names := []string{"a", "b", "d/a", "d/e/b", "d/e", "d", "f", "f/a", "link/a", "link", "x/y/z"}
		for _, dir := range []string{before, after} {
			for _, sub := range []string{"d/e", "f"} {
				_ = os.MkdirAll(filepath.Join(dir, sub), 0o700)
			}
			_ = os.WriteFile(filepath.Join(dir, "a"), []byte("one"), 0o600)
			_ = os.WriteFile(filepath.Join(dir, "d/e/b"), []byte("two"), 0o600)
			_ = os.Symlink("d/e", filepath.Join(dir, "link"))
		}
		untouched := tree(before)
		sealed := sandbox.Open(sandbox.Options{MaxFile: 1 << 20, Effects: nothing()})
		defer sealed.Close()
		real := sandbox.Open(sandbox.Options{MaxFile: 1 << 20})
		ctx := t.Context()
		for i := range rapid.IntRange(1, 25).Draw(t, "steps") {
			name, other := rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom(names).Draw(t, "other")
			text := fmt.Sprint("step ", i)
			what := rapid.SampledFrom([]string{"write", "append", "open", "remove", "remove all", "rename", "mkdir", "read", "stat", "list"}).
				Draw(t, "what")
			do := func(s *sandbox.Sandbox, dir string) (seen string, err error) {
				path := filepath.Join(dir, name)
				switch what {
				case "write":
					err = s.WriteFile(ctx, path, []byte(text))
				case "append", "open":
					flag := os.O_WRONLY | os.O_CREATE | os.O_APPEND
					if what == "open" {
						flag = os.O_RDWR
					}
					var f *os.File
					if f, err = s.Open(ctx, path, flag, 0o600); err == nil {
						_, err = f.WriteString(text)
						err = errors.Join(err, f.Close())
					}
				case "remove":
					err = s.Remove(ctx, path, false)
				case "remove all":
					err = s.Remove(ctx, path, true)
				case "rename":
					err = s.Rename(ctx, path, filepath.Join(dir, other))
				case "mkdir":
					err = s.MakeFolder(ctx, path)
				case "read":
					var data []byte
					data, err = s.ReadFile(path)
					seen = string(data)
				case "stat":
					var info fs.FileInfo
					if info, err = s.Stat(path); err == nil {
						seen = fmt.Sprint(info.IsDir(), info.Mode().IsRegular() && info.Size() > 0)
					}
				case "list":
					var entries []fs.DirEntry
					entries, err = s.ReadDir(path)
					for _, e := range entries {
						seen += e.Name() + e.Type().String() + " "
					}
				}
				return seen, err
			}
			seen, failed := do(sealed, before)
			want, wrong := do(real, after)
			if seen != want || (failed == nil) != (wrong == nil) {
				t.Fatalf("%s %s %s: the rehearsal has %q, %v; want %q, %v", what, name, other, seen, failed, want, wrong)
			}
			if now := tree(before); !slices.Equal(now, untouched) {
				t.Fatalf("%s %s %s changed the disk:\n%v\n%v", what, name, other, untouched, now)
			}
		}
		if seen, want := view(sealed, before), view(real, after); !slices.Equal(seen, want) {
			t.Fatalf("at the end the rehearsal sees\n%v\nwant\n%v", seen, want)
		}
	})
}

// tree lists what is on the disk.
func tree(dir string) (all []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		text, _ := os.ReadFile(path)
		all = append(all, strings.TrimPrefix(path, dir)+" "+d.Type().String()+" "+string(text))
		return nil
	})
	return all
}

// view lists what a sandbox shows.
func view(s *sandbox.Sandbox, dir string) (all []string) {
	var walk func(rel string)
	walk = func(rel string) {
		entries, err := s.ReadDir(filepath.Join(dir, rel))
		if err != nil {
			text, _ := s.ReadFile(filepath.Join(dir, rel))
			all = append(all, rel+": "+string(text))
			return
		}
		for _, e := range entries {
			all = append(all, rel+"/"+e.Name()+e.Type().String())
			walk(rel + "/" + e.Name())
		}
	}
	walk("")
	return all
}

// Devices and pipes cannot be written in a rehearsal, but the null device can.
func TestShadowOfDevices(t *testing.T) {
	s := sandbox.Open(sandbox.Options{Effects: nothing()})
	defer s.Close()
	f, err := s.Open(t.Context(), os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, err := s.Open(t.Context(), "/dev/full", os.O_WRONLY, 0); err == nil || !strings.Contains(err.Error(), "cannot be planned") {
		t.Errorf("a device: %v", err)
	}
}

// nothing lets no effect happen.
func nothing() *sandbox.Effects {
	return &sandbox.Effects{None: true, Shadow: shadow.New(),
		Happens: func(context.Context, sandbox.Effect) (bool, error) { return false, nil }}
}
