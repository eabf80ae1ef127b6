package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fingerprint is all that is in a folder: what each file holds, what each name is, when
// files were changed.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	world := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		print := d.Type().String()
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			print += " " + target
		case d.Type().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			print += fmt.Sprintf(" %d %x %s", len(text), sha256.Sum256(text), info.ModTime())
		}
		world[rel] = print
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return world
}

// ofRuns are the parts of paths where a run keeps what it says of itself: its log, its
// entry among the runs, what it did with each file.
var ofRuns = []string{"/runs/", "/ingest/", "/plans/"}

// sameWorld fails where a look has changed anything but the log of the run and files of
// some names that it was asked to make.
func sameWorld(t *testing.T, before, after map[string]string, made ...string) {
	t.Helper()
	own := func(path string) bool {
		return slices.Contains(made, path) || slices.ContainsFunc(ofRuns, func(part string) bool {
			return strings.Contains("/"+path+"/", part)
		})
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] && !own(path) {
			t.Errorf("a look has changed %s:\n%s\n%s", path, before[path], after[path])
		}
	}
	for path := range before {
		if _, there := after[path]; !there && !own(path) {
			t.Errorf("a look has removed %s", path)
		}
	}
}
