package scan_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/client/scan"
)

// Small files of the types they appear to be.
var (
	jpeg     = "\xff\xd8\xff\xe0\x00\x10JFIF\x00 and so on\xff\xd9"
	png      = "\x89PNG\r\n\x1a\n and so on"
	photo    = tiff(tag{0x010F, 2, 4, 0x00494A44}, tag{0x8769, 4, 1, 8})
	plain    = tiff(tag{0x0115, 3, 1, 3})
	floats   = tiff(tag{0x0153, 3, 1, 3})
	geotiff  = tiff(tag{0x87AF, 3, 1, 1})
	dng      = tiff(tag{0xC612, 1, 4, 0x00000401})
	bigGeo   = bigTIFF(tag{0x87AF, 3, 1, 1})
	las      = lasFile(0)
	laz      = lasFile(0x80)
	shp      = shape()
	dbf      = "\x03\x10\x01\x01" + strings.Repeat("\x00", 40)
	obj      = "# a mesh\nmtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
	cloudPLY = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n"
	meshPLY  = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nelement face 1\nend_header\n0\n"
	geojson  = `{"features": [{"type": "Feature", "geometry": null, "properties": {"type": "Topology"}}], "type": "FeatureCollection"}`
	kml      = `<?xml version="1.0"?><!-- made by hand --><kml xmlns="x"></kml>`
	prj      = `GEOGCS["WGS 84"]`
	tfw      = "1\n0\n0\n-1\n0\n0\n"
	gpkg     = "SQLite format 3\x00" + strings.Repeat("\x00", 52) + "GPKG" + strings.Repeat("\x00", 40)
)

type tag struct {
	id, kind     uint16
	count, value uint32
}

func tiff(tags ...tag) string {
	b := []byte("II*\x00\x08\x00\x00\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(tags)))
	for _, t := range tags {
		b = binary.LittleEndian.AppendUint16(b, t.id)
		b = binary.LittleEndian.AppendUint16(b, t.kind)
		b = binary.LittleEndian.AppendUint32(b, t.count)
		b = binary.LittleEndian.AppendUint32(b, t.value)
	}
	return string(binary.LittleEndian.AppendUint32(b, 0))
}

func bigTIFF(tags ...tag) string {
	b := []byte("II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00")
	b = binary.LittleEndian.AppendUint64(b, uint64(len(tags)))
	for _, t := range tags {
		b = binary.LittleEndian.AppendUint16(b, t.id)
		b = binary.LittleEndian.AppendUint16(b, t.kind)
		b = binary.LittleEndian.AppendUint64(b, uint64(t.count))
		b = binary.LittleEndian.AppendUint64(b, uint64(t.value))
	}
	return string(binary.LittleEndian.AppendUint64(b, 0))
}

func lasFile(packed byte) string {
	b := make([]byte, 240)
	copy(b, "LASF")
	b[24], b[25], b[104] = 1, 2, 1|packed
	return string(b)
}

func shape() string {
	b := make([]byte, 100)
	binary.BigEndian.PutUint32(b, 9994)
	binary.BigEndian.PutUint32(b[24:], 50)
	binary.LittleEndian.PutUint32(b[28:], 1000)
	return string(b)
}

func zipped(names ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if f, err := w.Create(name); err == nil {
			_, _ = f.Write([]byte("content"))
		}
	}
	_ = w.Close()
	return b.String()
}

// tree writes files into a new folder; names ending in / are folders.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// describe formats each item, and each skipped file, as one line.
func describe(t testing.TB, s scan.Source) (items, skipped []string) {
	t.Helper()
	for item, err := range scan.Items(context.Background(), s) {
		var skip *scan.Skipped
		switch {
		case errors.As(err, &skip):
			skipped = append(skipped, skip.Name+": "+string(skip.Reason))
		case err != nil:
			t.Fatal(err)
		default:
			items = append(items, line(item))
		}
	}
	return items, skipped
}

func line(item scan.Item) string {
	text := item.Kind + "/" + item.Format
	for _, m := range item.Members {
		text += " " + m.Component + "=" + m.Name
	}
	if item.Note != "" {
		text += " !"
	}
	if item.Damage != "" {
		text += " damaged"
	}
	return text
}
