package scan

// Content detection is written by hand: the libraries for it do not know LAS,
// LAZ, E57, GeoPackage or georeferenced TIFF.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/formats/imagery"
)

// content is what a file was recognised as.
type content struct {
	kind, format string
	archive      bool // a zip: fills the component archive of a vector
	camera       bool // taken by a camera
	flat         bool // an image that a world file can georeference
	note         string
	damage       string // why the file is not what its extension says, or ""
}

// headSize is what is read of every file: enough for magic numbers and the
// first lines of text formats.
const headSize = 4096

// magics are the first bytes of formats that need no further examination.
var magics = []struct {
	offset       int
	bytes        string
	kind, format string
}{
	{0, "\xff\xd8\xff", "image", "jpeg"}, {0, "\x89PNG\r\n\x1a\n", "image", "png"}, {0, "GIF8", "image", "gif"},
	{0, "FUJIFILMCCD-RAW", "image", "raf"}, {4, "ftypheic", "image", "heic"}, {4, "ftypheix", "image", "heic"},
	{4, "ftypmif1", "image", "heif"}, {4, "ftypavif", "image", "avif"}, {4, "ftypcrx ", "image", "cr3"},
	{0, "\x00\x00\x00\x0cjP  ", "raster", "jp2"}, {0, "EHFA_HEADER_TAG", "raster", "hfa"},
	{0, "ASTM-E57", "pcl", "e57"}, {0, "# .PCD", "pcl", "pcd"},
	{0, "glTF", "mesh", "glb"}, {0, "Kaydara FBX Binary", "mesh", "fbx"}, {0, "fgb\x03fgb", "vector", "flatgeobuf"},
	{0, "7z\xbc\xaf\x27\x1c", "file", "7z"}, {0, "Rar!\x1a\x07", "file", "rar"}, {0, "%PDF-", "file", "pdf"},
	{0, "CDF\x01", "file", "netcdf"}, {0, "CDF\x02", "file", "netcdf"}, {0, "\x89HDF\r\n", "file", "hdf5"}, {0, "PAR1", "file", "parquet"},
	{4, "ftypqt  ", "file", "mov"}, {4, "ftyp", "file", "mp4"}, {257, "ustar", "file", "tar"},
}

// flatFormats are images that a world file can georeference.
var flatFormats = []string{"jpeg", "png", "gif", "webp", "bmp", "tiff"}

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
	c := recognise(f, filepath.Base(path), size, ext, buffer[:n])
	if promised, known := promises[ext]; known && c.kind == "file" && (c.format == "" || c.format == textFormats[ext]) {
		c = content{kind: promised.kind, format: promised.format, damage: mismatch(promised.name, buffer[:n])}
	} else if known && c.kind == "image" && c.flat && c.format != "tiff" && c.format != promised.format {
		found := "a " + c.format + " image"
		if p, ok := promises[c.format]; ok {
			found = p.name
		}
		c.damage = "it is not " + promised.name + " but " + found
	}
	return c, nil
}

// recognise goes by the first bytes of a file.
func recognise(f *os.File, name string, size int64, ext string, head []byte) content {
	for _, m := range magics {
		if len(head) > m.offset && bytes.HasPrefix(head[m.offset:], []byte(m.bytes)) {
			return content{kind: m.kind, format: m.format, flat: slices.Contains(flatFormats, m.format)}
		}
	}
	switch {
	case hasAny(head, "II*\x00", "MM\x00*", "II+\x00", "MM\x00+"):
		return sniffTIFF(f, size, head, ext)
	case hasAny(head, "LASF"):
		return sniffLAS(head)
	case hasAny(head, "PK\x03\x04", "PK\x05\x06"):
		return sniffZip(f, size, ext)
	case hasAny(head, "\x1f\x8b"):
		return sniffGzip(name, ext)
	case hasAny(head, "ply\n", "ply\r"):
		return sniffPLY(f, size)
	case hasAny(head, "SQLite format 3\x00"):
		return sniffSQLite(head, ext)
	case len(head) >= 100 && binary.BigEndian.Uint32(head) == 9994 && binary.LittleEndian.Uint32(head[28:]) == 1000:
		return sniffShape(head, ext)
	case len(head) >= 12 && hasAny(head, "RIFF") && string(head[8:12]) == "WEBP":
		return content{kind: "image", format: "webp", flat: true}
	case len(head) >= 84 && size == 84+50*int64(binary.LittleEndian.Uint32(head[80:])):
		return content{kind: "mesh", format: "stl"}
	case ext == "bmp" && hasAny(head, "BM"):
		return content{kind: "image", format: "bmp", flat: true}
	}
	if text, ok := asText(head); ok {
		return sniffText(io.NewSectionReader(f, int64(len(head)-len(text)), maxJSON), size, text, ext) // without the byte order mark
	}
	return content{kind: "file", format: binaryFormats[ext]}
}

