package platform

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/formats/raster"
	"transect/client/wait"
	"transect/platform/internal/store"
)

const (
	maxTileRasters = 150
	// tilesWait is how long a request waits for tiles that are being made.
	tilesWait = 10 * time.Second
	// tileAge is how long clients may cache a tile.
	tileAge = time.Hour
)

func tileRoutes() []route {
	return []route{{method: "GET", path: "tileserver/tiles/{ids}/{z}/{x}/{y}", open: true, stream: serveTile}}
}

// serveTile draws a tile of one raster, or of several over each other, the first at the bottom. It accepts a
// share token of these datasets or a user's access token.
func serveTile(w http.ResponseWriter, r *Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*") // pages anywhere may draw it; the token is the key
	z, x, y := r.tileAddress(tileFormat)
	ids := strings.Split(r.path("ids"), ",")
	if len(ids) > maxTileRasters {
		panic(invalid("%d rasters are too many for one address, the limit is %d", len(ids), maxTileRasters))
	}
	until := r.mayShow(func(shared []string) {
		for _, id := range ids {
			if !slices.Contains(shared, id) {
				panic(forbidden("the share token does not open dataset %s", id))
			}
		}
	})
	layers := r.layers(ids)
	tag := tileTag(layers, z, x, y)
	keep := func() {
		w.Header().Set("ETag", tag)
		w.Header().Set("Cache-Control", fmt.Sprintf("private, max-age=%d", int(min(tileAge, until).Seconds())))
	}
	if slices.Contains(strings.Split(r.http.Header.Get("If-None-Match"), ", "), tag) {
		keep()
		w.WriteHeader(http.StatusNotModified)
		return
	}
	var tile draw.Image
	for _, l := range layers {
		check(r.p.useRaster(l.file, l.overviews, func(raster *raster.Raster) error {
			m, err := raster.Tile(z, x, y)
			switch {
			case err != nil:
				return fail(http.StatusNotFound, "NoTiles", "dataset %s has no tile here: %v", l.dataset, err)
			case tile == nil:
				tile = m
			default:
				draw.Draw(tile, tile.Bounds(), m, image.Point{}, draw.Over)
			}
			return nil
		}))
	}
	var b bytes.Buffer
	check((&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, tile))
	keep()
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.Write(b.Bytes())
}

// tileAddress reads zoom, column and row of the path.
func (r *Request) tileAddress(expected string) (z, x, y int) {
	row, format, _ := strings.Cut(r.path("y"), ".")
	if format != expected {
		panic(invalid("the tiles are in the format %s, not %q", expected, format))
	}
	numbers := make([]int, 3)
	for i, text := range []string{r.path("z"), r.path("x"), row} {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			panic(invalid("the address of a tile ends in ZOOM/COLUMN/ROW.%s, and %q is not a number", expected, text))
		}
		numbers[i] = int(n)
	}
	z, x, y = numbers[0], numbers[1], numbers[2]
	if z > raster.MaxZoom || x >= 1<<z || y >= 1<<z {
		panic(invalid("there is no tile %d/%d/%d: zooms are 0 to %d, and zoom %[1]d has columns and rows below 2^%[1]d", z, x,
			y, raster.MaxZoom))
	}
	return z, x, y
}

// mayShow checks the token of a request for tiles, and returns how long it is valid. opens refuses a share
// token for other datasets.
func (r *Request) mayShow(opens func(shared []string)) (until time.Duration) {
	given := r.http.URL.Query().Get("access_token")
	if given == "" {
		r.read(r.authenticate)
		return r.caller.expires.Sub(r.now())
	}
	until = tileAge
	r.read(func() {
		token := r.first(shareTokens, store.Doc{"token": given})
		if token == nil {
			panic(unauthorized("InvalidToken", "the share token is unknown or was revoked"))
		}
		if end := store.Text(token, "expiration_date"); end != "" {
			if until = must(time.Parse(time.RFC3339, end)).Sub(r.now()); until <= 0 {
				panic(unauthorized("ExpiredToken", "the share token has expired on %s", end))
			}
		}
		opens(textsOf(store.Lookup(token, "scope.datasets")))
	})
	return until
}

// layer is one raster of a tile.
type layer struct {
	dataset         string
	file, overviews stored
}

// layers returns the files of rasters, waiting for tiles that are being made.
func (r *Request) layers(ids []string) (layers []layer) {
	for deadline := time.Now().Add(tilesWait); ; {
		layers = layers[:0]
		var waiting string
		r.read(func() {
			for i, doc := range r.getAll(datasets, ids) {
				if store.Text(doc, "type") != "raster" {
					panic(fail(http.StatusNotFound, "NoTiles", "dataset %s is of type %s; only rasters have tiles", ids[i],
						store.Text(doc, "type")))
				}
				file, _ := r.bytesOf(ids[i], "raster")
				overviewBlob, _ := r.bytesOf(ids[i], overviews)
				layers = append(layers, layer{ids[i], file, overviewBlob})
				switch {
				case store.Text(doc, "tiles.status") == statusAvailable:
				case store.Text(doc, "tiles.status") == statusFailed:
					panic(fail(http.StatusNotFound, "NoTiles", "dataset %s has no tiles: %s", ids[i],
						store.Text(doc, "tiles.error.message")))
				case store.Text(doc, "ingestion.status") != statusCompleted:
					panic(fail(http.StatusNotFound, "NoTiles", "dataset %s has no tiles: its ingestion is %s", ids[i],
						store.Text(doc, "ingestion.status")))
				default:
					waiting = ids[i]
				}
			}
		})
		switch {
		case waiting == "":
			return layers
		case time.Now().After(deadline):
			panic(fail(http.StatusServiceUnavailable, "TilesPending", "the tiles of dataset %s are being made; ask again later",
				waiting))
		}
		check(wait.Sleep(r.http.Context(), 50*time.Millisecond))
	}
}

// tileTag returns an ETag that changes with the content of a tile.
func tileTag(layers []layer, z, x, y int) string {
	h := sha256.New()
	for _, l := range layers {
		fmt.Fprintln(h, l.file.blob, l.overviews.blob)
	}
	fmt.Fprintln(h, z, x, y)
	return `"` + hex.EncodeToString(h.Sum(nil)[:12]) + `"`
}
