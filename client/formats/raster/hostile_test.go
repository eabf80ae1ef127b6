package raster_test

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"transect/client/formats/raster"
	"transect/testdata/tiffgen"
)

func number(tag, kind uint16, values ...float64) tiffgen.Field {
	return tiffgen.Field{Tag: tag, Kind: kind, Numbers: values}
}

// use handles a file like the platform and the page do, and returns the first error.
func use(data []byte) error {
	r, err := raster.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	r.Extent()
	if _, err := r.Overview(64); err != nil {
		return err
	}
	_, err = r.Tile(0, 0, 0)
	return err
}

func TestHostileFiles(t *testing.T) {
	base := tiffgen.Image{Width: 40, Height: 30, Bands: 3, Photometric: 2, Rows: 8, Compression: tiffgen.Deflate, EPSG: 4326, Geographic: true, Pixel: 0.1}
	with := func(fields ...tiffgen.Field) []byte {
		m := base
		m.Extra = fields
		return tiffgen.File(tiffgen.Options{}, m)
	}
	good := with()
	loop := tiffgen.File(tiffgen.Options{}, base)
	copy(loop[len(loop)-4:], loop[4:8]) // the next directory is the first one
	for name, test := range map[string]struct {
		data   []byte
		reason string // "" if it does not matter
	}{
		"good":                    {good, ""},
		"a loop of directories":   {loop, ""},
		"no TIFF":                 {[]byte("not a picture"), "not a TIFF file"},
		"empty":                   {nil, "not a TIFF file"},
		"cut in the header":       {good[:6], "not a TIFF file"},
		"cut in the directory":    {good[:len(good)-20], "cut short"},
		"no size":                 {with(number(256, 4, 0)), "has no size"},
		"4 billion pixels wide":   {with(number(256, 4, math.MaxUint32)), ""},
		"2 billion pixels square": {with(number(256, 4, math.MaxInt32), number(257, 4, math.MaxInt32), number(278, 4, math.MaxInt32)), "too large"},
		"60 million in one strip": {with(number(256, 4, 60e6), number(257, 4, 1), number(278, 4, 1)), "a row of the raster"},
		"a huge strip":            {with(number(256, 4, 1e5), number(257, 4, 1e6), number(278, 4, 1e6)), "cut short"},
		"huge tiles":              {with(number(322, 4, 1<<26), number(323, 4, 1<<26), number(324, 4, 8), number(325, 4, 100)), "a row of the raster"},
		"tiles of no size":        {with(number(322, 4, 0), number(323, 4, 0), number(324, 4, 8), number(325, 4, 100)), "tiles of the raster have 0 x 0"},
		"strips of no rows":       {with(number(278, 4, 0)), "tiles of the raster have"},
		"60,000 bands":            {with(number(277, 3, 60000)), ""},
		"no bands":                {with(number(277, 3, 0)), "0 bands"},
		"strips beyond the end":   {with(number(273, 4, 1e9, 1e9, 1e9, 1e9)), "cut short"},
		"too few strips":          {with(number(273, 4, 8)), "lists 1 of its 4 pieces"},
		"lengths of nothing":      {with(number(279, 4, 0, 0, 0, 0)), ""},
		"another compression":     {with(number(259, 3, 50000)), "ZSTD compression is not supported"},
		"an unknown compression":  {with(number(259, 3, 12345)), "compression 12345"},
		"JPEG that is none":       {with(number(259, 3, 7)), "JPEG pixels cannot be decoded"},
		"LZW that is none":        {with(number(259, 3, 5)), "piece 0"},
		"bands of 3 bits":         {with(number(258, 3, 3, 3, 3)), "not supported: UInt3"},
		"bands of several types":  {with(number(258, 3, 8, 16, 8)), "different types"},
		"complex numbers":         {with(number(339, 3, 6, 6, 6), number(258, 3, 64, 64, 64)), "not supported: CFloat64"},
		"CMYK":                    {with(number(262, 3, 5)), "photometric interpretation 5"},
		"no colour table":         {with(number(262, 3, 3), number(277, 3, 1), number(258, 3, 8)), "colour table"},
		"an odd predictor":        {with(number(317, 3, 9)), "predictor 9"},
		"its own overview":        {with(number(330, 4, 8, 8, 8)), ""},
		"alpha out of range":      {with(number(338, 3, 0, 0, 0, 0, 1)), ""},
		"many keys":               {with(number(34735, 3, 1, 1, 0, 65535)), "names no reference system"},
		"keys out of range":       {with(number(34735, 3, 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 34736, 1, 9999)), ""},
		"a projection of nothing": {with(number(34735, 3, 1, 1, 0, 3, 1024, 0, 1, 1, 3072, 0, 1, 32767, 3075, 0, 1, 11)), "are invalid"},
	} {
		err := use(test.data)
		if test.reason != "" && (err == nil || !strings.Contains(err.Error(), test.reason)) {
			t.Errorf("%s: %v, want %q", name, err, test.reason)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%s: %q", name, err)
		}
	}
	for n := range len(good) { // cut anywhere
		use(good[:n])
	}
}

