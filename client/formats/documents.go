package formats

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// documents are archives, the containers of other formats, and files that are only stored.
var documents = []Format{
	{name: "zip", kind: "file", magic: []string{"PK\x03\x04", "PK\x05\x06"}, sniff: sniffZip, extensions: []string{"zip"},
		title: "a zip archive", truncated: truncatedZip, reader: features},
	{name: "7z", kind: "file", magic: []string{"7z\xbc\xaf\x27\x1c"}, extensions: []string{"7z"}, title: "a 7z archive",
		truncated: truncated7z},
	{name: "rar", kind: "file", magic: []string{"Rar!\x1a\x07"}},
	{name: "tar.gz", kind: "file", match: func(p *probe) bool {
		return hasAny(p.head, "\x1f\x8b") && (p.ext == "tgz" || strings.HasSuffix(strings.ToLower(p.Name), ".tar.gz"))
	}},
	{name: "gzip", kind: "file", magic: []string{"\x1f\x8b"}},
	{name: "pdf", kind: "file", magic: []string{"%PDF-"}, extensions: []string{"pdf"}, title: "a PDF"},
	{name: "netcdf", kind: "file", magic: []string{"CDF\x01", "CDF\x02"}},
	{name: "hdf5", kind: "file", magic: []string{"\x89HDF\r\n"}},
	{name: "parquet", kind: "file", magic: []string{"PAR1"}},
	{name: "mov", kind: "file", offset: 4, magic: []string{"ftypqt  "}},
	{name: "mp4", kind: "file", offset: 4, magic: []string{"ftyp"}}, // after the images with such a beginning
	{name: "tar", kind: "file", offset: 257, magic: []string{"ustar"}},
	{name: "json", kind: "file", match: func(p *probe) bool { return strings.HasPrefix(p.trimmed(), "{") },
		sniff: sniffJSON, extensions: []string{"json"}, among: plainTexts},
	{name: "xml", kind: "file", match: func(p *probe) bool { return strings.HasPrefix(p.trimmed(), "<") },
		sniff: sniffXML, extensions: []string{"xml"}, among: plainTexts},
	{name: "html", kind: "file", roots: []string{"html", "HTML"}, extensions: []string{"html"}, among: plainTexts},
	{name: "vrt", kind: "file", roots: []string{"VRTDataset"},
		note: "a VRT only points at other files: send those instead"},
	{name: "wkt", kind: "file", extensions: []string{"prj"}, among: plainTexts},
	{kind: "file", extensions: []string{"csv", "txt", "srt", "log", "md", "lua"}, among: plainTexts},
}

// maxDirectory limits the size of a zip's central directory.
const maxDirectory = 16 << 20

// sniffZip reads the central directory: a zip that contains a vector is its archive.
func sniffZip(p *probe) Content {
	plain := named("zip").content()
	end, _ := zipEnd(p.Data, p.Size)
	if len(end) < 16 || binary.LittleEndian.Uint32(end[12:]) > maxDirectory {
		return plain
	}
	archive, err := zip.NewReader(p.Data, p.Size)
	if err != nil {
		plain.Damage = "the zip is damaged: " + err.Error()
		return plain
	}
	found, first := map[string]int{}, ""
	for _, entry := range archive.File {
		base := path.Base(strings.ReplaceAll(entry.Name, `\`, "/"))
		if strings.HasPrefix(base, ".") || strings.HasPrefix(entry.Name, "__MACOSX/") {
			continue
		}
		switch base {
		case "[Content_Types].xml", "AndroidManifest.xml", "mimetype": // a document or a program
			return Content{Kind: "file", Format: p.ext}
		}
		if format := withExtension(extension(base)); format.zipped {
			if found[format.name]++; first == "" || format.name == "shapefile" {
				first = format.name
			}
		}
	}
	if first == "" {
		return plain
	}
	c := Content{Kind: "vector", Format: first, Archive: true}
	switch {
	case p.ext == "kmz" && first == "kml":
		c.Format = "kmz"
	case found[first] > 1:
		c.Note = fmt.Sprintf("the archive holds %d files of format %s; a dataset shows one, so they may have to be sent "+
			"apart", found[first], first)
	case len(found) > 1:
		c.Note = "the archive holds vectors of several formats; a dataset shows one"
	}
	return c
}

// truncatedZip searches for the table of contents, which comes last.
func truncatedZip(f io.ReaderAt, size int64) string {
	if end, err := zipEnd(f, size); err == nil && end == nil {
		return "the table of contents at the end of the zip is missing"
	}
	return ""
}

// truncated7z searches for the table of contents, which the header references.
func truncated7z(f io.ReaderAt, size int64) string {
	head := make([]byte, 32)
	if n, _ := f.ReadAt(head, 0); n < len(head) {
		return headerCut
	}
	offset, length := binary.LittleEndian.Uint64(head[12:]), binary.LittleEndian.Uint64(head[20:])
	if offset < math.MaxInt64/4 && length < math.MaxInt64/4 {
		return tooShort(size, 32+int64(offset+length))
	}
	return ""
}

// zipEnd returns the record at the end of a zip (APPNOTE 4.3.16); nil without one.
func zipEnd(f io.ReaderAt, size int64) ([]byte, error) {
	tail := make([]byte, min(size, 22+1<<16))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	if at := bytes.LastIndex(tail, []byte("PK\x05\x06")); at >= 0 {
		return tail[at:], nil
	}
	return nil, nil
}

var xmlRoot = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)[\s/>]`)
})

// sniffXML recognises XML formats by the name of the root element.
func sniffXML(p *probe) Content {
	text := p.trimmed()
	if at := strings.Index(text, "-->"); strings.HasPrefix(text, "<!--") && at >= 0 {
		text = text[at+3:]
	}
	if m := xmlRoot().FindStringSubmatch(text); m != nil {
		if f := find(func(f *Format) bool { return slices.Contains(f.roots, m[1]) }); f.name != "" {
			return f.content()
		}
	}
	if c, ok := p.among(otherXML); ok {
		return c
	}
	return named("xml").content()
}

// geoJSONTypes are the values of "type" a GeoJSON text can have (RFC 7946).
var geoJSONTypes = map[string]bool{
	"FeatureCollection": true, "Feature": true, "Point": true, "MultiPoint": true, "LineString": true,
	"MultiLineString": true, "Polygon": true, "MultiPolygon": true, "GeometryCollection": true,
}

// maxJSON limits how far a JSON text is read: "type" may come after the features.
const maxJSON = 4 << 20

// sniffJSON reads the names of the top level.
func sniffJSON(p *probe) Content {
	mark := int64(len(p.head) - len(p.text))
	d := jsontext.NewDecoder(io.NewSectionReader(p.Data, mark, maxJSON),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return named("json").content()
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
				return named("topojson").content()
			case err == nil && geoJSONTypes[value.String()]:
				return named("geojson").content()
			}
			continue
		case name == "features":
			features = true
			if p.Size > maxJSON && p.ext == "geojson" {
				return named("geojson").content()
			}
		case name == "asset":
			asset = true
		}
		if d.SkipValue() != nil {
			break
		}
	}
	switch {
	case asset || p.ext == "gltf":
		return named("gltf").content()
	case p.ext == "geojson" || features:
		return named("geojson").content()
	}
	return named("json").content()
}
