package formats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"image"
	"io"
	"slices"

	"github.com/paulmach/orb"

	"transect/client/formats/raster"
)

// Format declares a file format: how it is recognised, what belongs to it, and how it is read. All fields but kind
// are optional.
type Format struct {
	name string // see Content.Format; without it, the extension of a file names the format
	kind string // of its datasets

	magic  []string                       // the first bytes, one of these
	offset int64                          // of magic
	match  func(*probe) bool              // decides in place of magic
	sniff  func(*probe) Content           // tells related formats apart, after magic or match
	roots  []string                       // names of the root element of XML
	header func(line string) (found bool) // recognises a line of a header file (.hdr)

	extensions []string // in lower case
	// title is the name in messages of a format that always begins with the same bytes or character. A file with its
	// extension that was not recognised is damaged: failing cards and copies leave zeros, proxies and portals pages
	// of text.
	title   string
	textual bool  // the content is text
	among   group // whose files only the extension tells apart
	tried   bool  // a text with the extension is read even if the first lines do not show the format

	world  bool   // a world file can georeference it
	zipped bool   // a zip that contains such a file is the archive of a vector
	note   string // see Content.Note

	beside     map[string]string // the components of the files beside it by suffix, if other than those of its kind
	required   []string          // suffixes of the files that it needs
	logged     bool              // a database that may keep changes in logs
	references func(name string, r io.Reader) []Reference

	reader
	check func(context.Context, *file) error // decodes all pixels
	// position sets the position beside a raster, in GDAL's order of precedence; nil for the usual order.
	position  func(placed, *raster.Raster)
	dataset   string                                       // the format of its datasets, if other than name
	truncated func(f io.ReaderAt, size int64) (why string) // returns evidence that the end is missing
}

// reader has the functions that read a family of formats, within the limits of limits.go. Any may be nil but describe.
type reader struct {
	describe func(context.Context, *file) (Info, error)
	picture  func(ctx context.Context, f *file, side int) (image.Image, error)
	features func(context.Context, *file, Visitor) error
	// open opens a raster other than TIFF. It may replace the position beside it.
	open func(ctx context.Context, f *file, beside *placed) (*raster.Raster, error)
}

// Visitor receives the shape of a feature in longitude and latitude, nil if it has none or its
// position is unknown, and its attributes as a JSON object, nil if it has none.
type Visitor func(g orb.Geometry, attributes json.RawMessage) error

// group identifies files among which only the extension tells some formats apart.
type group int

const (
	binaries group = iota + 1
	plainTexts
	pointLists
	otherXML
	rawPhotos
)

// registered are all formats, in the order in which they are tried. It does not change after the start.
var registered []Format

// init fills registered, which as an initial value would depend on itself: the readers look up formats.
func init() {
	registered = slices.Concat(pictures, tiffs, grids, documents, vectors, clouds, meshes)
}

// find returns the first format that satisfies a condition, else one without functions.
func find(is func(*Format) bool) *Format {
	for i := range registered {
		if is(&registered[i]) {
			return &registered[i]
		}
	}
	return &Format{kind: "file"}
}

func named(name string) *Format {
	return find(func(f *Format) bool {
		return name != "" && (f.name == name || f.name == "" && slices.Contains(f.extensions, name))
	})
}

func withExtension(ext string) *Format {
	return find(func(f *Format) bool { return slices.Contains(f.extensions, ext) })
}

// among recognises the format that the extension means in a group of files.
func (p *probe) among(g group) (c Content, ok bool) {
	f := withExtension(p.ext)
	if f.among != g {
		return Content{Kind: "file"}, false
	}
	c = f.content()
	c.Format = cmp.Or(c.Format, p.ext)
	return c, true
}

// content returns the content of a usual file of the format.
func (f *Format) content() Content {
	return Content{Kind: f.kind, Format: f.name, Note: f.note, flat: f.world && f.kind == "image"}
}

// begins reports whether a file begins with the format's first bytes.
func (f *Format) begins(head []byte) bool {
	return int64(len(head)) > f.offset && hasAny(head[f.offset:], f.magic...)
}

// format returns the format whose reader reads the file, without functions for unknown ones.
func (f *file) format() (*Format, error) {
	content, err := f.recognise()
	if err != nil {
		return nil, err
	}
	found, promised := named(content.Format), withExtension(extension(f.Name))
	switch {
	case content.Damage != "" && content.Format == promised.name:
		return nil, errors.New(content.Damage)
	case found.describe == nil && content.Kind == "file" && promised.tried:
		return promised, nil
	}
	return found, nil
}
