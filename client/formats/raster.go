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
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"transect/client/formats/imagery"
	"transect/client/formats/raster"
	"transect/client/formats/vector"
)

// isRaster reports whether a TIFF file has measurements or a map rather than a photo.
func (f *file) isRaster() bool {
	traits, ok := imagery.TraitsOf(f.Data, f.Size)
	return ok && (traits.Georeferenced || !traits.Camera && !traits.DNG)
}

func drawTIFF(ctx context.Context, f *file, side int) (image.Image, error) {
	if !f.isRaster() {
		return drawPhoto(ctx, f, side)
	}
	r, err := raster.Open(f.Reader(ctx), f.Size)
	if err != nil {
		return nil, err
	}
	release, err := reserve(ctx, raster.DefaultCache+int64(side)*int64(side)*16)
	if err != nil {
		return nil, err
	}
	defer release()
	m, err := r.Overview(side)
	if err != nil {
		return nil, err
	}
	return Shrink(m, side), nil
}

func drawNothing(context.Context, *file, int) (image.Image, error) { return nil, ErrNone }

func describeTIFF(ctx context.Context, f *file) (Info, error) {
	if p := f.position(ctx); p.world == "" && p.auxWorld == "" && !f.isRaster() {
		return describePhoto(ctx, f)
	}
	return describeRaster(ctx, f)
}

func describeRaster(ctx context.Context, f *file) (Info, error) {
	r, err := f.raster(ctx)
	if err != nil {
		return Info{}, err
	}
	content, err := f.recognise()
	if err != nil {
		return Info{}, err
	}
	e := r.Extent()
	info := Info{Kind: "raster", Format: content.Format, System: e.System, Reason: e.Reason, Width: e.Width,
		Height: e.Height,
		Bands:  e.Bands, Resolution: e.GroundResolution}
	if info.Format == "geotiff" {
		info.Format = "tiff"
	}
	if e.Outline != nil {
		info.Outline = orb.Polygon{e.Outline}
	}
	return info, nil
}

// OpenRaster opens a raster of any supported format, with the position from accompanying files: a
// world file, a projection (.prj), or GDAL's .aux.xml.
func OpenRaster(ctx context.Context, main File, beside ...File) (*raster.Raster, error) {
	return (&file{main, beside}).raster(ctx)
}

func (f *file) raster(ctx context.Context) (*raster.Raster, error) {
	content, err := f.recognise()
	if err != nil {
		return nil, err
	}
	place := f.position(ctx)
	r, err := f.openRaster(ctx, content, &place)
	if err != nil {
		return nil, err
	}
	place.applyTo(r, content.Format)
	return r, nil
}

// openRaster opens the main file. In a GeoPackage the raster's position replaces place's.
func (f *file) openRaster(ctx context.Context, content Content, place *placed) (*raster.Raster, error) {
	in := f.Reader(ctx)
	switch content.Format {
	case "aaigrid":
		return openGrid(in)
	case "jp2", "j2k":
		return raster.OpenJP2(in, f.Size, undrawn("JPEG 2000 images"))
	case "hfa":
		return raster.OpenHFA(in, undrawn("Erdas Imagine files"))
	case "envi":
		return raster.OpenENVI(f.header(maxHeader), undrawn("ENVI files"))
	case "ehdr":
		return raster.OpenEHdr(f.header(maxHeader), undrawn("raw files with a header"))
	case "geopackage":
		t, err := vector.Tiles(ctx, f.File)
		if err != nil {
			return nil, err
		}
		place.world = fmt.Sprint(t.PixelX, 0, 0, -t.PixelY, t.West+t.PixelX/2, t.North-t.PixelY/2)
		place.projection = t.Definition
		return raster.Header(t.Width, t.Height, t.Bands, "", undrawn("GeoPackages")), nil
	}
	if content.flat && content.Format != "tiff" && content.Format != "geotiff" {
		config, _, err := image.DecodeConfig(in)
		if err != nil {
			return nil, err
		}
		return raster.Header(config.Width, config.Height, bandsOf(config), "", undrawn(content.Format+" images")), nil
	}
	return raster.Open(in, f.Size)
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
func openGrid(in io.Reader) (*raster.Raster, error) {
	values := map[string]float64{}
	words := bufio.NewScanner(io.LimitReader(in, headSize))
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
		_, suffix := CutExtension(b.Name)
		switch suffix = "." + strings.ToLower(suffix); {
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

// applyTo sets a raster's position in GDAL's order of precedence, which depends on the format.
func (p placed) applyTo(r *raster.Raster, format string) {
	switch format {
	case "tiff", "geotiff", "jpeg", "jp2", "j2k":
		r.ReplacePosition(p.auxWorld, p.auxProjection)
		r.SetPosition(p.world, p.projection)
	case "aaigrid", "ehdr":
		r.SetPosition(cmp.Or(p.world, p.auxWorld), cmp.Or(p.projection, p.auxProjection))
	default:
		r.SetPosition(cmp.Or(p.world, p.auxWorld), cmp.Or(p.auxProjection, p.projection))
	}
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
