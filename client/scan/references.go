package scan

import (
	"path"
	"path/filepath"
	"strings"

	"transect/client/formats"
)

// claimTextures first examines the files of the folder that refer to others: textures of a mesh are
// not images of their own, wherever they are in the order.
func (d *directory) claimTextures() {
	for i := range d.len() {
		name := d.name(i)
		if !formats.Refers(name) || !d.sends(i) {
			continue
		}
		if c := d.classify(i); c.Kind == "mesh" && c.err == nil {
			for _, p := range c.parts {
				d.w.claimed[p.Path] = p.component
			}
		}
	}
}

// addReferences adds the files that a file of a format refers to, recursively. The file's path is
// relative to the folder.
func (d *directory) addReferences(c *class, name, format string) {
	f, err := d.w.source.Tree.Open(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		return
	}
	references := formats.References(name, format, f)
	f.Close()
	there := map[string]bool{} // by component
	for _, r := range references {
		if r.Otherwise && there[r.Component] {
			continue
		}
		names := []string{r.Name}
		if _, whole := d.locate(r.Name); r.Several && !whole {
			names = strings.Fields(r.Name)
		}
		for _, n := range names {
			if dir := path.Dir(name); dir != "." {
				n = path.Join(dir, slashed(n))
			}
			if !d.addNamed(c, n, r.Component) {
				continue
			}
			there[r.Component] = true
			if r.Note != "" {
				c.Note = r.Note
			}
			if local, ok := d.locate(n); ok && r.Format != "" {
				d.addReferences(c, local, r.Format)
			}
		}
	}
}

// addNamed adds a file referred to by another one; false when it does not exist.
func (d *directory) addNamed(c *class, name, component string) bool {
	local, ok := d.locate(name)
	if !ok {
		if component == "texture" && c.Note == "" {
			c.Note = "its texture " + name + " is not there"
		}
		return false
	}
	file := filepath.Join(d.dir, filepath.FromSlash(local))
	for _, p := range c.parts {
		if p.Path == file {
			return true
		}
	}
	entry := -1
	if !strings.Contains(local, "/") {
		entry = d.find(local)
	}
	info, err := d.w.source.Tree.Stat(file)
	if err != nil || info.Size() == 0 {
		return false
	}
	c.parts = append(c.parts, part{fileOf(file, d.fullName(local), info), entry, component})
	return true
}

// locate finds a referenced file in the folder or below it, ignoring case. Of paths leading
// elsewhere only the base name counts: paths on the machine that made the model are meaningless
// here, and no reference may send a file from outside the folder.
func (d *directory) locate(name string) (string, bool) {
	name = path.Clean(slashed(strings.Trim(strings.TrimSpace(name), `"`)))
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, ":") {
		name = path.Base(name)
	}
	if name == "." || name == ".." {
		return "", false
	}
	if !strings.Contains(name, "/") {
		j := d.find(name)
		if j < 0 || d.entry(j) != regular {
			return "", false
		}
		return d.name(j), true
	}
	at, entries := "", d.listing
	for i, step := range strings.Split(name, "/") {
		if i > 0 {
			entries, _ = list(d.w.source.Tree, filepath.Join(d.dir, filepath.FromSlash(at))) // empty if it cannot be read
		}
		j := entries.find(step)
		if j < 0 || entries.kind(j) == link && !d.w.source.FollowLinks {
			return "", false
		}
		at = path.Join(at, entries.name(j))
	}
	info, err := d.w.source.Tree.Stat(filepath.Join(d.dir, filepath.FromSlash(at)))
	return at, err == nil && info.Mode().IsRegular()
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }
