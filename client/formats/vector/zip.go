package vector

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"transect/client/formats/source"
	"transect/client/wait"
)

// maxUnpacked limits the bytes of an archive unpacked into memory.
const maxUnpacked = 256 << 20

// openZip opens the first vector file in an archive: a zipped shapefile, or KMZ.
func openZip(ctx context.Context, f File) (*Layer, error) {
	z, err := zip.NewReader(io.NewSectionReader(f.Data, 0, f.Size), f.Size)
	if err != nil {
		return nil, fmt.Errorf("the archive cannot be read: %w", err)
	}
	for _, wanted := range []string{".shp", ".gpkg", ".geojson", ".kml", ".gpx", ".json"} {
		for _, entry := range z.File {
			if hidden := strings.HasPrefix(path.Base(entry.Name), ".") || strings.HasPrefix(entry.Name, "__MACOSX/"); hidden ||
				!strings.EqualFold(path.Ext(entry.Name), wanted) {
				continue
			}
			main, err := unpack(ctx, entry, maxUnpacked)
			if err != nil {
				return nil, err
			}
			var beside []File
			stem := strings.TrimSuffix(entry.Name, path.Ext(entry.Name))
			for _, b := range z.File {
				limit := map[string]int64{".prj": 1 << 20, ".cpg": 1 << 20, ".dbf": maxUnpacked}[strings.ToLower(path.Ext(b.Name))]
				if limit == 0 || !strings.EqualFold(strings.TrimSuffix(b.Name, path.Ext(b.Name)), stem) {
					continue
				}
				file, err := unpack(ctx, b, limit)
				if err != nil {
					return nil, err
				}
				beside = append(beside, file)
			}
			l, err := Open(ctx, main, beside...)
			if err != nil {
				err = fmt.Errorf("%s in it: %w", entry.Name, err)
			}
			return l, err
		}
	}
	return nil, source.ErrOther
}

func unpack(ctx context.Context, entry *zip.File, limit int64) (File, error) {
	large := fmt.Errorf("%s in it is larger than %d MiB", entry.Name, limit>>20)
	if entry.UncompressedSize64 > uint64(limit) {
		return File{}, large
	}
	r, err := entry.Open()
	if err != nil {
		return File{}, fmt.Errorf("%s in it cannot be read: %w", entry.Name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(wait.Reader(ctx, r), limit+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return File{}, ctx.Err()
	case err != nil:
		return File{}, fmt.Errorf("%s in it is damaged: %w", entry.Name, err)
	case int64(len(b)) > limit:
		return File{}, large
	case len(b) > 4 && string(b[:4]) == "PK\x03\x04":
		return File{}, fmt.Errorf("%s in it is an archive again", entry.Name)
	}
	return File{Name: path.Base(entry.Name), Data: bytes.NewReader(b), Size: int64(len(b))}, nil
}
