package scan

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// here is the folder being read.
type here struct {
	*listing
	w        *walk
	origin   *origin
	number   int // of the origin
	dir, rel string

	// Decisions on files that share a stem, which are neighbours: each is asked
	// for several times, by its own turn and by those that may accompany it.
	decided map[int]*decision
	stem    string
}

// decision is what a file was found to be, and what goes with it.
type decision struct {
	content
	parts []part
	note  string
	err   error
}

// part is a file that accompanies the main one.
type part struct {
	File
	entry     int // of the listing, -1 for one in another folder
	component string
}

func (h *here) path(name string) string { return filepath.Join(h.dir, name) }

// full is a name relative to the source, as text: names of files can be any
// bytes, and what is no text would not be the same when it comes back.
func (h *here) full(name string) string { return Readable(h.within(name)) }

// Readable writes bytes that are no text as %FF.
func Readable(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if _, size := utf8.DecodeRuneInString(name[i:]); r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", name[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (h *here) within(name string) string {
	if h.origin.listed != nil {
		if given, ok := h.origin.listed[name]; ok {
			return given
		}
		return path.Join(h.origin.beside, name)
	}
	return path.Join(h.origin.label, h.rel, name)
}

// given tells whether the origin asks for the file.
func (h *here) given(name string) bool {
	switch {
	case h.origin.listed != nil:
		_, ok := h.origin.listed[name]
		return ok
	case h.origin.pattern != "":
		return doublestar.MatchUnvalidated(h.origin.pattern, path.Join(h.rel, name))
	}
	return true
}

// selected tells whether a file is wanted by its name alone.
func (h *here) selected(name string) bool {
	if _, bad := unwanted(name); bad && h.origin.listed == nil {
		return false
	}
	return h.given(name) && h.w.filter.passes(h.full(name))
}

// entry is the type of an entry; that of what a link points at, when links are
// followed.
func (h *here) entry(i int) entryType {
	kind := h.kind(i)
	if kind != link || !h.w.source.FollowLinks && h.origin.listed == nil {
		return kind
	}
	info, err := os.Stat(h.path(h.name(i)))
	if err != nil {
		return regular // told when it is opened
	}
	return typeOf(info.Mode())
}

// company lists the entries that start with the stem of i and a dot, but i.
func (h *here) company(i int) []int {
	stem, _ := cutExtension(h.name(i))
	var all []int
	for j := range h.withPrefix(stem + ".") {
		if j != i {
			all = append(all, j)
		}
	}
	return all
}

// owner tells whether entry i accompanies a file that is sent with it. A main
// file that is left out by its name does not count: what is wanted by its own
// name is sent alone then.
func (h *here) owner(i int, stem string) bool {
	takes := func(j int) bool {
		name := h.name(j)
		if j == i || h.entry(j) != regular || !h.selected(name) {
			return false
		}
		if _, may := sidecarStem(name); may {
			return false
		}
		return slices.ContainsFunc(h.decide(j).parts, func(p part) bool { return p.entry == i })
	}
	if j := h.find(stem); j >= 0 && takes(j) {
		return true
	}
	for j := range h.withPrefix(stem + ".") {
		if takes(j) {
			return true
		}
	}
	return false
}

// decide recognises entry i and finds what goes with it.
func (h *here) decide(i int) *decision {
	name := h.name(i)
	stem, ext := cutExtension(name)
	if !strings.EqualFold(stem, h.stem) || h.decided == nil {
		h.stem, h.decided = stem, map[int]*decision{}
	}
	if d, known := h.decided[i]; known {
		return d
	}
	d := &decision{}
	h.decided[i] = d
	info, err := os.Stat(h.path(name))
	if err != nil || info.Size() == 0 {
		d.err = err
		return d
	}
	d.content, d.err = sniff(h.w.source.Open, h.path(name), info.Size(), strings.ToLower(ext))
	d.note = d.content.note
	if d.err != nil || h.w.source.Kind == "file" {
		return d
	}
	company := h.company(i)
	h.place(d, name, ext, company)
	for _, j := range company {
		component := d.part(name, h.name(j))
		if component == "" || d.kind == "mesh" && component == "material" {
			continue
		}
		h.add(d, j, component)
	}
	if d.kind == "mesh" {
		h.mesh(d, i)
	}
	if d.format == "shapefile" && !d.archive {
		h.complete(d, stem)
	}
	d.order()
	return d
}

