package formats

// Content detection is written by hand because the libraries for it do not support LAS, LAZ, E57,
// GeoPackage or georeferenced TIFF.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"transect/client/formats/imagery"
	"transect/client/formats/vector"
)

// Content is the recognised type of a file.
type Content struct {
	Kind    string // of the dataset: "image", "raster", "vector", "pcl", "mesh" or "file"
	Format  string // "jpeg", "geotiff", "shapefile"; "" when unknown
	Archive bool   // a zip: fills the component archive of a vector
	Note    string // a remarkable property, or ""
	// Incomplete: components are missing that the format requires; Note lists them.
	Incomplete bool
	Damage     string // why the content does not match the extension, or ""

	camera bool // taken by a camera
	flat   bool // an image that a world file can georeference

	// auxiliary is the component for a GDAL file (.aux.xml) that accompanies it, "" if that has no position.
	auxiliary string
}

// headSize is how much of every file is read: enough for magic numbers and the first lines of text formats.
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
	{0, "\x00\x00\x00\x0cjP  ", "raster", "jp2"}, {0, "\xff\x4f\xff\x51", "raster", "j2k"},
	{0, "EHFA_HEADER_TAG", "raster", "hfa"},
	{0, "ASTM-E57", "pcl", "e57"}, {0, "# .PCD", "pcl", "pcd"},
	{0, "glTF", "mesh", "glb"}, {0, "Kaydara FBX Binary", "mesh", "fbx"}, {0, "fgb\x03fgb", "vector", "flatgeobuf"},
	{0, "7z\xbc\xaf\x27\x1c", "file", "7z"}, {0, "Rar!\x1a\x07", "file", "rar"}, {0, "%PDF-", "file", "pdf"},
	{0, "CDF\x01", "file", "netcdf"}, {0, "CDF\x02", "file", "netcdf"}, {0, "\x89HDF\r\n", "file", "hdf5"}, {0, "PAR1",
		"file", "parquet"},
	{4, "ftypqt  ", "file", "mov"}, {4, "ftyp", "file", "mp4"}, {257, "ustar", "file", "tar"},
}

// flatFormats are images that a world file can georeference.
var flatFormats = []string{"jpeg", "png", "gif", "webp", "bmp", "tiff"}

// Recognise determines the format of a file by its content, or by its extension if the content does not show it.
func Recognise(f File) (Content, error) {
	if f.Size <= 0 {
		return Content{}, errors.New("the file is empty")
	}
	head, err := f.Head(headSize)
	if err != nil {
		return Content{}, err
	}
	_, ext := CutExtension(f.Name)
	ext = strings.ToLower(ext)
	c := recognise(f, ext, head)
	if promised, known := promises[ext]; known && c.Kind == "file" && (c.Format == "" || c.Format == textFormats[ext]) {
		c = Content{Kind: promised.kind, Format: promised.format, Damage: mismatch(promised.name, head)}
	} else if known && c.Kind == "image" && c.flat && c.Format != "tiff" && c.Format != promised.format {
		found := "a " + c.Format + " image"
		if p, ok := promises[c.Format]; ok {
			found = p.name
		}
		c.Damage = "it is not " + promised.name + " but " + found
	}
	return c, nil
}

// RecogniseWith is like Recognise for a file whose format may be in a header file.
func RecogniseWith(main File, beside ...File) (Content, error) {
	return (&file{main, beside}).recognise()
}

func (f *file) recognise() (Content, error) {
	c, err := Recognise(f.File)
	if err == nil && c.Kind == "file" && c.Format == "" {
		if format := headerFormat([]byte(f.header(headSize))); format != "" {
			c.Kind, c.Format = "raster", format
		}
	}
	return c, err
}

// maxHeader is how much of a raster's header is read.
const maxHeader = 1 << 20

