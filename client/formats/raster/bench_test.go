package raster_test

import (
	"math"
	"testing"
)

func BenchmarkTile(b *testing.B) {
	r := open(b, sharedRaster(b, "landsat7-olinda-6band-utm25s.tif"))
	addOverviews(b, r)
	e := r.Extent()
	native := int(math.Round(math.Log2(40075016 / 256 / e.GroundResolution)))
	for z := native - 2; z <= native+1; z++ {
		x, y := tileAt(e, z)
		b.Run(string(rune('a'+z-native+2)), func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Tile(z, x, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
