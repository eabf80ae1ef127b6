package formats

import (
	"strings"
	"sync"
)

// NotSent marks a sidecar file that is not a component of any dataset.
const NotSent = "-"

// sidecarParts are the components of the files accompanying a main one, by its kind. Formats with others declare them.
var sidecarParts = map[string]map[string]string{
	// World files depend on the raster's extension.
	"raster": {
		".prj": "projection", ".hdr": "header",
		".aux.xml": NotSent, ".aux": NotSent, ".ovr": NotSent, ".rrd": NotSent, ".ige": NotSent, ".msk": NotSent,
		".rpb": NotSent, ".rpc": NotSent,
		".qml": NotSent, ".sld": NotSent, ".stx": NotSent, ".clr": NotSent, ".tif.xml": NotSent, ".xmp": NotSent,
		".qpj": NotSent,
	},
	"image":  {".aux.xml": NotSent, ".xmp": NotSent, ".ovr": NotSent, ".thm": NotSent},
	"vector": {".prj": "projection", ".qpj": NotSent, ".qml": NotSent, ".sld": NotSent},
	"pcl":    {".prj": NotSent, ".lax": NotSent, ".aux.xml": NotSent},
	"mesh":   {".prj": NotSent, ".mtl": "material"},
}

// sidecars returns all suffixes that may belong to a main file. True means that such a file is useless alone.
var sidecars = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{".wld": true, ".cpg": true, ".sbn": true, ".sbx": true, ".ovr": true,
		".xml": false, ".bin": false} // x.tif.xml; x.bin of x.gltf
	add := func(parts map[string]string) {
		for suffix, component := range parts {
			all[suffix] = all[suffix] || component != NotSent
		}
	}
	for _, parts := range sidecarParts {
		add(parts)
	}
	for _, f := range registered {
		add(f.beside)
		for _, ext := range f.extensions {
			if f.world {
				all["."+ext+"w"], all[shortWorldFile(ext)] = true, true
			}
		}
	}
	return all
})

// SidecarStem removes the longest known extension from the name of a possible sidecar. ok is false
// for other names.
func SidecarStem(name string) (stem string, ok bool) {
	last := strings.LastIndexByte(name, '.')
	if last <= 0 {
		return "", false
	}
	if main, ok := logOf(name); ok {
		return main, true
	}
	if previous := strings.LastIndexByte(name[:last], '.'); previous > 0 {
		if _, known := sidecars()[strings.ToLower(name[previous:])]; known {
			return name[:previous], true
		}
	}
	if last+1 == len(name) || len(name)-last > 8 {
		return "", false
	}
	_, known := sidecars()[strings.ToLower(name[last:])]
	return name[:last], known
}

// logOf returns the SQLite database of a write-ahead log, its index, or a rollback journal (SQLite,
// "Temporary Files Used By SQLite").
func logOf(name string) (database string, ok bool) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if database, ok = strings.CutSuffix(name, suffix); ok && strings.Contains(database, ".") {
			return database, true
		}
	}
	return "", false
}

// IsLog reports whether a file is a database log, by its name.
func IsLog(name string) bool {
	_, ok := logOf(name)
	return ok
}

// NeedsMain reports whether a file with a name's extension is useless alone.
func NeedsMain(name string) bool {
	return sidecars()["."+extension(name)]
}

// Component returns the component of main's dataset that the file other fills; "" when other does
// not belong to it.
func (c Content) Component(main, other string) string {
	if c.Archive || len(other) <= len(main) && len(other) < 2 {
		return ""
	}
	f := named(c.Format)
	if database, ok := logOf(other); ok {
		if f.logged && strings.EqualFold(database, main) {
			return NotSent
		}
		return ""
	}
	stem, ext := CutExtension(main)
	var suffix string
	appended := hasPrefixFold(other, main) // x.tif.xml, not x.xml
	switch {
	case appended:
		suffix = strings.ToLower(other[len(main):])
	case hasPrefixFold(other, stem):
		suffix = strings.ToLower(other[len(stem):])
	}
	switch {
	case len(suffix) < 2 || suffix[0] != '.':
		return ""
	case appended && suffix == ".xml":
		return NotSent
	case f.beside != nil:
		return f.beside[suffix]
	case c.Kind == "raster" && isWorldFile(ext, suffix):
		return "worldfile"
	case appended && suffix == ".aux.xml" && c.auxiliary != "":
		return c.auxiliary
	case suffix == ".hdr" && c.auxiliary == "header":
		return NotSent
	}
	return sidecarParts[c.Kind][suffix]
}

// isWorldFile accepts the three naming schemes: first and last letter and w, all letters and w, and wld.
func isWorldFile(ext, suffix string) bool {
	ext = strings.ToLower(ext)
	if suffix == ".wld" {
		return true
	}
	return len(ext) >= 2 && (suffix == "."+ext+"w" || suffix == shortWorldFile(ext))
}

// shortWorldFile returns the suffix of a world file with the first and last letter of an extension.
func shortWorldFile(ext string) string { return "." + ext[:1] + ext[len(ext)-1:] + "w" }

// CutExtension splits a name at its last dot; ext is without the dot.
func CutExtension(name string) (stem, ext string) {
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		return name[:at], name[at+1:]
	}
	return name, ""
}

// extension returns the extension of a name in lower case.
func extension(name string) string {
	_, ext := CutExtension(name)
	return strings.ToLower(ext)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// Georeference makes c a raster if accompanying files georeference it; head returns the first bytes
// of one of them.
func (c *Content) Georeference(main string, beside []string, head func(name string) []byte) {
	world, projection, auxiliary, header := false, false, false, ""
	stem, ext := CutExtension(main)
	for _, name := range beside {
		if strings.EqualFold(name, main+".aux.xml") {
			text := string(head(name))
			auxiliary = strings.Contains(text, "<GeoTransform>") || strings.Contains(text, "<SRS")
		}
		other, suffix := CutExtension(name)
		if suffix = "." + strings.ToLower(suffix); !strings.EqualFold(other, stem) && !strings.EqualFold(other, main) {
			continue
		}
		world = world || isWorldFile(ext, suffix)
		projection = projection || suffix == ".prj"
		if suffix == ".hdr" {
			header = name
		}
	}
	switch {
	case c.Kind == "image" && c.flat && (world || auxiliary || c.Format == "tiff" && !c.camera && projection):
		c.Kind = "raster"
	case c.Kind == "file" && c.Format == "" && header != "":
		if f := declaredBy(head(header)); f.name != "" {
			c.Kind, c.Format = f.kind, f.name
			if auxiliary { // adds to the raster's header
				c.auxiliary = "worldfile"
			}
			return
		}
	}
	if auxiliary && c.Kind == "raster" {
		c.auxiliary = "header"
	}
}

// Complete adds a note when something required by main's format is missing: a component, or changes
// in an accompanying file.
func (c *Content) Complete(main string, beside []string, has func(component string) bool) {
	for _, other := range beside {
		if c.Component(main, other) == NotSent && IsLog(other) && !strings.HasSuffix(other, "-shm") {
			c.Note = "its latest changes are in " + other + ", which the platform does not read: close the program that " +
				"has it open, then send it again"
		}
	}
	if c.Archive {
		return
	}
	f := named(c.Format)
	stem, _ := CutExtension(main)
	var missing []string
	for _, suffix := range f.required {
		if !has(f.beside[suffix]) {
			missing = append(missing, stem+suffix)
		}
	}
	if len(missing) > 0 {
		c.Incomplete = true
		c.Note = "the " + f.name + " is not complete: " + strings.Join(missing, " and ") + " missing"
	}
}
