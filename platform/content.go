package platform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/formats"
	"transect/client/geojson"
	"transect/platform/internal/store"
)

// content holds the open files of a dataset.
type content struct {
	main     formats.File
	sidecars []formats.File
	files    []*os.File
}

func (c *content) close() {
	for _, f := range c.files {
		f.Close()
	}
}

// openContent opens the files of a dataset, in the order of its components. The dataset's reference system
// and offset become sidecar files.
func (p *Platform) openContent(doc store.Doc, files []stored) (*content, error) {
	c := &content{}
	names := componentNames(doc)
	main := slices.IndexFunc(names, func(name string) bool { return name == store.Text(doc, "type") || name == "archive" })
	main = max(main, 0)
	stem := strings.TrimSuffix(files[main].filename, filepath.Ext(files[main].filename))
	projected := false
	for i, s := range files {
		f, err := p.blobs.Open(s.blob)
		if err != nil {
			c.close()
			return nil, err
		}
		c.files = append(c.files, f)
		file := formats.File{Name: s.filename, Data: f, Size: s.size}
		switch {
		case i == main:
			c.main = file
			continue
		case names[i] == "projection": // whatever its name
			file.Name, projected = stem+".prj", true
		}
		c.sidecars = append(c.sidecars, file)
	}
	text := func(name, text string) {
		c.sidecars = append(c.sidecars, formats.File{Name: name, Data: strings.NewReader(text), Size: int64(len(text))})
	}
	if wkt := store.Text(doc, "horizontal_srs_wkt"); wkt != "" && !projected {
		text(stem+".prj", wkt)
	}
	if offset := listOf(doc, "offset"); len(offset) == 3 {
		text("offset.xyz", fmt.Sprintf("%v %v %v", offset...))
	}
	return c, nil
}

func componentNames(doc store.Doc) (names []string) {
	for _, c := range listOf(doc, "components") {
		names = append(names, store.Text(c.(map[string]any), "name"))
	}
	return names
}

// filesOf lists the files of a dataset, or returns false when some are not uploaded yet.
func (t tx) filesOf(doc store.Doc) (files []stored, ok bool) {
	for _, name := range componentNames(doc) {
		s, ok := t.bytesOf(store.Text(doc, "_id"), name)
		if !ok {
			return nil, false
		}
		files = append(files, s)
	}
	return files, len(files) > 0
}

// described lists the dataset types whose content is measured here. Images and rasters are read with their
// own packages.
var described = []string{"vector", "pcl", "mesh"}

// describeContent adds the metadata found in the files of a vector, a point cloud or a mesh. If a file cannot
// be read, or has no position, the dataset gets a warning: it was uploaded all the same.
func (p *Platform) describeContent(ctx context.Context, found, doc store.Doc, files []stored) {
	if !slices.Contains(described, store.Text(doc, "type")) || len(files) == 0 {
		return
	}
	var info formats.Info
	err := recovered(func() {
		c := must(p.openContent(doc, files))
		defer c.close()
		info = must(formats.Describe(ctx, c.main, c.sidecars...))
	})
	if err == nil {
		err = info.Reason
	}
	for key, n := range map[string]int64{"feature_count": info.Features, "triangle_count": info.Triangles} {
		if n > 0 {
			found[key] = n
		}
	}
	if counted := map[string]string{"pcl": "point_count", "mesh": "vertex_count"}[info.Kind]; counted != "" {
		found[counted] = info.Points
	}
	if info.Format != "" {
		found["format"] = info.Format
	}
	if info.System != nil {
		found["horizontal_srs_wkt"] = info.System.WKT()
	}
	if info.Outline != nil {
		found["geometry"] = must(store.Decode(geojson.Text(info.Outline)))
	}
	if info.Resolution > 0 {
		found["resolution"] = info.Resolution
	}
	switch {
	case err == nil:
	case errors.Is(err, formats.ErrNone):
		found["ingestion.warning"] = store.Doc{"message": fmt.Sprintf("%s was not examined: files of this kind are not "+
			"read here", files[0].filename)}
	default:
		found["ingestion.warning"] = store.Doc{"message": errorText(err)}
	}
}
