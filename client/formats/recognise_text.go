package formats

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// asText returns the head of a file as text; ok is false for binary files.
func asText(head []byte) (string, bool) {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(head, 0) >= 0 {
		return "", false
	}
	odd := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n <= 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' {
			odd++
		}
		i += n
	}
	return string(head), odd*20 <= len(head) // texts in legacy encodings pass
}

var (
	objLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^\s*(v\s+-?[\d.]+(e[-+]?\d+)?\s+-?[\d.]|mtllib\s|usemtl\s|vn\s+-?[\d.]|vt\s+-?[\d.])`)
	})
	ascGrid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*ncols\s+\d+\s+nrows\s+\d+`) })
	numbers = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*-?[\d.]+(e[-+]?\d+)?([\s,;]+-?[\d.]+(e[-+]?\d+)?){2,}\s*$`)
	})
	xmlRoot = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)[\s/>]`)
	})
)

// textFormats cannot be recognised by content.
var textFormats = map[string]string{
	"csv": "csv", "txt": "txt", "json": "json", "xml": "xml", "prj": "wkt", "mtl": "mtl",
	"srt": "srt", "log": "log", "md": "md", "html": "html", "lua": "lua",
}

// sniffText recognises text formats by their first lines, JSON by the beginning of f.
func sniffText(f io.Reader, size int64, text, ext string) Content {
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(trimmed, "{"):
		return sniffJSON(f, size, ext)
	case strings.HasPrefix(trimmed, "<"):
		return sniffXML(trimmed, ext)
	case ascGrid().MatchString(trimmed):
		return Content{Kind: "raster", Format: "aaigrid"}
	case strings.HasPrefix(trimmed, "solid ") && strings.Contains(text, "facet"):
		return Content{Kind: "mesh", Format: "stl"}
	case strings.HasPrefix(trimmed, "VERSION") && strings.Contains(text, "\nFIELDS "):
		return Content{Kind: "pcl", Format: "pcd"}
	case ext == "dxf" && strings.Contains(text, "SECTION"):
		return Content{Kind: "vector", Format: "dxf"}
	case ext == "mtl":
		return Content{Kind: "file", Format: "mtl"}
	case ext == "obj" && (objLine().MatchString(text) || strings.HasPrefix(trimmed, "#")), isOBJ(text):
		return Content{Kind: "mesh", Format: "obj"}
	case (ext == "xyz" || ext == "pts" || ext == "ptx") && pointLines(text, int64(len(text)) < size):
		return Content{Kind: "pcl", Format: ext}
	}
	return Content{Kind: "file", Format: textFormats[ext]}
}

// isOBJ requires several kinds of lines, because the extension is not conclusive.
func isOBJ(text string) bool {
	return strings.Contains(text, "\nv ") && (strings.Contains(text, "\nmtllib ") || strings.HasPrefix(text, "mtllib ") ||
		strings.Contains(text, "\nvn ") || strings.Contains(text, "\nf ")) && len(objLine().FindAllStringIndex(text, 4)) == 4
}

// pointLines reports whether all lines have at least three numbers; the first two may be a header,
// the last one may be incomplete.
func pointLines(text string, cut bool) bool {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if cut && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	good := 0
	for _, line := range lines {
		if numbers().MatchString(line) {
			good++
		}
	}
	return good > 0 && good >= len(lines)-11 && good*2 >= len(lines)-2
}

// xmlRoots are the XML formats by the name of the root element.
var xmlRoots = map[string]Content{
	"kml": {Kind: "vector", Format: "kml"}, "gpx": {Kind: "vector", Format: "gpx"}, "FeatureCollection": {Kind: "vector",
		Format: "gml"},
	"COLLADA": {Kind: "mesh", Format: "collada"}, "html": {Kind: "file", Format: "html"}, "HTML": {Kind: "file",
		Format: "html"},
	"VRTDataset": {Kind: "file", Format: "vrt", Note: "a VRT only points at other files: send those instead"},
}

// sniffXML recognises XML formats by the name of the root element.
func sniffXML(text, ext string) Content {
	if at := strings.Index(text, "-->"); strings.HasPrefix(text, "<!--") && at >= 0 {
		text = text[at+3:]
	}
	root := ""
	if m := xmlRoot().FindStringSubmatch(text); m != nil {
		root = m[1]
	}
	if c, known := xmlRoots[root]; known {
		return c
	}
	if ext == "gml" {
		return Content{Kind: "vector", Format: "gml"}
	}
	return Content{Kind: "file", Format: "xml"}
}

// geoJSONTypes are the values of "type" a GeoJSON text can have (RFC 7946).
var geoJSONTypes = map[string]bool{
	"FeatureCollection": true, "Feature": true, "Point": true, "MultiPoint": true, "LineString": true,
	"MultiLineString": true, "Polygon": true, "MultiPolygon": true, "GeometryCollection": true,
}

// maxJSON limits how far a JSON text is read: "type" may come after the features.
const maxJSON = 4 << 20

// sniffJSON reads the names of the top level.
func sniffJSON(f io.Reader, size int64, ext string) Content {
	other := Content{Kind: "file", Format: "json"}
	d := jsontext.NewDecoder(f, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return other
	}
	features, asset := false, false
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			break
		}
		switch name := token.String(); {
		case name == "type" && d.PeekKind() == '"':
			value, err := d.ReadToken()
			switch {
			case err == nil && value.String() == "Topology":
				return Content{Kind: "vector", Format: "topojson"}
			case err == nil && geoJSONTypes[value.String()]:
				return Content{Kind: "vector", Format: "geojson"}
			}
			continue
		case name == "features":
			features = true
			if size > maxJSON && ext == "geojson" {
				return Content{Kind: "vector", Format: "geojson"}
			}
		case name == "asset":
			asset = true
		}
		if d.SkipValue() != nil {
			break
		}
	}
	switch {
	case asset || ext == "gltf":
		return Content{Kind: "mesh", Format: "gltf"}
	case ext == "geojson" || features:
		return Content{Kind: "vector", Format: "geojson"}
	}
	return other
}
