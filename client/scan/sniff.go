package scan

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"

	"transect/client/imagery"
)

// content is what a file was recognised as.
type content struct {
	kind, format string
	archive      bool // packed: fills the component archive of a vector
	camera       bool // a camera took it
	flat         bool // an image that a world file can place on earth
	picture      bool // a TIFF that can be shown as it is
	georef       bool // it says where it is
	note         string
}

// headSize is what is read of every file: enough for magic numbers and the
// first lines of text formats.
const headSize = 4096

// magics are the first bytes of formats that need no further look.
var magics = []struct {
	offset int
	bytes  string
	is     content
}{
	{0, "\xff\xd8\xff", content{kind: "image", format: "jpeg", flat: true, picture: true}},
	{0, "\x89PNG\r\n\x1a\n", content{kind: "image", format: "png", flat: true, picture: true}},
	{0, "\x00\x00\x00\x0cjP  ", content{kind: "raster", format: "jp2", flat: true}},
	{0, "GIF8", content{kind: "image", format: "gif", flat: true, picture: true}},
	{0, "FUJIFILMCCD-RAW", content{kind: "image", format: "raf"}},
	{0, "EHFA_HEADER_TAG", content{kind: "raster", format: "hfa"}},
	{0, "ASTM-E57", content{kind: "pcl", format: "e57"}},
	{0, "# .PCD", content{kind: "pcl", format: "pcd"}},
	{0, "glTF", content{kind: "mesh", format: "glb"}},
	{0, "Kaydara FBX Binary", content{kind: "mesh", format: "fbx"}},
	{0, "fgb\x03fgb", content{kind: "vector", format: "flatgeobuf"}},
	{0, "7z\xbc\xaf\x27\x1c", content{kind: "file", format: "7z"}},
	{0, "Rar!\x1a\x07", content{kind: "file", format: "rar"}},
	{0, "%PDF-", content{kind: "file", format: "pdf"}},
	{0, "CDF\x01", content{kind: "file", format: "netcdf"}},
	{0, "CDF\x02", content{kind: "file", format: "netcdf"}},
	{0, "\x89HDF\r\n", content{kind: "file", format: "hdf5"}},
	{0, "PAR1", content{kind: "file", format: "parquet"}},
	{4, "ftypheic", content{kind: "image", format: "heic"}},
	{4, "ftypheix", content{kind: "image", format: "heic"}},
	{4, "ftypmif1", content{kind: "image", format: "heif"}},
	{4, "ftypavif", content{kind: "image", format: "avif"}},
	{4, "ftypcrx ", content{kind: "image", format: "cr3"}},
	{4, "ftypqt  ", content{kind: "file", format: "mov"}},
	{4, "ftyp", content{kind: "file", format: "mp4"}},
	{257, "ustar", content{kind: "file", format: "tar"}},
}

// sniff recognises a file by its content. ext is its extension in lower case,
// without the dot.
func sniff(open imagery.Opener, path string, size int64, ext string) (content, error) {
	f, err := open.Open(path)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	buffer := make([]byte, min(size, headSize))
	n, err := f.ReadAt(buffer, 0)
	if n == 0 && err != nil {
		return content{}, err
	}
	head := buffer[:n]
	for _, m := range magics {
		if len(head) > m.offset && bytes.HasPrefix(head[m.offset:], []byte(m.bytes)) {
			return m.is, nil
		}
	}
	switch {
	case hasAny(head, "II*\x00", "MM\x00*", "II+\x00", "MM\x00+"):
		return sniffTIFF(f, size, head, ext), nil
	case hasAny(head, "LASF"):
		return sniffLAS(head), nil
	case hasAny(head, "PK\x03\x04", "PK\x05\x06"):
		return sniffZip(f, size, ext), nil
	case hasAny(head, "\x1f\x8b"):
		return sniffGzip(filepath.Base(path), ext), nil
	case hasAny(head, "ply\n", "ply\r"):
		return sniffPLY(f, size), nil
	case hasAny(head, "SQLite format 3\x00"):
		return sniffSQLite(head, ext), nil
	case len(head) >= 100 && binary.BigEndian.Uint32(head) == 9994 && binary.LittleEndian.Uint32(head[28:]) == 1000:
		return sniffShape(head, ext), nil
	case len(head) >= 12 && hasAny(head, "RIFF") && string(head[8:12]) == "WEBP":
		return content{kind: "image", format: "webp", flat: true, picture: true}, nil
	case len(head) >= 84 && size == 84+50*int64(binary.LittleEndian.Uint32(head[80:])):
		return content{kind: "mesh", format: "stl"}, nil
	case ext == "bmp" && hasAny(head, "BM"):
		return content{kind: "image", format: "bmp", flat: true, picture: true}, nil
	}
	if text, ok := asText(head); ok {
		return sniffText(f, size, text, ext), nil
	}
	return content{kind: "file", format: binaryFormat(ext)}, nil
}

