package scan

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"transect/client/fault"
)

// origin is a folder to read: completely, by a pattern, or as listed files.
type origin struct {
	dir      string
	prefix   string            // prefix of names, "" or "folder"
	pattern  string            // relative to dir; "" matches all
	listed   map[string]string // base names of listed files, with their names; nil reads all
	siblings string            // prefix of the names of unlisted sidecar files
}

// newOrigins resolves the paths of a source. Listed files of one folder become
// one origin, so that the folder is read once.
func newOrigins(s Source) ([]*origin, error) {
	if len(s.Paths) == 0 {
		if s.Root == "" {
			return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "there is nothing to scan: no path was given"),
				"give a folder, a pattern such as flight/**/*.jpg, or a list of files")
		}
		return []*origin{{dir: s.Root}}, s.mustBeFolder(s.Root)
	}
	var all []*origin
	var files []string
	for _, given := range s.Paths {
		full := given
		if s.Root != "" && !filepath.IsAbs(given) {
			full = filepath.Join(s.Root, given)
		}
		info, err := s.Tree.Stat(full)
		switch {
		case err == nil && info.IsDir():
			all = append(all, &origin{dir: filepath.Clean(full)})
		case err == nil:
			files = append(files, filepath.Clean(full))
		case strings.ContainsAny(given, "*?[{"):
			base, pattern := doublestar.SplitPattern(filepath.ToSlash(full))
			base = filepath.FromSlash(base)
			if !doublestar.ValidatePattern(pattern) {
				return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "%q is not a pattern", given),
					`a [ or { without its end; write \[ for the character itself`)
			}
			if err := s.mustBeFolder(base); err != nil {
				return nil, err
			}
			all = append(all, &origin{dir: base, pattern: pattern})
		case len(s.Paths) > 1 && filepath.Ext(given) != "":
			files = append(files, filepath.Clean(full)) // reported as missing later
		default:
			return nil, s.mustBeFolder(full)
		}
	}
	setPrefixes(s.Root, all)
	return append(all, groupFiles(s.Root, files)...), nil
}

func (s Source) mustBeFolder(dir string) error {
	info, err := s.Tree.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Hinted(fault.Of(&fault.FileError{}, "%s does not exist", dir),
			"check the path; a relative one starts at the current folder")
	case err != nil:
		return fault.Hinted(fault.Of(&fault.FileError{}, "%s cannot be read: %w", dir, fault.Reason(err)),
			"check its permissions")
	case !info.IsDir():
		return fault.Hinted(fault.Of(&fault.FileError{}, "%s is a file, not a folder", dir),
			"give the folder that holds it, or the file as a path")
	}
	return nil
}

// setPrefixes makes names unique when several folders are read, and relative to the root, if any.
func setPrefixes(root string, all []*origin) {
	var dirs []string
	for _, o := range all {
		dirs = append(dirs, o.dir)
	}
	names := distinctNames(dirs)
	for _, o := range all {
		if root != "" {
			if o.prefix = relative(root, o.dir); o.prefix == "." {
				o.prefix = ""
			}
		} else if len(names) > 1 {
			o.prefix = names[o.dir]
		}
	}
}

// relative returns the path below a root, with slashes; "" if it is outside.
func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if root == "" || err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// groupFiles collects listed files by their folder, in order of first appearance.
func groupFiles(root string, files []string) (groups []*origin) {
	var outside []string
	for _, f := range files {
		if relative(root, f) == "" {
			outside = append(outside, f)
		}
	}
	names := distinctNames(outside)
	byDir := map[string]*origin{}
	for _, f := range files {
		name := cmp.Or(relative(root, f), names[f])
		dir, base := filepath.Split(f)
		o := byDir[dir]
		if o == nil {
			o = &origin{dir: filepath.Clean(dir), listed: map[string]string{}, siblings: path.Dir(name)}
			byDir[dir] = o
			groups = append(groups, o)
		}
		o.listed[base] = name
	}
	return groups
}

// distinctNames names paths by their last element, or by as many elements as needed to make the names unique.
func distinctNames(paths []string) map[string]string {
	names := make(map[string]string, len(paths))
	slices.Sort(paths)
	open := slices.Compact(paths)
	for parts := 1; len(open) > 0; parts++ {
		count := map[string]int{}
		for _, p := range open {
			count[lastParts(p, parts)]++
		}
		var again []string
		for _, p := range open {
			name := lastParts(p, parts)
			if count[name] == 1 || name == lastParts(p, parts+1) {
				names[p] = name
			} else {
				again = append(again, p)
			}
		}
		open = again
	}
	return names
}

func lastParts(p string, n int) string {
	if absolute, err := filepath.Abs(p); err == nil {
		p = absolute // "." and ".." need a name, too
	}
	parts := strings.Split(strings.Trim(filepath.ToSlash(p), "/"), "/")
	return path.Join(parts[max(0, len(parts)-n):]...)
}

// covers reports whether an origin yields a file, so that a later one must not repeat it.
func (o *origin) covers(full string) bool {
	rel := relative(o.dir, full)
	return rel != "" && o.requests(rel)
}

// requests reports whether an origin requests a file of its folder.
func (o *origin) requests(rel string) bool {
	switch {
	case o.listed != nil:
		_, ok := o.listed[rel]
		return ok
	case o.pattern != "":
		return doublestar.MatchUnvalidated(o.pattern, rel)
	}
	return true
}

// enters reports whether a pattern can match anything below the folder rel.
func (o *origin) enters(rel string) bool {
	switch {
	case o.listed != nil:
		return false
	case o.pattern == "":
		return true
	case strings.Contains(o.pattern, "{"): // alternatives may contain slashes
		return strings.Contains(o.pattern, "**") || strings.Count(o.pattern, "/") > strings.Count(rel, "/")
	}
	parts := strings.Split(o.pattern, "/")
	for i, name := range strings.Split(rel, "/") {
		if i >= len(parts)-1 && parts[min(i, len(parts)-1)] != "**" {
			return false
		}
		if parts[i] == "**" {
			return true
		}
		if !doublestar.MatchUnvalidated(parts[i], name) {
			return false
		}
	}
	return true
}
