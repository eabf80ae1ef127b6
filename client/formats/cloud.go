package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"transect/client/formats/crs"
	"transect/client/formats/pointcloud"
	"transect/client/formats/raster"
)

const (
	maxPoints   = 8_000_000 // most points of a cloud to draw
	firstPoints = 200_000   // sampled first, to find the extent of the others
)

// clouds are the formats of point clouds.
var clouds = []Format{
	// The top bits of the point format are set by compressors (LAS 1.4, "Point Data Record Format").
	{name: "laz", kind: "pcl",
		match:      func(p *probe) bool { return hasAny(p.head, "LASF") && len(p.head) > 104 && p.head[104]&0xC0 != 0 },
		extensions: []string{"laz"}, title: "a LAZ point cloud", truncated: truncatedLAS, reader: points},
	{name: "las", kind: "pcl", magic: []string{"LASF"}, extensions: []string{"las"}, title: "a LAS point cloud",
		truncated: truncatedLAS, reader: points},
	{name: "e57", kind: "pcl", magic: []string{"ASTM-E57"}, extensions: []string{"e57"}, title: "an E57 point cloud"},
	{name: "pcd", kind: "pcl", match: func(p *probe) bool {
		return hasAny(p.head, "# .PCD") || strings.HasPrefix(p.trimmed(), "VERSION") && strings.Contains(p.text, "\nFIELDS ")
	}},
	{kind: "pcl", extensions: []string{"xyz", "pts", "ptx"}, among: pointLists, match: pointLines},
}

var points = reader{describe: describeCloud, picture: drawCloud}

var numbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*-?[\d.]+(e[-+]?\d+)?([\s,;]+-?[\d.]+(e[-+]?\d+)?){2,}\s*$`)
})

// pointLines reports whether a file is a list of points: by its extension, and all lines have at least three numbers.
// The first two may be a header, the last one may be incomplete.
func pointLines(p *probe) bool {
	if _, ok := p.among(pointLists); !ok {
		return false
	}
	lines := strings.Split(p.trimmed(), "\n")
	if int64(len(p.text)) < p.Size && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	good := 0
	for _, line := range lines {
		if numbers().MatchString(line) {
			good++
		}
	}
	return good > 0 && good >= len(lines)-11 && good*2 >= len(lines)-2
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

// isWKT matches the start of well-known text, which not every projection file contains.
var isWKT = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[A-Z_]{6,}\s*\[`) })

// ProjectionBeside returns the text of the projection file (.prj) for a point cloud without a
// reference system of its own, "" if it has one.
func ProjectionBeside(ctx context.Context, cloud, projection File) (text string) {
	f := &file{File: cloud}
	_ = f.within(ctx, "", func(ctx context.Context, _ *Format) error { // another reader reports errors
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

// truncatedLAS evaluates the public header block (LAS 1.4 R15): offset, size and number of the
// points. Compressed points have no fixed size, but the offset of their chunk table, which comes
// last. It does not use the point cloud reader, which refuses versions and compressions that can be
// truncated as well.
func truncatedLAS(f io.ReaderAt, size int64) string {
	head := make([]byte, 375)
	n, _ := f.ReadAt(head, 0)
	if n < 227 {
		return headerCut
	}
	points := int64(binary.LittleEndian.Uint32(head[96:]))
	length := int64(binary.LittleEndian.Uint16(head[105:]))
	count := uint64(binary.LittleEndian.Uint32(head[107:]))
	if head[25] >= 4 && n >= 255 {
		if long := binary.LittleEndian.Uint64(head[247:]); long > 0 {
			count = long
		}
	}
	switch {
	case points > size:
		return headerCut
	case count == 0:
		return ""
	case head[104]&0xC0 == 0:
		if length > 0 && count > math.MaxInt64/2/uint64(length) {
			return "its header counts more points than any file can hold"
		}
		return tooShort(size, points+length*int64(count))
	}
	if pointwise(f, points) {
		return ""
	}
	var table [8]byte
	if n, _ := f.ReadAt(table[:], points); n < len(table) {
		return headerCut
	}
	at := int64(binary.LittleEndian.Uint64(table[:]))
	if at == -1 { // written in one pass, so the offset is in the last bytes
		if n, _ := f.ReadAt(table[:], size-8); n < len(table) {
			return headerCut
		}
		at = int64(binary.LittleEndian.Uint64(table[:]))
	}
	if at < points || at+8 > size {
		return "the offset of its chunk table is past its end: its end is missing"
	}
	return ""
}

// pointwise reports whether points are compressed individually, so that a file has no chunk table
// (LASzip, "The LAZ Compression", compressor 1). points is their offset.
func pointwise(f io.ReaderAt, points int64) bool {
	const record = 54 // bytes of a record header, with the owner's name at byte 2
	head := make([]byte, min(points, 64<<10))
	n, _ := f.ReadAt(head, 0)
	_, rest, found := bytes.Cut(head[:n], []byte("laszip encoded"))
	at := record - 2 - len("laszip encoded")
	return found && len(rest) >= at+2 && binary.LittleEndian.Uint16(rest[at:]) == 1
}

// drawCloud shows a point cloud from above, coloured by height.
func drawCloud(ctx context.Context, f *file, side int) (image.Image, error) {
	cloud, err := pointcloud.Open(f.Reader(ctx), f.Size)
	if err != nil {
		return nil, err
	}
	return drawPoints(func(limit int64, visit func(pointcloud.Point)) error {
		for p, err := range cloud.Sample(ctx, limit) {
			if err != nil {
				return err
			}
			visit(p)
		}
		return nil
	}, side)
}

// drawPoints draws points; sample visits about limit of them, the same each time.
func drawPoints(sample func(limit int64, visit func(pointcloud.Point)) error, side int) (image.Image, error) {
	var axes [3][]float64
	if err := sample(firstPoints, func(p pointcloud.Point) {
		for i, v := range []float64{p.X, p.Y, p.Z} {
			axes[i] = append(axes[i], v)
		}
	}); err != nil {
		return nil, err
	}
	if len(axes[0]) == 0 {
		return nil, errors.New("it has no points")
	}
	var low, high [3]float64
	for i, values := range axes {
		slices.Sort(values)
		low[i], high[i] = span(values)
	}
	v := newView(low[0], low[1], high[0], high[1], side)
	tops := newHeights(v.w, v.h)
	n := 0
	err := sample(maxPoints, func(p pointcloud.Point) {
		n++
		x, y := v.at(p.X, p.Y)
		tops.raise(int(x), int(y), float32(p.Z))
	})
	if err != nil {
		return nil, err
	}
	// Draw fewer points larger, so that they cover the ground.
	tops.spread(int(math.Sqrt(float64(v.w*v.h)/float64(n)) * 0.7))
	low[2], high[2] = axes[2][len(axes[2])*2/100], axes[2][len(axes[2])*98/100]
	return tops.draw(low[2], high[2], v.scale), nil
}

// span returns the range of sorted values, without far outliers.
func span(values []float64) (low, high float64) {
	n := len(values)
	low, high = values[n/1000], values[n-1-n/1000]
	margin := (high - low) / 5
	first, _ := slices.BinarySearch(values, low-margin)
	after, _ := slices.BinarySearch(values, math.Nextafter(high+margin, math.Inf(1)))
	return values[first], values[after-1]
}

// view maps coordinates to a picture with north at the top.
type view struct {
	w, h  int
	x, y  float64 // upper left corner
	scale float64 // pixels a unit
}

// newView fits a box into a square of side pixels. A box without width or height becomes a narrow one.
func newView(x0, y0, x1, y1 float64, side int) view {
	longest := max(x1-x0, y1-y0)
	if longest <= 0 || math.IsInf(longest, 0) || math.IsNaN(longest) {
		longest = 1
	}
	scale := float64(side) / longest
	w, h := min(side, max(1, int(math.Ceil((x1-x0)*scale)))), min(side, max(1, int(math.Ceil((y1-y0)*scale))))
	return view{w, h, x0, y1, scale}
}

// at returns the pixel coordinates of a position.
func (v view) at(x, y float64) (px, py float64) {
	px, py = (x-v.x)*v.scale, (v.y-y)*v.scale
	if px == float64(v.w) { // the border is part of the box
		px = math.Nextafter(px, 0)
	}
	if py == float64(v.h) {
		py = math.Nextafter(py, 0)
	}
	return px, py
}

// heights is the highest value at each pixel, NaN without one.
type heights struct {
	w, h   int
	values []float32
}

var nothing = float32(math.NaN())

func newHeights(w, h int) *heights {
	g := &heights{w, h, make([]float32, w*h)}
	for i := range g.values {
		g.values[i] = nothing
	}
	return g
}

func (g *heights) raise(x, y int, z float32) {
	if x < 0 || y < 0 || x >= g.w || y >= g.h {
		return
	}
	if v := &g.values[y*g.w+x]; !(*v >= z) {
		*v = z
	}
}

// spread sets pixels without a value to the highest value within a distance.
func (g *heights) spread(distance int) {
	distance = min(distance, 24)
	for _, stride := range []struct{ along, across, n, m int }{{1, g.w, g.w, g.h}, {g.w, 1, g.h, g.w}} {
		from := slices.Clone(g.values)
		for j := range stride.m {
			for i := range stride.n {
				at := j*stride.across + i*stride.along
				if !math.IsNaN(float64(from[at])) {
					continue
				}
				for d := -distance; d <= distance; d++ {
					if i+d < 0 || i+d >= stride.n {
						continue
					}
					if z := from[at+d*stride.along]; z == z && !(g.values[at] >= z) {
						g.values[at] = z
					}
				}
			}
		}
	}
}

// draw colours heights between two values, with light from the north-west; scale is
// in pixels a unit of height.
func (g *heights) draw(low, high, scale float64) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, g.w, g.h))
	at := func(x, y int, z float32) float32 {
		if x < 0 || y < 0 || x >= g.w || y >= g.h || g.values[y*g.w+x] != g.values[y*g.w+x] {
			return z
		}
		return g.values[y*g.w+x]
	}
	for y := range g.h {
		for x := range g.w {
			z := g.values[y*g.w+x]
			if z != z {
				continue
			}
			slope := float64(at(x+1, y+1, z)-at(x-1, y-1, z)) * scale / 4
			m.SetNRGBA(x, y, shaded(ramp((float64(z)-low)/(high-low)), 1+0.35*math.Tanh(slope)))
		}
	}
	return m
}

// ramp returns the colour of a value from 0 to 1.
func ramp(t float64) color.NRGBA {
	if !(t > 0) {
		t = 0
	}
	c := raster.Elevation[int(min(t, 1)*255)]
	return color.NRGBA{c[0], c[1], c[2], c[3]}
}

// shaded returns a colour under light.
func shaded(c color.NRGBA, light float64) color.NRGBA {
	part := func(v uint8) uint8 { return uint8(min(255, max(0, float64(v)*light))) }
	return color.NRGBA{part(c.R), part(c.G), part(c.B), c.A}
}
