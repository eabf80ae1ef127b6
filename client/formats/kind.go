package formats

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"path/filepath"
	"strings"
)

// kind is what a file is, and how it is shown.
type kind struct {
	preview func(context.Context, *file, int) (image.Image, error)
	extent  func(context.Context, *file) (Info, error)
}

// headSize is how much of a file tells its kind.
const headSize = 4096

// kind tells the kind of a file by its first bytes, for text by its extension.
func (f *file) kind() (kind, error) {
	if f.Size <= 0 {
		return kind{}, errors.New("the file is empty")
	}
	head := make([]byte, min(f.Size, headSize))
	n, err := f.Data.ReadAt(head, 0)
	if err != nil && (err != io.EOF || n == 0) {
		return kind{}, err
	}
	head = head[:n]
	for _, m := range magics {
		if len(head) > m.offset && bytes.HasPrefix(head[m.offset:], []byte(m.bytes)) {
			return m.kind, nil
		}
	}
	if ext := strings.ToLower(filepath.Ext(f.Name)); ext == ".obj" || ext == ".stl" {
		return solid, nil
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("<")) {
		return shape, nil
	}
	return kind{}, nil
}

var (
	photo = kind{previewPhoto, extentOfPhoto}
	tiff  = kind{previewRaster, extentOfRaster} // or a photo
	cloud = kind{previewCloud, extentOfCloud}
	shape = kind{previewShapes, extentOfShapes}
	solid = kind{previewMesh, extentOfMesh}
)

// magics are the first bytes of the kinds.
var magics = []struct {
	offset int
	bytes  string
	kind   kind
}{
	{0, "\xff\xd8", photo}, {0, "\x89PNG\r\n\x1a\n", photo}, {0, "GIF8", photo}, {0, "BM", photo}, {8, "WEBP", photo},
	{0, "II*\x00", tiff}, {0, "MM\x00*", tiff}, {0, "II+\x00", tiff}, {0, "MM\x00+", tiff},
	{0, "LASF", cloud},
	{0, "PK\x03\x04", shape}, {0, "SQLite format 3\x00", shape}, {0, "\x00\x00\x27\x0a", shape},
	{0, "ply\n", solid}, {0, "ply\r", solid},
}