func FuzzRaster(f *testing.F) {
	for _, m := range []tiffgen.Image{
		{Width: 8, Height: 8, Bands: 3, Photometric: 2, EPSG: 4326, Geographic: true, Pixel: 0.1},
		{Width: 40, Height: 9, TileW: 16, TileH: 16, Compression: tiffgen.Deflate, Predictor: 2, Bits: 16, NoData: "7", EPSG: 32631, X: 5e5, Y: 5e6, Pixel: 3},
		{Width: 8, Height: 8, Bits: 32, Format: 3, Compression: tiffgen.LZW, Predictor: 3}, {Width: 9, Height: 9, Bits: 4, Photometric: 3, Palette: [][3]uint8{{1}, {2}}},
		{Width: 8, Height: 8, Compression: tiffgen.JPEG, Bands: 3, Photometric: 6}, {Width: 8, Height: 8, Bands: 2, Planar: true, Compression: tiffgen.PackBits},
	} {
		f.Add(tiffgen.File(tiffgen.Options{}, m))
		f.Add(tiffgen.File(tiffgen.Options{Big: true, BigEndian: true}, m, tiffgen.Image{Width: 4, Height: 4, Reduced: true}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// Drawing every pixel of a large raster is slow.
		if r, err := raster.Open(bytes.NewReader(data), int64(len(data))); err == nil && r.Extent().Width*r.Extent().Height < 1<<22 {
			use(data)
		}
	})
}

// large is a file of zero pixels, with a directory at its start.
type large struct{ head []byte }

func (l large) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if at < int64(len(l.head)) {
		copy(b, l.head[at:])
	}
	return len(b), nil
}

// layouts are ways to store rasters of 200,000 pixels per row.
var layouts = map[string]func(m *tiffgen.Image, height int){
	"rows": func(m *tiffgen.Image, height int) {
		var offsets, lengths []float64
		for y := range height {
			offsets, lengths = append(offsets, float64(wideHead+y*wideRow)), append(lengths, wideRow)
		}
		m.Extra = append(m.Extra, number(278, 4, 1), number(273, 4, offsets...), number(279, 4, lengths...))
	},
	"one piece": func(m *tiffgen.Image, height int) {
		m.Extra = append(m.Extra, number(278, 4, float64(height)), number(273, 4, wideHead), number(279, 4, float64(height*wideRow)))
	},
	"tiles": func(m *tiffgen.Image, height int) {
		var offsets, lengths []float64
		for i := range (wideWidth + 511) / 512 * ((height + 511) / 512) {
			offsets, lengths = append(offsets, float64(wideHead+i)), append(lengths, 512*512*3)
		}
		m.Extra = append(m.Extra, number(322, 4, 512), number(323, 4, 512), number(324, 4, offsets...), number(325, 4, lengths...))
	},
}

const (
	wideWidth = 200_000
	wideRow   = wideWidth * 3
	wideHead  = 40_000
)

// useWide generates the overviews of a wide raster and draws tiles of it; it returns the peak
// memory in bytes.
func useWide(t testing.TB, layout func(*tiffgen.Image, int), height int) uint64 {
	m := tiffgen.Image{Width: 1, Height: 1, Bands: 3, Photometric: 2, EPSG: 32631, X: 500000, Y: 5000000, Pixel: 0.1,
		Extra: []tiffgen.Field{number(256, 4, wideWidth), number(257, 4, float64(height))}}
	layout(&m, height)
	r, err := raster.Open(large{tiffgen.File(tiffgen.Options{}, m)}, int64(wideHead+(height+512)*wideRow))
	if err != nil {
		t.Fatal(err)
	}
	peak := watchMemory()
	addOverviews(t, r)
	e := r.Extent()
	for z := 10; z < 22; z += 4 {
		x, y := tileAt(e, z)
		if _, err := r.Tile(z, x, y); err != nil {
			t.Fatal(err)
		}
	}
	return peak()
}

func TestMemoryOfWideRasters(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it reads three wide rasters")
	}
	for name, layout := range layouts {
		if used := useWide(t, layout, 20); used > 256<<20 {
			t.Errorf("%s: it took %d MB of memory", name, used>>20)
		}
	}
}

// BenchmarkGigabyte reads rasters of 1 GB.
func BenchmarkGigabyte(b *testing.B) {
	for name, layout := range layouts {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(useWide(b, layout, 1_700)>>20), "MB")
			}
		})
	}
}

// watchMemory returns a function that returns the peak size of the heap since then.
func watchMemory() (peak func() uint64) {
	runtime.GC()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		var all uint64
		var stats runtime.MemStats
		for {
			runtime.ReadMemStats(&stats)
			all = max(all, stats.HeapInuse)
			select {
			case <-stop:
				most <- all
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(stop); return <-most }
}
