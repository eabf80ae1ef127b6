package raster

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"transect/client/formats/crs"
	"transect/client/formats/tiff"
)

// Extent is the size and position of a raster.
type Extent struct {
	Width, Height int // pixels
	Bands         int
	// System is the reference system; nil when unknown.
	System *crs.System
	// GroundResolution is the mean size of a pixel in metres at the raster's centre; 0 when unknown.
	GroundResolution float64
	// Outline is a closed ring around the raster in longitude and latitude, from the upper left
	// corner clockwise, with additional points where its sides are curved. Across the date line its
	// longitudes exceed 180 degrees. It is nil for a raster that cannot be drawn on a map, for the
	// reason in Reason.
	Outline orb.Ring
	Reason  error
}

// Extent returns the size and position of the raster.
func (r *Raster) Extent() Extent { return r.extent }

// frame converts pixels to coordinates and back.
type frame struct {
	to, from affine // from pixels to coordinates, and the inverse
	system   *crs.System
	lon      float64 // of the centre of the raster
}

// affine is x = a[0] + a[1]*u + a[2]*v, y = a[3] + a[4]*u + a[5]*v.
type affine [6]float64

func (a affine) apply(u, v float64) (x, y float64) {
	return a[0] + a[1]*u + a[2]*v, a[3] + a[4]*u + a[5]*v
}

func (a affine) inverse() (affine, bool) {
	det := a[1]*a[5] - a[2]*a[4]
	if det == 0 || math.IsNaN(det) || math.IsInf(det, 0) || math.IsInf(1/det, 0) {
		return a, false
	}
	b := affine{0, a[5] / det, -a[2] / det, 0, -a[4] / det, a[1] / det}
	b[0], b[3] = -(b[1]*a[0] + b[2]*a[3]), -(b[4]*a[0] + b[5]*a[3])
	for _, v := range b {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return a, false
		}
	}
	return b, true
}

// lonLat returns the position of a pixel, with longitudes within 180 degrees of the centre.
func (f frame) lonLat(u, v float64) (lon, lat float64) {
	lon, lat = f.system.ToWGS84(f.to.apply(u, v))
	return f.lon + math.Remainder(lon-f.lon, 360), lat
}

// pixel is the inverse of lonLat; it returns NaN off the map.
func (f frame) pixel(lon, lat float64) (u, v float64) {
	if f.system.Geographic {
		lon = f.lon + math.Remainder(lon-f.lon, 360)
	}
	return f.from.apply(f.system.FromWGS84(lon, lat))
}

// locate reads the georeference.
func (r *Raster) locate(p *page) {
	r.extent = Extent{Width: p.width, Height: p.height, Bands: p.samples}
	r.own = georeferenceOf(p.reader, p.directory)
	r.setGeoreference(r.own)
}

// georeferenceOf reads the tags of GeoTIFF.
func georeferenceOf(t tiff.Reader, d tiff.Directory) georeference {
	keys := geoKeys(t, d)
	system, noSystem := crs.FromGeoKeys(keys)
	to, noTransform := transform(t, d, keys.PixelIsPoint())
	return georeference{to, noTransform, system, noSystem}
}

var errNoPosition = errors.New("the raster has no position")

// georeference is a file's position, and the reasons for missing parts.
type georeference struct {
	to          affine
	noTransform error
	system      *crs.System
	noSystem    error
}

// unplaced is the georeference of a file without any position.
var unplaced = georeference{noTransform: errNoPosition, noSystem: crs.ErrNoSystem}

// position is the text of a world file and of a projection, "" for none.
type position struct {
	World      string `json:",omitempty"`
	Projection string `json:",omitempty"`
}

// ReplacePosition replaces the raster's own position by the text of a world file, the text of a
// projection file (WKT), or both; "" keeps the own one. It is called before other methods.
func (r *Raster) ReplacePosition(world, projection string) {
	if world != "" {
		r.own.to, r.own.noTransform = worldFile(world)
	}
	if projection != "" {
		r.own.system, r.own.noSystem = crs.FromWKT(projection)
	}
	r.replaced = position{world, projection}
	r.setGeoreference(r.own)
}

// SetPosition sets the position of a raster without one of its own: the text of a world file, the
// text of a projection file (WKT), or both; "" for none. It is called before other methods.
func (r *Raster) SetPosition(world, projection string) {
	g := r.own
	if g.noTransform != nil && world != "" {
		if g.to, g.noTransform = worldFile(world); g.noTransform == nil {
			r.beside.World = world
		}
	}
	if errors.Is(g.noSystem, crs.ErrNoSystem) && projection != "" {
		if g.system, g.noSystem = crs.FromWKT(projection); g.noSystem == nil {
			r.beside.Projection = projection
		}
	}
	if r.extent.Outline == nil {
		r.setGeoreference(g)
	}
}

