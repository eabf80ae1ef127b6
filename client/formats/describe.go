package formats

import (
	"context"
	"errors"
	"io"
	"math"
	"path"
	"strings"

	"github.com/paulmach/orb"

	"transect/client/formats/crs"
)

// Info is the description of a file's content and position.
type Info struct {
	Kind   string // "image", "raster", "vector", "pcl" or "mesh", like a dataset's
	Format string // "geojson", "laz"

	// Outline surrounds the content, in longitude and latitude of WGS 84: usually a polygon, a
	// point for a photo; nil when unknown, for the reason in Reason.
	Outline orb.Geometry
	Reason  error
	// System is the reference system of the coordinates; nil when unknown.
	System *crs.System

	Width, Height int   // pixels of a raster or a photo
	Bands         int   // of a raster
	Features      int64 // of a vector file
	Points        int64 // of a point cloud, positions of a vector file, vertices of a mesh
	Triangles     int64 // of a mesh
	// Resolution is the mean distance between the points of a cloud, or the size of a raster's
	// pixels, in metres; 0 when unknown.
	Resolution float64
}

// maxProjection is the longest projection file read.
const maxProjection = 1 << 16

// locate sets the reference system: the file's own, else the one of an adjacent projection file (.prj).
func (i *Info) locate(ctx context.Context, f *file, own *crs.System, err error) {
	if errors.Is(err, crs.ErrNoSystem) {
		err = nil
	}
	i.System, i.Reason = own, err
	if own != nil || err != nil {
		return
	}
	i.Reason = errors.New("it names no reference system")
	for _, b := range f.beside {
		if !strings.EqualFold(path.Ext(b.Name), ".prj") || b.Size > maxProjection {
			continue
		}
		text, err := io.ReadAll(b.Reader(ctx))
		if err == nil {
			i.System, err = crs.FromWKT(string(text))
		}
		i.Reason = err
	}
}

// place sets the outline.
func (i *Info) place(b *box) {
	if i.Outline = b.outline(i.System); i.Outline == nil {
		i.Reason = errors.New("its coordinates are not on the earth in " + i.System.String())
	}
}

// spacing returns the mean distance in metres between n points in the hull.
func (b *box) spacing(s *crs.System, n int64) float64 {
	ring := orb.Ring(b.extreme[:])
	var area float64
	for i, p := range ring {
		q := ring[(i+1)%len(ring)]
		area += (p[0]-b.low[0])*(q[1]-b.low[1]) - (q[0]-b.low[0])*(p[1]-b.low[1])
	}
	_, lat := s.ToWGS84((b.low[0]+b.high[0])/2, (b.low[1]+b.high[1])/2)
	x, y := s.Metres(lat)
	if spacing := math.Sqrt(math.Abs(area) / 2 * x * y / float64(n)); !math.IsNaN(spacing) && !math.IsInf(spacing, 0) {
		return spacing
	}
	return 0
}
