// Package raster reads rasters of any size in bounded memory: TIFF and BigTIFF files with their
// georeference, in strips or tiles, with their overviews and masks. Of JPEG 2000 (jp2.go), Erdas
// Imagine (hfa.go), ENVI and EHdr (raw.go) it reads only the headers.
//
// Open reads the directories. A page (page.go) is one image of the file, divided into chunks that
// are decoded (decode.go) and cached (cache.go) individually; a level is a page with the colours of
// its values (paint.go, stretch.go). Overview (overview.go), map tiles (tile.go), and the file of
// additional overviews that makes both fast for large rasters (pyramid.go) are based on them.
package raster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"transect/client/formats/tiff"
)

// Raster is an open raster. Its methods may be called concurrently; they read from
// the io.ReaderAt given to Open.
type Raster struct {
	name   string // in the cache
	extent Extent
	frame  frame
	own    georeference
	levels []*level // from the largest; the first is the raster itself
	table  bool     // values are indices into a colour table

	undrawn error // why its pixels cannot be drawn

	stretching sync.Once
	stretch    stretch
	unreadable error // why there is no stretch

	beside, replaced position // set by SetPosition and ReplacePosition
}

// level is the raster at one resolution.
type level struct {
	*page
	mask           *page // of the same size; nil without one
	scaleX, scaleY float64
	r              *Raster
}

// Limits of accepted files, far above those of real ones.
const (
	maxDirectories = 128
	maxPixels      = 1 << 37
	maxSide        = 1 << 26
)

// Open reads the directories of a TIFF or BigTIFF file of size bytes. It opens rasters without a
// position, too (see Extent), and those whose pixels cannot be drawn (see Undrawn).
func Open(r io.ReaderAt, size int64) (*Raster, error) {
	return OpenWith(NewCache(DefaultCache), "", r, size)
}

// OpenWith is like Open, with a cache shared by several rasters. name identifies the content of the
// file and of its overviews.
func OpenWith(c *Cache, name string, r io.ReaderAt, size int64) (*Raster, error) {
	pages, err := readPages(r, size, c, name)
	if err != nil {
		return nil, err
	}
	main := pages[0]
	for _, p := range pages {
		// DNG files have the full image in a subdirectory.
		if main.reduced && !p.reduced && !p.mask {
			main = p
		}
	}
	if err := main.check(); err != nil {
		return nil, err
	}
	raster := &Raster{name: name, table: main.photometric == paletted, undrawn: main.checkPixels()}
	raster.addLevel(main, pages)
	for _, p := range pages {
		if p.reduced && !p.mask && p.width <= main.width && p.samples == main.samples && p != main && p.drawable() == nil {
			raster.addLevel(p, pages)
		}
	}
	raster.sortLevels()
	raster.locate(main)
	return raster, nil
}

// Header returns a raster with only the size, the bands and the position known; world is the text
// of a world file, "" for none. undrawn is why its pixels cannot be drawn.
func Header(width, height, bands int, world string, undrawn error) *Raster {
	g := unplaced
	if world != "" {
		g.to, g.noTransform = worldFile(world)
	}
	return headed(width, height, bands, g, undrawn)
}

// headed returns a raster with only the header known.
func headed(width, height, bands int, g georeference, undrawn error) *Raster {
	r := &Raster{extent: Extent{Width: width, Height: height, Bands: bands}, undrawn: undrawn, own: g}
	r.setGeoreference(g)
	return r
}

// sized refuses sizes that no real raster has.
func sized(width, height, bands int64) error {
	if width < 1 || height < 1 || bands < 1 || max(width, height) > math.MaxInt32 || bands > math.MaxUint16 {
		return fmt.Errorf("the header of the raster is damaged: it has %d x %d pixels in %d bands", width, height, bands)
	}
	return nil
}

// Undrawn returns why the raster's pixels cannot be drawn, or nil.
func (r *Raster) Undrawn() error { return r.undrawn }

// addLevel adds a page, with its mask if any.
func (r *Raster) addLevel(p *page, pages []*page) {
	l := &level{page: p, r: r}
	for _, m := range pages {
		if m.mask && m.width == p.width && m.height == p.height && m.drawable() == nil {
			l.mask = m
		}
	}
	r.levels = append(r.levels, l)
}

func (r *Raster) sortLevels() {
	slices.SortStableFunc(r.levels, func(a, b *level) int { return cmp.Or(b.width-a.width, b.height-a.height) })
	full := r.levels[0]
	for _, l := range r.levels {
		l.scaleX, l.scaleY = float64(full.width)/float64(l.width), float64(full.height)/float64(l.height)
	}
}

// description describes, in the file of overviews, the raster it belongs to.
type description struct {
	Width, Height int
	Low, High     []float64
	position               // see SetPosition
	Replaced      position `json:",omitzero"` // see ReplacePosition
}

// UseOverviews adds the overviews that WriteOverviews made of this raster. It is called before
// other methods.
func (r *Raster) UseOverviews(o io.ReaderAt, size int64) error {
	if r.undrawn != nil {
		return r.undrawn
	}
	full := r.levels[0]
	pages, err := readPages(o, size, full.cache, r.name+" overviews")
	if err != nil {
		return err
	}
	var d description
	if json.Unmarshal([]byte(pages[0].description), &d) != nil || d.Width != full.width || d.Height != full.height ||
		len(d.Low) != len(d.High) {
		return errors.New("the overviews belong to another raster")
	}
	for _, p := range pages {
		if err := p.drawable(); err != nil {
			return err
		}
		p.painted = true
		if p.width == full.width && p.height == full.height {
			r.levels = r.levels[1:]
		}
		r.addLevel(p, nil)
	}
	r.sortLevels()
	r.stretching.Do(func() { r.stretch = stretch{d.Low, d.High} })
	r.ReplacePosition(d.Replaced.World, d.Replaced.Projection)
	r.SetPosition(d.World, d.Projection)
	return nil
}

// readPages reads all directories of a file.
func readPages(r io.ReaderAt, size int64, c *Cache, name string) (pages []*page, err error) {
	t, first, ok := tiff.NewReader(r, size)
	if !ok {
		return nil, errors.New("the file is not a TIFF file")
	}
	err = t.Directories(first, maxDirectories, func(offset int64, d tiff.Directory, ok bool) error {
		if !ok {
			return fmt.Errorf("the file is cut short: its directory at byte %d is missing", offset)
		}
		pages = append(pages, newPage(t, d, c, fmt.Sprint(name, " ", len(pages))))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(pages) == 0 {
		return nil, errors.New("the file has no image")
	}
	return pages, nil
}
