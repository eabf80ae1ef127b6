package raster_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"math"
	"testing"

	"transect/client/formats/raster"
	"transect/testdata/tiffgen"
)

func read(t testing.TB, data []byte) *raster.Raster {
	t.Helper()
	r, err := raster.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// whole returns a raster in its own size.
func whole(t testing.TB, r *raster.Raster) *image.RGBA {
	t.Helper()
	m, err := r.Overview(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*image.RGBA)
}

// Every layout, compression and predictor gives the same picture.
func TestLayouts(t *testing.T) {
	colours := tiffgen.Image{Width: 34, Height: 21, Bands: 3, Photometric: 2}
	values := map[string]tiffgen.Image{
		"RGB":           colours,
		"RGB, 16 bits":  {Width: 34, Height: 21, Bands: 3, Photometric: 2, Bits: 16, Value: func(x, y, b int) float64 { return float64(x*300 + y*200 + b*9000) }},
		"int16":         {Width: 34, Height: 21, Bits: 16, Format: 2, Value: func(x, y, _ int) float64 { return float64(x*30 - y*90) }},
		"uint32":        {Width: 34, Height: 21, Bits: 32, Value: func(x, y, _ int) float64 { return float64(x * y * 1e6) }},
		"float32":       {Width: 34, Height: 21, Bits: 32, Format: 3, Value: func(x, y, _ int) float64 { return 0.1 * float64(x-y) }},
		"float64":       {Width: 34, Height: 21, Bits: 64, Format: 3, Value: func(x, y, _ int) float64 { return 0.1 * float64(x-y) }},
		"6 bands":       {Width: 34, Height: 21, Bands: 6, Photometric: 1},
		"RGB and alpha": {Width: 34, Height: 21, Bands: 4, Photometric: 2, Alpha: true},
		"grey":          {Width: 34, Height: 21},
		"two colours":   {Width: 34, Height: 21, Bits: 1, Value: func(x, y, _ int) float64 { return float64((x/3 + y) & 1) }},
		"16 numbers":    {Width: 34, Height: 21, Bits: 4, Photometric: 3, Palette: [][3]uint8{3: {10, 20, 30}, 15: {200, 100, 0}}, Value: func(x, y, _ int) float64 { return float64(3 + 12*(x&1)) }},
	}
	for name, m := range values {
		want := whole(t, read(t, tiffgen.File(tiffgen.Options{}, m)))
		for _, o := range []tiffgen.Options{{}, {Big: true}, {BigEndian: true}} {
			for _, compression := range []int{tiffgen.None, tiffgen.LZW, tiffgen.Deflate, tiffgen.PackBits} {
				for _, predictor := range []int{1, 2, 3} {
					for _, layout := range []func(m *tiffgen.Image){
						func(m *tiffgen.Image) {}, func(m *tiffgen.Image) { m.Rows = 5 },
						func(m *tiffgen.Image) { m.TileW, m.TileH = 16, 32 },
						func(m *tiffgen.Image) { m.TileW, m.TileH, m.Planar = 32, 16, true },
					} {
						m := m
						m.Compression, m.Predictor = compression, predictor
						layout(&m)
						if predictor != 1 && (compression == tiffgen.None || compression == tiffgen.PackBits || m.Bits > 0 && m.Bits < 8) || predictor == 3 && m.Format != 3 {
							continue
						}
						label := fmt.Sprintf("%s: %+v, compression %d, predictor %d, tiles %d, strips of %d", name, o, compression, predictor, m.TileW, m.Rows)
						data := tiffgen.File(o, m)
						r, err := raster.Open(bytes.NewReader(data), int64(len(data)))
						if err != nil {
							t.Errorf("%s: %v", label, err)
							continue
						}
						if got := whole(t, r); !bytes.Equal(got.Pix, want.Pix) {
							t.Errorf("%s: another picture", label)
						}
						if err := r.Check(context.Background()); err != nil {
							t.Errorf("%s: %v", label, err)
						}
					}
				}
			}
		}
	}
	rgb := whole(t, read(t, tiffgen.File(tiffgen.Options{}, colours)))
	if got, want := rgb.RGBAAt(7, 9), uint8(7+18); got.R != want || got.G != want+40 || got.B != want+80 || got.A != 255 {
		t.Errorf("the colour at 7, 9 is %v", got)
	}
}

func TestColours(t *testing.T) {
	at := func(m tiffgen.Image, x, y int) [4]uint8 {
		c := whole(t, read(t, tiffgen.File(tiffgen.Options{}, m))).RGBAAt(x, y)
		return [4]uint8{c.R, c.G, c.B, c.A}
	}
	slope := func(x, y, _ int) float64 { return float64(x) }
	terrain := tiffgen.Image{Width: 101, Height: 4, Bits: 32, Format: 3, Value: slope}
	ramp := raster.Ramp()
	if got := at(terrain, 0, 0); got != ramp[0] {
		t.Errorf("what is below the 2nd percentile has the colour %v", got)
	}
	if got := at(terrain, 100, 0); got != ramp[255] {
		t.Errorf("what is above the 98th percentile has the colour %v", got)
	}
	terrain.NoData = "50"
	if got := at(terrain, 50, 1); got != [4]uint8{} {
		t.Errorf("no data has the colour %v", got)
	}
	terrain.NoData, terrain.Value = "-3.4028234663852886e+38", func(x, _, _ int) float64 {
		return []float64{-math.MaxFloat32, math.NaN(), float64(x)}[min(x, 2)]
	}
	for x := range 2 {
		if got := at(terrain, x, 1); got != [4]uint8{} {
			t.Errorf("no data has the colour %v", got)
		}
	}
	if got := at(terrain, 60, 1); got[3] != 255 {
		t.Errorf("data has the colour %v", got)
	}
	rgba := tiffgen.Image{Width: 9, Height: 9, Bands: 4, Photometric: 2, Alpha: true, Value: func(x, _, b int) float64 { return []float64{200, 100, 50, float64(x) * 20}[b] }}
	if got := at(rgba, 5, 1); got != [4]uint8{78, 39, 20, 100} { // premultiplied
		t.Errorf("half transparent: %v", got)
	}
	white := tiffgen.Image{Width: 101, Height: 4, Value: slope, Extra: []tiffgen.Field{{Tag: 262, Kind: 3, Numbers: []float64{0}}}}
	if at(white, 0, 0) != [4]uint8{255, 255, 255, 255} || at(white, 100, 0) != [4]uint8{0, 0, 0, 255} {
		t.Error("0 is not white")
	}
	same := tiffgen.Image{Width: 9, Height: 9, Bits: 16, Value: func(int, int, int) float64 { return 7 }}
	if got := at(same, 3, 3); got != ramp[0] {
		t.Errorf("a raster of one value is %v", got)
	}
	jpeg := tiffgen.Image{Width: 60, Height: 40, Bands: 3, Photometric: 6, Compression: tiffgen.JPEG, TileW: 32, TileH: 32, Value: func(x, y, b int) float64 { return float64(100 + 20*b) }}
	if got := at(jpeg, 50, 35); math.Abs(float64(got[0])-100) > 2 || math.Abs(float64(got[2])-140) > 2 {
		t.Errorf("JPEG: %v", got)
	}
	masked := tiffgen.File(tiffgen.Options{}, tiffgen.Image{Width: 40, Height: 30, Bands: 3, Photometric: 2},
		tiffgen.Image{Width: 40, Height: 30, Mask: true, Photometric: 4, Bits: 1, Value: func(x, y, _ int) float64 { return float64(x / 20) }})
	if m := whole(t, read(t, masked)); m.RGBAAt(5, 5).A != 0 || m.RGBAAt(30, 5).A != 255 {
		t.Errorf("the mask is not used: %v, %v", m.RGBAAt(5, 5), m.RGBAAt(30, 5))
	}
}

// TestOverviewsOfTheFile uses the overviews of a file, whatever their content.
func TestOverviewsOfTheFile(t *testing.T) {
	one := func(int, int, int) float64 { return 10 }
	two := func(int, int, int) float64 { return 200 }
	r := read(t, tiffgen.File(tiffgen.Options{}, tiffgen.Image{Width: 400, Height: 300, Bands: 3, Photometric: 2, Value: one},
		tiffgen.Image{Width: 100, Height: 75, Bands: 3, Photometric: 2, Value: two, Reduced: true},
		tiffgen.Image{Width: 200, Height: 150, Bands: 3, Photometric: 2, Value: one, Reduced: true}))
	for side, want := range map[int]uint32{1000: 10, 400: 10, 150: 10, 100: 200, 20: 200} {
		m, err := r.Overview(side)
		if err != nil {
			t.Fatal(err)
		}
		if red, _, _, _ := m.At(1, 1).RGBA(); red>>8 != want {
			t.Errorf("with a side of %d the colour is %d, not %d", side, red>>8, want)
		}
		if b := m.Bounds(); b.Dx() != min(side, 400) || b.Dy() != min(side, 400)*3/4 && side != 150 {
			t.Errorf("with a side of %d the picture is %v", side, b)
		}
	}
}

// TestMadeOverviews: generated overviews show the same as the raster, and include the raster when
// its chunks are large.
func TestMadeOverviews(t *testing.T) {
	smooth := func(x, y, b int) float64 { return 100 + 40*float64(b) + 50*math.Sin(float64(x+2*y)/90) }
	for name, m := range map[string]tiffgen.Image{
		"tiles":        {Width: 700, Height: 500, Value: smooth, Bands: 3, Photometric: 2, TileW: 256, TileH: 256, Compression: tiffgen.Deflate},
		"one strip":    {Width: 700, Height: 500, Value: smooth, Bands: 3, Photometric: 2, Compression: tiffgen.Deflate},
		"measurements": {Width: 700, Height: 500, Value: smooth, Bits: 32, Format: 3, Rows: 7},
		"small":        {Width: 20, Height: 10},
		"narrow":       {Width: 1, Height: 900, Value: smooth},
		"palette":      {Width: 600, Height: 300, Photometric: 3, Palette: [][3]uint8{{1, 2, 3}, {200, 100, 0}}, Value: func(x, y, _ int) float64 { return float64(x / 300) }},
	} {
		m.EPSG, m.X, m.Y, m.Pixel = 32631, 500000, 5000000, 1
		data := tiffgen.File(tiffgen.Options{}, m)
		r, with := read(t, data), read(t, data)
		addOverviews(t, with)
		for _, side := range []int{100, 256, 5000} {
			want, err := r.Overview(side)
			if err != nil {
				t.Fatal(err)
			}
			got, err := with.Overview(side)
			if err != nil {
				t.Fatal(err)
			}
			if got.Bounds() != want.Bounds() {
				t.Errorf("%s: the overview of %d is %v, not %v", name, side, got.Bounds(), want.Bounds())
				continue
			}
			var sum, n float64
			for y := range want.Bounds().Dy() {
				for x := range want.Bounds().Dx() {
					r1, g1, b1, a1 := want.At(x, y).RGBA()
					r2, g2, b2, a2 := got.At(x, y).RGBA()
					sum += (math.Abs(float64(r1)-float64(r2)) + math.Abs(float64(g1)-float64(g2)) + math.Abs(float64(b1)-float64(b2)) + math.Abs(float64(a1)-float64(a2))) / 4 / 257
					n++
				}
			}
			if sum/n > 3 {
				t.Errorf("%s: the overview of %d differs by %.1f of 255", name, side, sum/n)
			}
		}
		if err := read(t, tiffgen.File(tiffgen.Options{}, tiffgen.Image{Width: 9, Height: 9})).UseOverviews(bytes.NewReader(data), int64(len(data))); err == nil {
			t.Error("overviews of another raster are used")
		}
	}
}