// header returns the text of the header file (.hdr) of a file, "" without one.
func (f *file) header(most int64) string {
	for _, b := range f.beside {
		if _, ext := CutExtension(b.Name); strings.EqualFold(ext, "hdr") {
			text, _ := b.Head(most)
			return string(text)
		}
	}
	return ""
}

// recognise determines the format from the first bytes of a file.
func recognise(f File, ext string, head []byte) Content {
	for _, m := range magics {
		if len(head) > m.offset && bytes.HasPrefix(head[m.offset:], []byte(m.bytes)) {
			return Content{Kind: m.kind, Format: m.format, flat: slices.Contains(flatFormats, m.format)}
		}
	}
	switch {
	case hasAny(head, "II*\x00", "MM\x00*", "II+\x00", "MM\x00+"):
		return sniffTIFF(f, head, ext)
	case hasAny(head, "LASF"):
		return sniffLAS(head)
	case hasAny(head, "PK\x03\x04", "PK\x05\x06"):
		return sniffZip(f, ext)
	case hasAny(head, "\x1f\x8b"):
		return sniffGzip(f.Name, ext)
	case hasAny(head, "ply\n", "ply\r"):
		return sniffPLY(f)
	case hasAny(head, "SQLite format 3\x00"):
		return sniffSQLite(f, head, ext)
	case len(head) >= 100 && binary.BigEndian.Uint32(head) == 9994 && binary.LittleEndian.Uint32(head[28:]) == 1000:
		return sniffShape(head, ext)
	case len(head) >= 12 && hasAny(head, "RIFF") && string(head[8:12]) == "WEBP":
		return Content{Kind: "image", Format: "webp", flat: true}
	case len(head) >= 84 && f.Size == 84+50*int64(binary.LittleEndian.Uint32(head[80:])):
		return Content{Kind: "mesh", Format: "stl"}
	case ext == "bmp" && hasAny(head, "BM"):
		return Content{Kind: "image", Format: "bmp", flat: true}
	}
	if text, ok := asText(head); ok {
		begin := int64(len(head) - len(text)) // after the byte order mark
		return sniffText(io.NewSectionReader(f.Data, begin, maxJSON), f.Size, text, ext)
	}
	return Content{Kind: "file", Format: binaryFormats[ext]}
}

// promises are the formats implied by extensions, if they always begin with the same bytes or
// character. A file with such an extension that was not recognised is damaged: failing cards and
// copies leave zeros, proxies and portals pages of text.
var promises = map[string]struct{ kind, format, name string }{
	"jpg": {"image", "jpeg", "a JPEG image"}, "jpeg": {"image", "jpeg", "a JPEG image"}, "jpe": {"image", "jpeg",
		"a JPEG image"},
	"png": {"image", "png", "a PNG image"}, "gif": {"image", "gif", "a GIF image"}, "webp": {"image", "webp",
		"a WebP image"},
	"tif": {"image", "tiff", "a TIFF image"}, "tiff": {"image", "tiff", "a TIFF image"}, "dng": {"image", "dng",
		"a DNG image"},
	"heic": {"image", "heic", "a HEIC image"}, "jp2": {"raster", "jp2", "a JPEG 2000 image"},
	"las": {"pcl", "las", "a LAS point cloud"}, "laz": {"pcl", "laz", "a LAZ point cloud"}, "e57": {"pcl", "e57",
		"an E57 point cloud"},
	"shp": {"vector", "shapefile", "a shapefile"}, "gpkg": {"vector", "geopackage", "a GeoPackage"},
	"geojson": {"vector", "geojson", "GeoJSON"}, "topojson": {"vector", "topojson", "TopoJSON"}, "kml": {"vector", "kml",
		"KML"},
	"gpx": {"vector", "gpx", "GPX"}, "gltf": {"mesh", "gltf", "glTF"}, "glb": {"mesh", "glb", "a binary glTF mesh"},
	"zip": {"file", "zip", "a zip archive"}, "7z": {"file", "7z", "a 7z archive"}, "pdf": {"file", "pdf", "a PDF"},
}

