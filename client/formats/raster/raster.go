// Package raster reads rasters of any size in bounded memory: TIFF and BigTIFF files
// with their georeference, in strips or tiles, with their overviews and masks. Of JPEG 2000
// (jp2.go), Erdas Imagine (hfa.go), ENVI and EHdr (raw.go) it reads the headers alone.
//
// Open reads the directories. A page (page.go) is one image of the file, cut in
// chunks that are decoded (decode.go) and cached (cache.go) one by one; a level is a
// page with the colours its values get (paint.go, stretch.go). On them stand
// Overview (overview.go), map tiles (tile.go), and the file of further overviews
// that makes both fast for large rasters (pyramid.go).
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
	table  bool     // values are numbers of a colour table

	undrawn error // why its pixels cannot be drawn

	stretching sync.Once
	stretch    stretch
	unreadable error // why there is no stretch

	beside, replaced position // see SetPosition and ReplacePosition
}

// level is the raster at one resolution.
type level struct {
	*page
	mask           *page // of the same size, or nil
	scaleX, scaleY float64
	r              *Raster
}

// Limits of what is accepted; they are far above those of real rasters.
const (
	maxDirectories = 128
	maxPixels      = 1 << 37
	maxSide        = 1 << 26
)

// Open reads the directories of a TIFF or BigTIFF file of size bytes. The error says
// why the raster cannot be read. One without a position opens, too: see Extent; and one
// whose pixels cannot be drawn: see Undrawn.
func Open(r io.ReaderAt, size int64) (*Raster, error) {
	return OpenWith(NewCache(DefaultCache), "", r, size)
}

// OpenWith is Open with a cache that several rasters share, where the name stands for
// the content of the file and of its overviews.
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

// Header returns a raster of which only the size, the bands and the place are known, and
// where its pixels are, "" for none: the text of a world file. Undrawn is why its pixels
// cannot be drawn.
func Header(width, height, bands int, world string, undrawn error) *Raster {
	g := unplaced
	if world != "" {
		g.to, g.noTransform = worldFile(world)
	}
	return headed(width, height, bands, g, undrawn)
}

// headed returns a raster of which only the header is known.
func headed(width, height, bands int, g georeference, undrawn error) *Raster {
	r := &Raster{extent: Extent{Width: width, Height: height, Bands: bands}, undrawn: undrawn, own: g}
	r.setGeoreference(g)
	return r
}

// sized refuses a size that no raster has.
func sized(width, height, bands int64) error {
	if width < 1 || height < 1 || bands < 1 || max(width, height) > math.MaxInt32 || bands > math.MaxUint16 {
		return fmt.Errorf("the header of the raster is damaged: it has %d x %d pixels in %d bands", width, height, bands)
	}
	return nil
}

// Undrawn returns why the pixels of the raster cannot be drawn, nil where they can.
func (r *Raster) Undrawn() error { return r.undrawn }

// addLevel adds a page, with its mask if there is one.
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

// description is what the file of overviews says of the raster it belongs to.
type description struct {
	Width, Height int
	Low, High     []float64
	position               // see SetPosition
	Replaced      position `json:",omitzero"` // see ReplacePosition
}

// UseOverviews adds the overviews that WriteOverviews made of this raster, before
// other methods are called.
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
