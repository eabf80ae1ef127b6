package scan

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"transect/client/files"
	"transect/client/formats"
)

// directory is the folder being read.
type directory struct {
	*listing
	w        *walk
	origin   *origin
	number   int    // index of the origin
	dir, rel string // path, and path within the origin

	// Files that share a stem are neighbours, and the class of each is needed several times: for
	// itself and for those it may be a sidecar file of.
	classes map[int]*class
	stem    string
}

// class is the recognised type of a file, with its accompanying files.
type class struct {
	formats.Content
	parts []part
	err   error
}

// part is a file accompanying the main one.
type part struct {
	File
	entry     int // index in the listing, -1 for one in another folder
	component string
}

func (d *directory) path(name string) string { return filepath.Join(d.dir, name) }

// fullName returns the path of a file within the source, as text.
func (d *directory) fullName(name string) string {
	if d.origin.listed == nil {
		return Readable(path.Join(d.origin.prefix, d.rel, name))
	}
	if given, ok := d.origin.listed[name]; ok {
		return Readable(given)
	}
	return Readable(path.Join(d.origin.siblings, name))
}

// Readable replaces the bytes of a name that are not valid UTF-8 by %FF.
func Readable(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return Escape(name, func(rune) bool { return false })
}

// Escape is like Readable, and also escapes the characters selected by also.
func Escape(name string, also func(rune) bool) string {
	var b strings.Builder
	for i, r := range name {
		if _, size := utf8.DecodeRuneInString(name[i:]); r == utf8.RuneError && size == 1 || also(r) {
			fmt.Fprintf(&b, "%%%02X", name[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// requested reports whether the origin requests the file.
func (d *directory) requested(name string) bool {
	return d.origin.requests(path.Join(d.rel, name))
}

// selected reports whether a file passes the name filters.
func (d *directory) selected(name string) bool {
	if _, bad := unwanted(name); bad && d.origin.listed == nil {
		return false
	}
	return d.requested(name) && d.w.filter.passes(d.fullName(name))
}

// sends reports whether the filters accept a file as the main one of an item.
func (d *directory) sends(i int) bool {
	name := d.name(i)
	if d.entry(i) != regular || !d.selected(name) {
		return false
	}
	info, err := d.w.source.Tree.Stat(d.path(name))
	return err == nil && !d.w.wrongSize(info) && d.w.recent(d, i, info)
}

// entry returns the type of an entry, or of a followed link's target.
func (d *directory) entry(i int) entryType {
	kind := d.kind(i)
	if kind != link || !d.w.source.FollowLinks && d.origin.listed == nil {
		return kind
	}
	info, err := d.w.source.Tree.Stat(d.path(d.name(i)))
	if err != nil {
		return regular // opening it will report the error
	}
	return typeOf(info.Mode())
}

// siblings lists the other entries that start with the stem of i and a dot.
func (d *directory) siblings(i int) []int {
	stem, _ := formats.CutExtension(d.name(i))
	var all []int
	for j := range d.withPrefix(stem + ".") {
		if j != i {
			all = append(all, j)
		}
	}
	return all
}

// belongs returns the component that entry i fills of a dataset whose main file is sent,
// formats.NotSent when it accompanies a main file but no component can hold it, and "" when it is
// an item of its own, like a sidecar file whose main file is left out.
func (d *directory) belongs(i int) (component string) {
	name := d.name(i)
	if d.w.source.Kind == "file" {
		return ""
	}
	component = d.w.claimed[d.path(name)]
	stem, may := formats.SidecarStem(name)
	if !may {
		return component
	}
	ask := func(j int) {
		if _, may := formats.SidecarStem(d.name(j)); may || j == i || !d.sends(j) {
			return
		}
		for _, p := range d.classify(j).parts {
			if p.entry == i && (component == "" || component == formats.NotSent) {
				component = p.component
			}
		}
	}
	if j := d.find(stem); j >= 0 {
		ask(j)
	}
	for j := range d.withPrefix(stem + ".") {
		ask(j)
	}
	return component
}

// classify recognises entry i and finds its accompanying files.
func (d *directory) classify(i int) *class {
	name := d.name(i)
	stem, _ := formats.CutExtension(name)
	if !strings.EqualFold(stem, d.stem) || d.classes == nil {
		d.stem, d.classes = stem, map[int]*class{}
	}
	if c, ok := d.classes[i]; ok {
		return c
	}
	c := &class{}
	d.classes[i] = c
	info, err := d.w.source.Tree.Stat(d.path(name))
	if err != nil || info.Size() == 0 {
		c.err = err
		return c
	}
	c.Content, c.err = recognise(d.w.source.Tree, d.path(name), info.Size())
	if c.err != nil || d.w.source.Kind == "file" {
		return c
	}
	siblings := d.siblings(i)
	var names []string
	for _, j := range siblings {
		if info, err := d.w.source.Tree.Stat(d.path(d.name(j))); err == nil && info.Size() > 0 {
			names = append(names, d.name(j))
		}
	}
	c.Georeference(name, names, d.head)
	for _, j := range siblings {
		component := c.Component(name, d.name(j))
		if component != "" && !(c.Kind == "mesh" && component == "material") {
			d.addSibling(c, j, component)
		}
	}
	if c.Kind == "mesh" {
		d.addReferences(c, name, c.Format)
	}
	c.Complete(name, names, func(component string) bool {
		return slices.ContainsFunc(c.parts, func(p part) bool { return p.component == component })
	})
	c.sortParts(name)
	if forced := d.w.source.Kind; forced != "" && forced != c.Kind { // datasets of a forced kind have one component
		for n := range c.parts {
			c.parts[n].component = formats.NotSent
		}
	}
	return c
}

// head returns the first bytes of a file, or none if it cannot be read.
func (d *directory) head(name string) []byte {
	f, err := d.w.source.Tree.Open(d.path(name))
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 4096))
	return head
}

// recognise recognises a file by its content.
func recognise(tree files.Tree, path string, size int64) (formats.Content, error) {
	f, err := tree.Open(path)
	if err != nil {
		return formats.Content{}, err
	}
	defer f.Close()
	return formats.Recognise(formats.File{Name: filepath.Base(path), Data: f, Size: size})
}

// addSibling adds entry j to a class, if it can be sent.
func (d *directory) addSibling(c *class, j int, component string) {
	name := d.name(j)
	// The main file was requested; exclude only files excluded by name.
	if d.entry(j) != regular || matchAny(d.w.filter.exclude, strings.ToLower(d.fullName(name))) {
		return
	}
	if info, err := d.w.source.Tree.Stat(d.path(name)); err == nil && info.Size() > 0 { // else reported on its own
		c.parts = append(c.parts, part{fileOf(d.path(name), d.fullName(name), info), j, component})
	}
}

// componentOrder is the order of components in an item, after the main file.
var componentOrder = []string{formats.NotSent, "database", "index", "projection", "worldfile", "header", "texture",
	"material"}

// repeatable reports whether a mesh can have several files of a component.
func repeatable(component string) bool { return component == "texture" || component == "material" }

// sortParts sorts the parts and keeps one file per component: of files that differ in case, the one
// whose name is the main file's with an extension in the same case.
func (c *class) sortParts(main string) {
	stem, ext := formats.CutExtension(main)
	other := func(p part) int {
		if s, e := formats.CutExtension(filepath.Base(p.Path)); s == stem &&
			(e == strings.ToUpper(e)) == (ext == strings.ToUpper(ext)) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(c.parts, func(a, b part) int {
		return cmp.Or(slices.Index(componentOrder, a.component)-slices.Index(componentOrder, b.component), other(a)-other(b))
	})
	seen := map[string]bool{}
	for i, p := range c.parts {
		if repeatable(p.component) || p.component == formats.NotSent {
			continue
		}
		if seen[p.component] {
			c.parts[i].component = formats.NotSent
			c.Note = "there are two files for its " + p.component + ": " + p.Name + " is sent as a file of its own"
		}
		seen[p.component] = true
	}
}

// unsentNote returns a note naming the sidecar files that no component can hold and the caller did not
// request; requested ones are items of their own.
func (d *directory) unsentNote(c *class) string {
	var names []string
	for _, p := range c.parts {
		if p.component == formats.NotSent && (p.entry < 0 || !d.requested(d.name(p.entry))) {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "not sent, as the selection leaves it out: " + strings.Join(names, ", ")
}

// item returns the item whose main file is entry i.
func (d *directory) item(i int, info fs.FileInfo, c *class) Item {
	name := d.name(i)
	item := Item{Kind: c.Kind, Format: c.Format, Name: d.fullName(name), Note: c.Note, Incomplete: c.Incomplete,
		Damage: c.Damage}
	component := c.Kind
	if c.Archive {
		component = "archive"
	}
	if forced := d.w.source.Kind; forced != "" && forced != c.Kind {
		item.Kind, item.Damage, component = forced, "", forced
	}
	item.Note = cmp.Or(item.Note, d.unsentNote(c))
	item.Members = []Member{{fileOf(d.path(name), item.Name, info), component}}
	counts, next := map[string]int{}, map[string]int{}
	for _, p := range c.parts {
		counts[p.component]++
	}
	for _, p := range c.parts {
		if _, ext := formats.CutExtension(p.Path); item.Kind == "pcl" && strings.EqualFold(ext, "prj") {
			item.Projection = p.Path
		}
		if p.component == formats.NotSent {
			continue
		}
		component := p.component
		if counts[component] > 1 && repeatable(component) {
			component = fmt.Sprintf("%s_%d", component, next[p.component]) // numbered like the platform does
		}
		next[p.component]++
		item.Members = append(item.Members, Member{p.File, component})
	}
	return item
}