// mismatch describes the content that contradicts the extension; "" for text in UTF-16, which is not examined.
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

// binaryFormats have no usable magic number, so the extension decides.
var binaryFormats = map[string]string{"dbf": "dbf", "ecw": "ecw", "sid": "mrsid", "dwg": "dwg", "3ds": "3ds"}

func hasAny(head []byte, magics ...string) bool {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return false
}

// rawFormats are raw photos in TIFF containers, distinguished only by the extension.
var rawFormats = map[string]bool{"cr2": true, "nef": true, "arw": true, "pef": true, "srw": true, "rwl": true}

// sniffTIFF distinguishes photos from maps. A georeferenced file is a raster, even if a camera
// wrote it; a camera's file is an image, and so is any other that can be displayed unchanged.
func sniffTIFF(f File, head []byte, ext string) Content {
	c := Content{Kind: "image", Format: "tiff", flat: true}
	if len(head) > 10 && string(head[8:10]) == "CR" || rawFormats[ext] {
		if !rawFormats[ext] {
			ext = "cr2"
		}
		return Content{Kind: "image", Format: ext, camera: true}
	}
	traits, ok := imagery.TraitsOf(f.Data, f.Size)
	if !ok { // truncated or damaged, reported by the check
		if ext == "dng" {
			c.Format = ext
		}
		return c
	}
	c.camera = traits.Camera
	switch {
	case traits.Georeferenced:
		c.Kind, c.Format = "raster", "geotiff"
	case traits.DNG:
		c.Format, c.flat = "dng", false
	case !traits.Camera && !traits.Picture:
		c.Kind = "raster"
	}
	return c
}

// sniffLAS recognises LAZ by the top bits of the point format, which compressors
// set (LAS 1.4, "Point Data Record Format").
func sniffLAS(head []byte) Content {
	c := Content{Kind: "pcl", Format: "las"}
	if len(head) > 104 && head[104]&0xC0 != 0 {
		c.Format = "laz"
	}
	return c
}

// sniffShape distinguishes the main file of a shapefile from its index, which has
// the same header.
func sniffShape(head []byte, ext string) Content {
	if ext == "shx" {
		return Content{Kind: "file", Format: "shx"}
	}
	return Content{Kind: "vector", Format: "shapefile"}
}

// sniffSQLite checks the application id (OGC 12-128r18, requirement 2), else the extension.
func sniffSQLite(f File, head []byte, ext string) Content {
	id := ""
	if len(head) >= 72 {
		id = string(head[68:72])
	}
	isPackage, isTiles := id == "GPKG" || id == "GP10" || id == "GP11", id == "MPBX"
	switch {
	case isPackage, !isTiles && ext == "gpkg":
		if tiles, err := vector.Tiles(context.Background(), f); err == nil && tiles != nil {
			return Content{Kind: "raster", Format: "geopackage"}
		}
		return Content{Kind: "vector", Format: "geopackage"}
	case isTiles, ext == "mbtiles":
		return Content{Kind: "file", Format: "mbtiles"}
	}
	return Content{Kind: "file", Format: "sqlite"}
}

func sniffGzip(name, ext string) Content {
	if lower := strings.ToLower(name); strings.HasSuffix(lower, ".tar.gz") || ext == "tgz" {
		return Content{Kind: "file", Format: "tar.gz"}
	}
	return Content{Kind: "file", Format: "gzip"}
}

// sniffPLY distinguishes a mesh, which has faces, from a point cloud.
func sniffPLY(f File) Content {
	points := Content{Kind: "pcl", Format: "ply"}
	lines := bufio.NewScanner(io.NewSectionReader(f.Data, 0, min(f.Size, 256<<10)))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 3 && fields[0] == "element" && (fields[1] == "face" || fields[1] == "tristrips") &&
			fields[2] != "0":
			return Content{Kind: "mesh", Format: "ply"}
		case len(fields) == 1 && fields[0] == "end_header":
			return points
		}
	}
	return points
}
