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

// signatures are the first bytes that files of a kind begin with.
var signatures = map[string][][]byte{
	"raster": {[]byte("II*\x00"), []byte("MM\x00*"), []byte("II+\x00"), []byte("MM\x00+")},
	"pcl":    {[]byte("LASF")},
}

// sniff checks that the main file of a dataset is of the kind that its type
// says, as far as the first bytes tell. Formats it does not know pass.
func sniff(doc store.Doc, index int, s stored, f io.Reader) error {
	if doc["type"] == any("file") {
		return nil // any file will do
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
			return fmt.Errorf("%s is no ZIP archive", s.filename)
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
	return fmt.Errorf("%s does not begin as a file of its kind does", s.filename)
}

// checkJSON reads a JSON text to its end, without keeping it.
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
			return fmt.Errorf("%s is no JSON: %w", s.filename, err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}
