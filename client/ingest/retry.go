package ingest

import (
	"fmt"
	"path/filepath"
	"strings"

	"transect/client/scan"
)

// Retry makes the failed files of an earlier run's report the source of a run. Names stay the same,
// and so do keys, if all files were in one source folder. Relative paths, as in handwritten
// reports, are resolved against the folder base.
func Retry(o *Options, report, base string) error {
	roots, paths := map[string]bool{}, map[string]bool{}
	for earlier, err := range OpenReport(report, o.Source.Tree) {
		if err != nil {
			return err
		}
		if !earlier.Verdict.Bad() {
			continue
		}
		path := earlier.Path
		if path == "" {
			return notReport(report, fmt.Errorf("%q has failed, and has no path", earlier.Name))
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		if path = absolute(path); paths[path] {
			continue
		}
		paths[path] = true
		o.Source.Paths = append(o.Source.Paths, path)
		root, _ := rootOf(filepath.ToSlash(path), earlier.Name)
		roots[filepath.FromSlash(root)] = true
	}
	if len(paths) == 0 {
		o.Items = func(func(scan.Item, error) bool) {}
	}
	if len(roots) == 1 {
		for root := range roots {
			o.Source.Root = root
		}
	}
	return nil
}

// rootOf returns the folder in which a file has a name; ok is false unless the path ends with the name.
func rootOf(path, name string) (root string, ok bool) {
	at := len(path)
	for range strings.Count(name, "/") + 1 {
		if at = strings.LastIndexByte(path[:at], '/'); at < 0 {
			return "", false
		}
	}
	if scan.Readable(path[at+1:]) != name {
		return "", false
	}
	return path[:at], true
}
