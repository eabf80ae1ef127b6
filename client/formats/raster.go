package formats

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/paulmach/orb"

	"transect/client/formats/raster"
)

// grids are the formats of rasters of which only the header is read.
var grids = []Format{
	{name: "aaigrid", kind: "raster", match: func(p *probe) bool { return ascGrid().MatchString(p.trimmed()) },
		reader: reader{describe: describeRaster, open: openGrid}, position: besideFirst},
	{name: "jp2", kind: "raster", magic: []string{"\x00\x00\x00\x0cjP  "}, extensions: []string{"jp2"},
		title: "a JPEG 2000 image", world: true, reader: reader{describe: describeRaster, open: openJP2}, position: ownFirst},
	{name: "j2k", kind: "raster", magic: []string{"\xff\x4f\xff\x51"}, extensions: []string{"j2k"}, world: true,
		reader: reader{describe: describeRaster, open: openJP2}, position: ownFirst},
	{name: "hfa", kind: "raster", magic: []string{"EHFA_HEADER_TAG"}, extensions: []string{"img"}, world: true,
		reader: reader{describe: describeRaster, open: openHFA}},
	{name: "envi", kind: "raster", header: func(line string) bool { return line == "ENVI" }, extensions: []string{"dat"},
		world: true, reader: reader{describe: describeRaster, open: openENVI}},
	{name: "ehdr", kind: "raster", header: func(line string) bool { return hasAny([]byte(line), "NROWS", "NCOLS") },
		extensions: []string{"bil", "bip", "bsq", "flt"}, world: true,
		reader: reader{describe: describeRaster, open: openEHdr}, position: besideFirst},
	{name: "ecw", kind: "file", extensions: []string{"ecw"}, among: binaries, world: true},
	{name: "mrsid", kind: "file", extensions: []string{"sid"}, among: binaries, world: true},
}

var ascGrid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*ncols\s+\d+\s+nrows\s+\d+`) })

func describeRaster(ctx context.Context, f *file) (Info, error) {
	r, format, err := f.raster(ctx)
	if err != nil {
		return Info{}, err
	}
	e := r.Extent()
	info := Info{Kind: "raster", Format: format, System: e.System, Reason: e.Reason, Width: e.Width, Height: e.Height,
		Bands: e.Bands, Resolution: e.GroundResolution}
	if e.Outline != nil {
		info.Outline = orb.Polygon{e.Outline}
	}
	return info, nil
}

// OpenRaster opens a raster of any supported format, with the position from accompanying files: a
// world file, a projection (.prj), or GDAL's .aux.xml. It returns its format as datasets name it.
func OpenRaster(ctx context.Context, main File, beside ...File) (r *raster.Raster, format string, err error) {
	return (&file{File: main, beside: beside}).raster(ctx)
}

func (f *file) raster(ctx context.Context) (r *raster.Raster, format string, err error) {
	content, err := f.recognise()
	if err != nil {
		return nil, "", err
	}
	found, place := named(content.Format), f.position(ctx)
	if found.open == nil {
		r, err = raster.Open(f.Reader(ctx), f.Size)
	} else {
		r, err = found.open(ctx, f, &place)
	}
	if err != nil {
		return nil, "", err
	}
	if found.position == nil {
		r.SetPosition(cmp.Or(place.world, place.auxWorld), cmp.Or(place.auxProjection, place.projection))
	} else {
		found.position(place, r)
	}
	return r, cmp.Or(found.dataset, content.Format), nil
}

func openPicture(ctx context.Context, f *file, _ *placed) (*raster.Raster, error) {
	config, format, err := image.DecodeConfig(f.Reader(ctx))
	if err != nil {
		return nil, err
	}
	return raster.Header(config.Width, config.Height, bandsOf(config), "", undrawn(format+" images")), nil
}

func openJP2(ctx context.Context, f *file, _ *placed) (*raster.Raster, error) {
	return raster.OpenJP2(f.Reader(ctx), f.Size, undrawn("JPEG 2000 images"))
}

func openHFA(ctx context.Context, f *file, _ *placed) (*raster.Raster, error) {
	return raster.OpenHFA(f.Reader(ctx), undrawn("Erdas Imagine files"))
}

func openENVI(_ context.Context, f *file, _ *placed) (*raster.Raster, error) {
	return raster.OpenENVI(f.header(maxHeader), undrawn("ENVI files"))
}

func openEHdr(_ context.Context, f *file, _ *placed) (*raster.Raster, error) {
	return raster.OpenEHdr(f.header(maxHeader), undrawn("raw files with a header"))
}

func undrawn(kind string) error {
	return fmt.Errorf("map tiles of %s are not drawn: convert the raster, for example with gdal_translate -co TILED=YES "+
		"-co COMPRESS=DEFLATE", kind)
}

// bandsOf returns the number of bands that GDAL reports for a picture.
func bandsOf(c image.Config) int {
	switch c.ColorModel {
	case color.GrayModel, color.Gray16Model:
		return 1
	case color.YCbCrModel, color.RGBAModel, color.RGBA64Model:
		return 3
	}
	if _, paletted := c.ColorModel.(color.Palette); paletted {
		return 1
	}
	return 4
}

// openGrid reads the header of an Esri ASCII grid.
func openGrid(ctx context.Context, f *file, _ *placed) (*raster.Raster, error) {
	values := map[string]float64{}
	words := bufio.NewScanner(io.LimitReader(f.Reader(ctx), headSize))
	words.Split(bufio.ScanWords)
	for words.Scan() {
		name := strings.ToLower(words.Text())
		if _, err := strconv.ParseFloat(name, 64); err == nil || !words.Scan() {
			break
		}
		v, err := strconv.ParseFloat(words.Text(), 64)
		if err != nil && name != "nodata_value" {
			return nil, fmt.Errorf("the header of the grid is damaged: %s is %.40q", name, words.Text())
		}
		values[name] = v
	}
	width, height := values["ncols"], values["nrows"]
	dx, dy := cmp.Or(values["dx"], values["cellsize"]), cmp.Or(values["dy"], values["cellsize"])
	if !(width >= 1 && height >= 1 && width <= math.MaxInt32 && height <= math.MaxInt32) || dx <= 0 || dy <= 0 {
		return nil, errors.New("the header of the grid has no size")
	}
	x, y := values["xllcorner"]+dx/2, values["yllcorner"]+dy/2
	if _, centre := values["xllcenter"]; centre {
		x, y = values["xllcenter"], values["yllcenter"]
	}
	world := fmt.Sprint(dx, 0, 0, -dy, x, y+(height-1)*dy)
	return raster.Header(int(width), int(height), 1, world, undrawn("ASCII grids")), nil
}

// placed holds the position from the files accompanying a raster: the texts of a world file and of
// a projection, and both from GDAL's own file; "" for none.
type placed struct{ world, projection, auxWorld, auxProjection string }

// position reads the files accompanying a raster.
func (f *file) position(ctx context.Context) (p placed) {
	_, ext := CutExtension(f.Name)
	read := func(b File) string {
		text, _ := io.ReadAll(io.LimitReader(b.Reader(ctx), 1<<20))
		return string(text)
	}
	for _, b := range f.beside {
		switch suffix := "." + extension(b.Name); {
		case isWorldFile(ext, suffix):
			p.world = read(b)
		case suffix == ".prj" && p.projection == "":
			p.projection = read(b)
		case strings.HasSuffix(strings.ToLower(b.Name), ".aux.xml"):
			p.auxWorld, p.auxProjection = auxiliary(io.LimitReader(b.Reader(ctx), maxAuxiliary))
		}
	}
	return p
}

// ownFirst prefers the position in a raster to the world file.
func ownFirst(p placed, r *raster.Raster) {
	r.ReplacePosition(p.auxWorld, p.auxProjection)
	r.SetPosition(p.world, p.projection)
}

// besideFirst prefers the world file and the projection to GDAL's own file.
func besideFirst(p placed, r *raster.Raster) {
	r.SetPosition(cmp.Or(p.world, p.auxWorld), cmp.Or(p.projection, p.auxProjection))
}

// maxAuxiliary is how much of a GDAL file is read, because it may have long tables.
const maxAuxiliary = 64 << 20

// auxiliary returns the position in a GDAL file as texts of a world file and of a projection.
func auxiliary(in io.Reader) (world, projection string) {
	var pam struct {
		SRS          string
		GeoTransform string
	}
	if xml.NewDecoder(in).Decode(&pam) != nil {
		return "", ""
	}
	var v [6]float64
	numbers := strings.Split(pam.GeoTransform, ",")
	for i := range v {
		var err error
		if len(numbers) != len(v) {
			return "", pam.SRS
		}
		if v[i], err = strconv.ParseFloat(strings.TrimSpace(numbers[i]), 64); err != nil {
			return "", pam.SRS
		}
	}
	return fmt.Sprint(v[1], v[4], v[2], v[5], v[0]+(v[1]+v[2])/2, v[3]+(v[4]+v[5])/2), pam.SRS
}