// promises are what extensions say of a file, for formats that always begin with
// the same bytes or character. A file with such an extension that was not
// recognised is damaged: cards and copies give files of zeros, proxies and portals
// give pages of text.
var promises = map[string]struct{ kind, format, name string }{
	"jpg": {"image", "jpeg", "a JPEG image"}, "jpeg": {"image", "jpeg", "a JPEG image"}, "jpe": {"image", "jpeg", "a JPEG image"},
	"png": {"image", "png", "a PNG image"}, "gif": {"image", "gif", "a GIF image"}, "webp": {"image", "webp", "a WebP image"},
	"tif": {"image", "tiff", "a TIFF image"}, "tiff": {"image", "tiff", "a TIFF image"}, "dng": {"image", "dng", "a DNG image"},
	"heic": {"image", "heic", "a HEIC image"}, "jp2": {"raster", "jp2", "a JPEG 2000 image"},
	"las": {"pcl", "las", "a LAS point cloud"}, "laz": {"pcl", "laz", "a LAZ point cloud"}, "e57": {"pcl", "e57", "an E57 point cloud"},
	"shp": {"vector", "shapefile", "a shapefile"}, "gpkg": {"vector", "geopackage", "a GeoPackage"},
	"geojson": {"vector", "geojson", "GeoJSON"}, "topojson": {"vector", "topojson", "TopoJSON"}, "kml": {"vector", "kml", "KML"},
	"gpx": {"vector", "gpx", "GPX"}, "gltf": {"mesh", "gltf", "glTF"}, "glb": {"mesh", "glb", "a binary glTF mesh"},
	"zip": {"file", "zip", "a zip archive"}, "7z": {"file", "7z", "a 7z archive"}, "pdf": {"file", "pdf", "a PDF"},
}

// mismatch says what a file holds instead of what its extension says; "" for
// text in UTF-16, which is not examined.
func mismatch(promised string, head []byte) string {
	if hasAny(head, "\xff\xfe", "\xfe\xff") {
		return ""
	}
	found := "other bytes"
	if _, text := asText(head); text {
		found = "text"
	} else if len(bytes.Trim(head, "\x00")) == 0 {
		found = "zeros"
	}
	if promised == "GeoJSON" && found == "text" {
		found = "other text"
	}
	return "it is not " + promised + " but begins with " + found
}

// binaryFormats have no usable magic number: here the extension decides.
var binaryFormats = map[string]string{"dbf": "dbf", "ecw": "ecw", "sid": "mrsid", "dwg": "dwg", "3ds": "3ds"}

func hasAny(head []byte, magics ...string) bool {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return false
}

// rawFormats are raw photos in TIFF containers; only the extension tells them
// apart.
var rawFormats = map[string]bool{"cr2": true, "nef": true, "arw": true, "pef": true, "srw": true, "rwl": true}

// sniffTIFF distinguishes photos from maps. A georeferenced file is a raster, even
// if a camera wrote it; what a camera took is an image, and so is anything else
// that can be displayed as it is.
func sniffTIFF(f *os.File, size int64, head []byte, ext string) content {
	c := content{kind: "image", format: "tiff", flat: true}
	if len(head) > 10 && string(head[8:10]) == "CR" || rawFormats[ext] {
		if !rawFormats[ext] {
			ext = "cr2"
		}
		return content{kind: "image", format: ext, camera: true}
	}
	traits, ok := imagery.TraitsOf(f, size)
	if !ok { // truncated or damaged: the check reports it
		if ext == "dng" {
			c.format = ext
		}
		return c
	}
	c.camera = traits.Camera
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

// sniffLAS recognises LAZ by the top bits of the point format, which compressors
// set (LAS 1.4, "Point Data Record Format").
func sniffLAS(head []byte) content {
	c := content{kind: "pcl", format: "las"}
	if len(head) > 104 && head[104]&0xC0 != 0 {
		c.format = "laz"
	}
	return c
}

// sniffShape distinguishes the main file of a shapefile from its index, which has
// the same header.
func sniffShape(head []byte, ext string) content {
	if ext == "shx" {
		return content{kind: "file", format: "shx"}
	}
	return content{kind: "vector", format: "shapefile"}
}

// sniffSQLite goes by the application id (OGC 12-128r18, requirement 2), else by
// the extension.
func sniffSQLite(head []byte, ext string) content {
	id := ""
	if len(head) >= 72 {
		id = string(head[68:72])
	}
	isPackage, isTiles := id == "GPKG" || id == "GP10" || id == "GP11", id == "MPBX"
	switch {
	case isPackage, !isTiles && ext == "gpkg":
		return content{kind: "vector", format: "geopackage"}
	case isTiles, ext == "mbtiles":
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

// sniffPLY distinguishes a mesh, which has faces, from a point cloud.
func sniffPLY(f *os.File, size int64) content {
	points := content{kind: "pcl", format: "ply"}
	lines := bufio.NewScanner(io.NewSectionReader(f, 0, min(size, 256<<10)))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 3 && fields[0] == "element" && (fields[1] == "face" || fields[1] == "tristrips") && fields[2] != "0":
			return content{kind: "mesh", format: "ply"}
		case len(fields) == 1 && fields[0] == "end_header":
			return points
		}
	}
	return points
}
