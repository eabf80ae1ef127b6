package platform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"transect/platform/store"
)

// signatures are the first bytes of the files of a dataset type.
var signatures = map[string][][]byte{
	"raster": {[]byte("II*\x00"), []byte("MM\x00*"), []byte("II+\x00"), []byte("MM\x00+")},
	"pcl":    {[]byte("LASF")},
}

// sniff checks, by the first bytes, that a file has the format of its extension
// or of the dataset's type. Unknown formats pass.
func sniff(doc store.Doc, index int, s stored, f io.Reader) error {
	if doc["type"] == any("file") {
		return nil
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	head = head[:n]
	extension := strings.ToLower(filepath.Ext(s.filename))
	kind, _ := doc["type"].(string)
	switch extension {
	case ".tif", ".tiff":
		kind = "raster"
	case ".las", ".laz":
		kind = "pcl"
	case ".zip":
		if !bytes.HasPrefix(head, []byte("PK")) {
			return fmt.Errorf("%s is not a ZIP archive", s.filename)
		}
		return nil
	case ".json", ".geojson":
		return checkJSON(s, io.MultiReader(bytes.NewReader(head), f))
	default:
		return nil
	}
	if index > 0 {
		return nil
	}
	for _, signature := range signatures[kind] {
		if bytes.HasPrefix(head, signature) {
			return nil
		}
	}
	return fmt.Errorf("%s is not a valid %s file: its first bytes are wrong", s.filename, kind)
}

// checkJSON reads a JSON text to its end.
func checkJSON(s stored, r io.Reader) error {
	d := json.NewDecoder(r)
	for depth := 0; ; {
		token, err := d.Token()
		if err == io.EOF && depth == 0 {
			return nil
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("%s is not valid JSON: %w", s.filename, err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}
