package formats

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"

	"transect/client/formats/crs"
	"transect/client/formats/imagery"
	"transect/client/formats/pointcloud"
	"transect/client/formats/vector"
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

func describePhoto(ctx context.Context, f *file) (Info, error) {
	if p := f.position(ctx); p.world != "" || p.auxWorld != "" {
		return describeRaster(ctx, f)
	}
	p, err := imagery.ReadFrom(f.Data, f.Size)
	info := Info{Kind: "image", Format: string(p.Format), Width: p.Width, Height: p.Height}
	if p.HasPosition {
		info.System, info.Outline = crs.WGS84, orb.Point{p.Longitude, p.Latitude}
	} else {
		info.Reason = errors.New("the photo has no GPS position")
	}
	return info, err
}

func describeVector(ctx context.Context, f *file) (Info, error) {
	l, err := vector.Open(ctx, f.File, f.beside...)
	if err != nil {
		return Info{}, err
	}
	info := Info{Kind: "vector", Format: l.Format, System: l.System}
	var b box
	if err := l.Each(ctx, func(g orb.Geometry) error {
		info.Features++
		info.Points += b.addGeometry(g)
		return nil
	}); err != nil {
		return info, err
	}
	switch {
	case b.empty():
		info.Reason = errors.New("it has no shapes")
	case l.System == nil:
		info.Reason = errors.New(l.Problem)
	default:
		info.place(&b)
	}
	return info, nil
}

func describePackage(ctx context.Context, f *file) (Info, error) {
	if content, err := Recognise(f.File); err == nil && content.Kind == "raster" {
		return describeRaster(ctx, f)
	}
	return describeVector(ctx, f)
}

// visitVector visits the features of a vector in longitude and latitude.
func visitVector(ctx context.Context, f *file, visit Visitor) error {
	l, err := vector.Open(ctx, f.File, f.beside...)
	if err != nil {
		return err
	}
	return l.Features(ctx, func(g orb.Geometry, attributes json.RawMessage) error {
		if g == nil || l.System == nil {
			return visit(nil, attributes)
		}
		return visit(project.Geometry(g, func(p orb.Point) orb.Point {
			lon, lat := l.System.ToWGS84(p[0], p[1])
			return orb.Point{finite(lon), finite(lat)}
		}), attributes)
	})
}

// outlinePoints is how many points of a cloud determine its outline.
const outlinePoints = 1_000_000

func describeCloud(ctx context.Context, f *file) (Info, error) {
	c, err := pointcloud.Open(f.Reader(ctx), f.Size)
	if err != nil {
		return Info{}, err
	}
	info := Info{Kind: "pcl", Format: "las", Points: c.Count}
	if c.Compressed {
		info.Format = "laz"
	}
	system, err := systemOf(c)
	info.locate(ctx, f, system, err)
	var b box
	for p, err := range c.Sample(ctx, outlinePoints) {
		if err != nil {
			return info, err
		}
		b.add(p.X, p.Y)
	}
	if b.empty() {
		info.Reason = errors.New("it has no points")
		return info, nil
	}
	if info.System != nil {
		info.place(&b)
		info.Resolution = b.spacing(info.System, c.Count)
	}
	return info, nil
}

// systemOf returns the reference system of a point cloud, nil when it has none.
func systemOf(c *pointcloud.Cloud) (*crs.System, error) {
	if c.WKT == "" && c.Keys == nil {
		return nil, nil
	}
	if c.WKT != "" {
		return crs.FromWKT(c.WKT)
	}
	return crs.FromGeoKeys(crs.GeoKeys{Directory: c.Keys, Doubles: c.Doubles, ASCII: c.Text})
}

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

// isWKT matches the start of well-known text, which not every projection file contains.
var isWKT = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[A-Z_]{6,}\s*\[`) })

// maxProjection is the longest projection file read.
const maxProjection = 1 << 16

// ProjectionBeside returns the text of the projection file (.prj) for a point cloud without a
// reference system of its own, "" if it has one.
func ProjectionBeside(ctx context.Context, cloud, projection File) (text string) {
	f := &file{cloud, nil}
	_ = f.within(ctx, "", func(ctx context.Context, _ reader) error { // another reader reports errors
		c, err := pointcloud.Open(f.Reader(ctx), f.Size)
		if err != nil || projection.Size > maxProjection {
			return err
		}
		if own, err := systemOf(c); own != nil || err != nil && !errors.Is(err, crs.ErrNoSystem) {
			return err
		}
		b, err := io.ReadAll(projection.Reader(ctx))
		if isWKT().Match(b) && utf8.Valid(b) {
			text = strings.TrimSpace(string(b))
		}
		return err
	})
	return text
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