// place makes a raster of what files beside it place on earth.
func (h *here) place(d *decision, name, ext string, company []int) {
	world, projection, header := false, false, ""
	for _, j := range company {
		other := h.name(j)
		_, suffix := cutExtension(other)
		suffix = "." + strings.ToLower(suffix)
		stem, _ := cutExtension(name)
		if !strings.EqualFold(other[:len(other)-len(suffix)], stem) && !strings.EqualFold(other[:len(other)-len(suffix)], name) {
			continue
		}
		world = world || isWorldFile(ext, suffix)
		projection = projection || suffix == ".prj"
		if suffix == ".hdr" {
			header = h.path(other)
		}
	}
	switch {
	case d.kind == "image" && d.flat && (world || d.format == "tiff" && !d.camera && projection):
		d.kind = "raster"
	case d.kind == "file" && d.format == "" && header != "":
		if format := sniffHeader(h.w.source.Open, header); format != "" {
			d.kind, d.format = "raster", format
		}
	}
}

// add takes a file of the folder along, unless it cannot be sent.
func (h *here) add(d *decision, j int, component string) {
	if h.entry(j) != regular {
		return
	}
	name := h.name(j)
	// A pattern asked for the main file; what is excluded by name stays out.
	if len(h.w.filter.exclude) > 0 && matchAny(h.w.filter.exclude, strings.ToLower(h.full(name))) {
		return
	}
	info, err := os.Stat(h.path(name))
	if err != nil || info.Size() == 0 {
		return // told in its own turn
	}
	d.parts = append(d.parts, part{fileOf(h.path(name), h.full(name), info), j, component})
}

// ranks is the order of components in an item, after the main file.
var ranks = map[string]int{"database": 1, "index": 2, "projection": 3, "worldfile": 4, "header": 5, "texture": 6, "material": 7}

// order sorts the parts and keeps one file for each component: of several in
// different letter case, the first.
func (d *decision) order() {
	slices.SortStableFunc(d.parts, func(a, b part) int { return ranks[a.component] - ranks[b.component] })
	seen := map[string]bool{}
	for i, p := range d.parts {
		if p.component == "texture" || p.component == "material" || p.component == aside {
			continue
		}
		if seen[p.component] {
			d.parts[i].component = aside
			d.note = "there are two files for its " + p.component + ": " + p.Name + " is not sent"
		}
		seen[p.component] = true
	}
}

// complete notes what a shapefile lacks.
func (h *here) complete(d *decision, stem string) {
	var lacks []string
	for _, need := range []struct{ ext, component string }{{".dbf", "database"}, {".shx", "index"}} {
		if !slices.ContainsFunc(d.parts, func(p part) bool { return p.component == need.component }) {
			lacks = append(lacks, path.Base(stem)+need.ext)
		}
	}
	if len(lacks) > 0 {
		d.note = "the shapefile is not complete: " + strings.Join(lacks, " and ") + " missing"
	}
}

// mains are the components of main files.
var mains = map[string]string{"image": "image", "raster": "raster", "vector": "vector", "mesh": "mesh", "pcl": "pcl", "file": "file"}

// item puts together what was decided on entry i.
func (h *here) item(i int, info fs.FileInfo, d *decision) Item {
	name := h.name(i)
	item := Item{Kind: d.kind, Format: d.format, Name: h.full(name), Note: d.note}
	component := mains[d.kind]
	if d.archive {
		component = "archive"
	}
	forced := h.w.source.Kind
	kept := forced == "" || forced == d.kind
	if forced != "" {
		if item.Kind = forced; !kept {
			component = mains[forced]
		}
	}
	item.Members = []Member{{fileOf(h.path(name), item.Name, info), component}}
	counts := map[string]int{}
	for _, p := range d.parts {
		counts[p.component]++
	}
	next := map[string]int{}
	for _, p := range d.parts {
		if p.component == aside || !kept {
			item.Aside = append(item.Aside, p.File)
			continue
		}
		item.Members = append(item.Members, Member{p.File, numbered(p.component, next[p.component], counts[p.component])})
		next[p.component]++
	}
	return item
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func lowerASCII(s string) string { return strings.ToLower(s) }