// worldFile parses the six numbers of a world file, which refer to the centre of the upper left pixel.
func worldFile(text string) (a affine, err error) {
	numbers := strings.Fields(text)
	if len(numbers) < 6 {
		return a, errors.New("the world file does not have six numbers")
	}
	var v [6]float64
	for i := range v {
		if v[i], err = strconv.ParseFloat(numbers[i], 64); err != nil {
			return a, fmt.Errorf("the world file does not have six numbers: %q is not a number", numbers[i])
		}
	}
	return affine{v[4] - (v[0]+v[2])/2, v[0], v[2], v[5] - (v[1]+v[3])/2, v[1], v[3]}, nil
}

// setGeoreference computes the extent from a georeference.
func (r *Raster) setGeoreference(g georeference) {
	e := &r.extent
	to, err, noSystem := g.to, g.noTransform, g.noSystem
	e.System, e.Reason, e.Outline, e.GroundResolution = g.system, nil, nil, 0
	from, invertible := to.inverse()
	switch {
	case err != nil:
		e.Reason = err
		return
	case !invertible:
		e.Reason = errors.New("the position of the raster is invalid: its pixels have no size")
		return
	}
	if noSystem != nil {
		if errors.Is(noSystem, crs.ErrNoSystem) {
			noSystem = errors.New("the raster names no reference system")
		}
		e.Reason = noSystem
		return
	}
	r.computeExtent(frame{to: to, from: from, system: e.System})
}

// computeExtent computes the position of the raster.
func (r *Raster) computeExtent(f frame) {
	e := &r.extent
	w, h := float64(e.Width), float64(e.Height)
	lon, lat := f.system.ToWGS84(f.to.apply(w/2, h/2))
	if math.IsNaN(lon) || math.IsNaN(lat) || math.Abs(lat) > 90 || math.Abs(lon) > 720 {
		e.Reason = fmt.Errorf("the position of the raster is invalid in %s", f.system)
		return
	}
	f.lon = math.Remainder(lon, 360)
	at := func(u, v float64) (p orb.Point) {
		p[0], p[1] = f.lonLat(u, v)
		if f.system.Geographic { // a full turn has the same longitude at both ends
			x, _ := f.to.apply(u, v)
			p[0] = f.lon + x - lon
		}
		return p
	}
	corners := [5]orb.Point{{0, 0}, {w, 0}, {w, h}, {0, h}, {0, 0}}
	steps := 1
	for i, c := range corners[:4] {
		here, next := at(c[0], c[1]), at(corners[i+1][0], corners[i+1][1])
		if !f.system.Geographic && math.Hypot(next[0]-here[0], next[1]-here[1]) > 0.5 {
			steps = 16
		}
	}
	var ring orb.Ring
	for i, c := range corners[:4] {
		next := corners[i+1]
		for s := range steps {
			part := float64(s) / float64(steps)
			p := at(c[0]+part*(next[0]-c[0]), c[1]+part*(next[1]-c[1]))
			if math.IsNaN(p[0]) || math.IsNaN(p[1]) || math.Abs(p[1]) > 90.01 || math.Abs(p[0]-f.lon) > 181 {
				e.Reason = fmt.Errorf("the position of the raster is invalid in %s", f.system)
				return
			}
			ring = append(ring, p)
		}
	}
	x, y := f.system.Metres(lat)
	e.GroundResolution = math.Sqrt(math.Hypot(f.to[1]*x, f.to[4]*y) * math.Hypot(f.to[2]*x, f.to[5]*y))
	e.Outline, r.frame = append(ring, ring[0]), f
}

func geoKeys(t tiff.Reader, d tiff.Directory) crs.GeoKeys {
	keys := crs.GeoKeys{Doubles: t.Numbers(d, tiff.GeoDoubles), ASCII: string(t.Bytes(d, tiff.GeoASCII))}
	for _, v := range t.Integers(d, tiff.GeoKeys) {
		keys.Directory = append(keys.Directory, uint16(min(v, math.MaxUint16)))
	}
	return keys
}

// transform reads the conversion from pixels to coordinates.
func transform(t tiff.Reader, d tiff.Directory, pixelIsPoint bool) (a affine, err error) {
	matrix, ties, scale := t.Numbers(d, tiff.Transformation), t.Numbers(d, tiff.Tiepoints), t.Numbers(d, tiff.PixelScale)
	switch {
	case len(matrix) >= 8:
		a = affine{matrix[3], matrix[0], matrix[1], matrix[7], matrix[4], matrix[5]}
	case len(ties) >= 6 && len(scale) >= 2:
		a = affine{ties[3] - ties[0]*scale[0], scale[0], 0, ties[4] + ties[1]*scale[1], 0, -scale[1]}
	case len(ties) > 6:
		return a, errors.New("the raster has control points only: rectify it, for example with gdalwarp")
	default:
		return a, errNoPosition
	}
	if pixelIsPoint {
		a[0] -= (a[1] + a[2]) / 2
		a[3] -= (a[4] + a[5]) / 2
	}
	return a, nil
}