// binaryFormats are those without a magic number worth the name: only here the
// extension is all there is.
var binaryFormats = map[string]string{"dbf": "dbf", "ecw": "ecw", "sid": "mrsid", "dwg": "dwg", "3ds": "3ds"}

func binaryFormat(ext string) string { return binaryFormats[ext] }

func hasAny(head []byte, magics ...string) bool {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return false
}

// rawFormats are raw photos in the clothes of a TIFF; only the extension tells
// whose they are.
var rawFormats = map[string]bool{"cr2": true, "nef": true, "arw": true, "pef": true, "srw": true, "rwl": true}

// sniffTIFF tells a photo from a map: what is georeferenced is a raster, even
// if a camera wrote it; what a camera took is an image; of the rest, what can
// be shown as it is.
func sniffTIFF(f *os.File, size int64, head []byte, ext string) content {
	c := content{kind: "image", format: "tiff", flat: true, picture: true}
	if len(head) > 10 && string(head[8:10]) == "CR" || rawFormats[ext] {
		if !rawFormats[ext] {
			ext = "cr2"
		}
		return content{kind: "image", format: ext, camera: true, picture: true}
	}
	traits, ok := imagery.TraitsOf(f, size)
	if !ok { // cut, or damaged: what it was is for the checks to say
		if ext == "dng" {
			c.format = ext
		}
		return c
	}
	c.camera, c.picture, c.georef = traits.Camera, traits.Picture, traits.Georeferenced
	switch {
	case traits.Georeferenced:
		c.kind, c.format = "raster", "geotiff"
	case traits.DNG:
		c.format, c.flat = "dng", false
	case !traits.Camera && !traits.Picture:
		c.kind = "raster"
	}
	return c
}

// sniffLAS tells LAZ by the top bits of the point format, which compressors
// set (LAS 1.4, "Point Data Record Format").
func sniffLAS(head []byte) content {
	c := content{kind: "pcl", format: "las"}
	if len(head) > 104 && head[104]&0xC0 != 0 {
		c.format = "laz"
	}
	return c
}

// sniffShape tells the main file of a shapefile from its index, which has the
// same header.
func sniffShape(head []byte, ext string) content {
	if ext == "shx" {
		return content{kind: "file", format: "shx"}
	}
	return content{kind: "vector", format: "shapefile"}
}

// sniffSQLite goes by the application id (OGC 12-128r18, requirement 2).
func sniffSQLite(head []byte, ext string) content {
	if len(head) >= 72 {
		switch id := string(head[68:72]); {
		case id == "GPKG", id == "GP10", id == "GP11":
			return content{kind: "vector", format: "geopackage"}
		case id == "MPBX":
			return content{kind: "file", format: "mbtiles"}
		}
	}
	switch ext {
	case "gpkg":
		return content{kind: "vector", format: "geopackage"}
	case "mbtiles":
		return content{kind: "file", format: "mbtiles"}
	}
	return content{kind: "file", format: "sqlite"}
}

func sniffGzip(name, ext string) content {
	if lower := strings.ToLower(name); strings.HasSuffix(lower, ".tar.gz") || ext == "tgz" {
		return content{kind: "file", format: "tar.gz"}
	}
	return content{kind: "file", format: "gzip"}
}
