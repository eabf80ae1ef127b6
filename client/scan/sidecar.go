package scan

import "strings"

// notSent marks a sidecar file that no component of a dataset can hold.
const notSent = "-"

// sidecarParts are the components that files beside the main one fill, by the
// kind of the main one.
var sidecarParts = map[string]map[string]string{
	// ESRI, "Shapefile Technical Description", and what its software adds.
	"shapefile": {
		".shx": "index", ".dbf": "database", ".prj": "projection",
		".cpg": notSent, ".cst": notSent, ".sbn": notSent, ".sbx": notSent, ".qix": notSent, ".fbn": notSent, ".fbx": notSent,
		".ain": notSent, ".aih": notSent, ".atx": notSent, ".ixs": notSent, ".mxs": notSent, ".qpj": notSent, ".qmd": notSent,
		".qml": notSent, ".sld": notSent, ".shp.xml": notSent,
	},
	// World files depend on the raster's extension.
	"raster": {
		".prj": "projection", ".hdr": "header",
		".aux.xml": notSent, ".aux": notSent, ".ovr": notSent, ".rrd": notSent, ".msk": notSent, ".rpb": notSent, ".rpc": notSent,
		".qml": notSent, ".sld": notSent, ".stx": notSent, ".clr": notSent, ".tif.xml": notSent, ".xmp": notSent, ".qpj": notSent,
	},
	"image":  {".aux.xml": notSent, ".xmp": notSent, ".ovr": notSent, ".thm": notSent},
	"vector": {".prj": "projection", ".qpj": notSent, ".qml": notSent, ".sld": notSent},
	"pcl":    {".prj": notSent, ".lax": notSent, ".aux.xml": notSent},
	"mesh":   {".prj": notSent, ".mtl": "material"},
}

// sidecars are all extensions that may belong to a main file. True means that
// such a file makes no sense alone.
var sidecars = func() map[string]bool {
	all := map[string]bool{}
	for _, parts := range sidecarParts {
		for ext, component := range parts {
			all[ext] = all[ext] || component != notSent
		}
	}
	for _, ext := range []string{
		".wld", ".tfw", ".tifw", ".tiffw", ".jgw", ".jpgw", ".jpegw", ".pgw", ".pngw", ".gfw", ".bpw", ".j2w", ".jp2w", ".sdw",
		".eww", ".blw", ".bqw", ".bilw", // world files
		".cpg", ".sbn", ".sbx", ".ovr",
	} {
		all[ext] = true
	}
	all[".xml"], all[".bin"] = false, false // x.tif.xml; x.bin of x.gltf
	return all
}()

// sidecarStem cuts the extension off a name that may accompany another file,
// the longest one known. ok is false for other names.
func sidecarStem(name string) (stem string, ok bool) {
	last := strings.LastIndexByte(name, '.')
	if last <= 0 {
		return "", false
	}
	if previous := strings.LastIndexByte(name[:last], '.'); previous > 0 {
		if _, known := sidecars[strings.ToLower(name[previous:])]; known {
			return name[:previous], true
		}
	}
	if last+1 == len(name) || len(name)-last > 8 {
		return "", false
	}
	_, known := sidecars[strings.ToLower(name[last:])]
	return name[:last], known
}

// part returns the component of main's dataset that the file other fills; ""
// when it does not belong to it.
func (c content) part(main, other string) string {
	if c.archive || len(other) <= len(main) && len(other) < 2 {
		return ""
	}
	stem, ext := cutExtension(main)
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
		return notSent
	case c.format == "shapefile":
		return sidecarParts["shapefile"][suffix]
	case c.kind == "raster" && isWorldFile(ext, suffix):
		return "worldfile"
	}
	return sidecarParts[c.kind][suffix]
}

// isWorldFile knows the three ways to name one: first and last letter and w,
// all letters and w, and wld.
func isWorldFile(ext, suffix string) bool {
	ext = strings.ToLower(ext)
	if suffix == ".wld" {
		return true
	}
	return len(ext) >= 2 && (suffix == "."+ext+"w" || suffix == "."+ext[:1]+ext[len(ext)-1:]+"w")
}

// cutExtension parts a name at its last dot; ext is without it.
func cutExtension(name string) (stem, ext string) {
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		return name[:at], name[at+1:]
	}
	return name, ""
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
