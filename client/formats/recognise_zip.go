package formats

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
)

// maxDirectory limits the size of a zip's central directory.
const maxDirectory = 16 << 20

// vectorNames are the extensions of vectors in a zip, with their formats.
var vectorNames = map[string]string{
	".shp": "shapefile", ".geojson": "geojson", ".kml": "kml", ".gpkg": "geopackage",
	".gml": "gml", ".fgb": "flatgeobuf", ".tab": "mapinfo", ".mif": "mapinfo",
}

// sniffZip reads the central directory: a zip that contains a vector is its archive.
func sniffZip(f File, ext string) Content {
	plain := Content{Kind: "file", Format: "zip"}
	end, _ := zipEnd(f.Data, f.Size)
	if len(end) < 16 || binary.LittleEndian.Uint32(end[12:]) > maxDirectory {
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
		c.Note = fmt.Sprintf("the archive holds %d files of format %s; a dataset shows one, so they may have to be sent "+
			"apart", found[first], first)
	case len(found) > 1:
		c.Note = "the archive holds vectors of several formats; a dataset shows one"
	}
	return c
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
