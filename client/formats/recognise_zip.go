package formats

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
)

// maxDirectory limits the size of a zip's central directory.
const maxDirectory = 16 << 20

// vectorNames are extensions of vectors in a zip, and their formats.
var vectorNames = map[string]string{
	".shp": "shapefile", ".geojson": "geojson", ".kml": "kml", ".gpkg": "geopackage",
	".gml": "gml", ".fgb": "flatgeobuf", ".tab": "mapinfo", ".mif": "mapinfo",
}

// sniffZip reads the central directory: a zip that contains a vector is an archive
// of it.
func sniffZip(f File, ext string) Content {
	plain := Content{Kind: "file", Format: "zip"}
	if length, ok := zipDirectory(f); !ok || length > maxDirectory {
		return plain
	}
	archive, err := zip.NewReader(f.Data, f.Size)
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
			return Content{Kind: "file", Format: ext}
		}
		if format := vectorNames[strings.ToLower(path.Ext(base))]; format != "" {
			if found[format]++; first == "" || format == "shapefile" {
				first = format
			}
		}
	}
	if first == "" {
		return plain
	}
	c := Content{Kind: "vector", Format: first, Archive: true}
	switch {
	case ext == "kmz" && first == "kml":
		c.Format = "kmz"
	case found[first] > 1:
		c.Note = fmt.Sprintf("the archive holds %d files of format %s; a dataset shows one, so they may have to be sent apart", found[first], first)
	case len(found) > 1:
		c.Note = "the archive holds vectors of several formats; a dataset shows one"
	}
	return c
}

// zipDirectory finds the length of the central directory (APPNOTE 4.3.16).
func zipDirectory(f File) (int64, bool) {
	tail := make([]byte, min(f.Size, 22+1<<16))
	if _, err := f.Data.ReadAt(tail, f.Size-int64(len(tail))); err != nil && err != io.EOF {
		return 0, false
	}
	at := strings.LastIndex(string(tail), "PK\x05\x06")
	if at < 0 || at+16 > len(tail) {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint32(tail[at+12:])), true
}
