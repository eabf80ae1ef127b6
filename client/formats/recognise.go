package formats

// Content detection is written by hand because the libraries for it do not support LAS, LAZ, E57,
// GeoPackage or georeferenced TIFF.

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"unicode/utf8"
)

// Content is the recognised type of a file.
type Content struct {
	Kind    string // of the dataset: "image", "raster", "vector", "pcl", "mesh" or "file"
	Format  string // "jpeg", "geotiff", "shapefile"; "" when unknown
	Archive bool   // a zip: fills the component archive of a vector
	Note    string // a remarkable property, or ""
	// Incomplete: components are missing that the format requires; Note lists them.
	Incomplete bool
	Damage     string // why the content does not match the extension, or ""

	camera bool // taken by a camera
	flat   bool // an image that a world file can georeference

	// auxiliary is the component for a GDAL file (.aux.xml) that accompanies it, "" if that has no position.
	auxiliary string
}

// headSize is how much of every file is read: enough for magic numbers and the first lines of text formats.
const headSize = 4096

// Recognise determines the format of a file by its content, or by its extension if the content does not show it.
func Recognise(f File) (Content, error) {
	if f.Size <= 0 {
		return Content{}, errors.New("the file is empty")
	}
	head, err := f.Head(headSize)
	if err != nil {
		return Content{}, err
	}
	p := &probe{File: f, ext: extension(f.Name), head: head}
	c := p.recognise()
	promised := withExtension(p.ext)
	switch {
	case promised.title == "":
	case c.Kind == "file" && c.Format == "":
		c = Content{Kind: promised.kind, Format: promised.name, Damage: promised.mismatch(head)}
	case c.flat && c.Kind == "image" && c.Format != "tiff" && c.Format != promised.name:
		c.Damage = "it is not " + promised.title + " but " + cmp.Or(named(c.Format).title, "a "+c.Format+" image")
	}
	return c, nil
}

// recognise is like Recognise for a file whose format may be in a header file.
func (f *file) recognise() (Content, error) {
	if f.content != nil {
		return *f.content, nil
	}
	c, err := Recognise(f.File)
	if err == nil && c.Kind == "file" && c.Format == "" {
		c = declaredBy([]byte(f.header(headSize))).content()
	}
	if err == nil {
		f.content = &c
	}
	return c, err
}

// declaredBy returns the format that a .hdr file declares for a raster without first bytes of its own.
func declaredBy(head []byte) *Format {
	return find(func(f *Format) bool {
		for line := range strings.Lines(string(head)) {
			if f.header != nil && f.header(strings.ToUpper(strings.TrimSpace(line))) {
				return true
			}
		}
		return false
	})
}

// maxHeader is how much of a raster's header is read.
const maxHeader = 1 << 20

// header returns the text of the header file (.hdr) of a file, "" without one.
func (f *file) header(most int64) string {
	for _, b := range f.beside {
		if extension(b.Name) == "hdr" {
			text, _ := b.Head(most)
			return string(text)
		}
	}
	return ""
}

// probe is a file to recognise.
type probe struct {
	File
	ext     string
	head    []byte
	decoded bool   // text and isText are set
	text    string // the head without a byte order mark, "" for binary files
	isText  bool
}

// trimmed returns the head as text without blanks around it, "" for binary files.
func (p *probe) trimmed() string {
	if !p.decoded {
		p.text, p.isText = asText(p.head)
		p.decoded = true
	}
	return strings.TrimSpace(p.text)
}

// recognise determines the format from the first bytes of a file.
func (p *probe) recognise() Content {
	f := find(func(f *Format) bool { return f.begins(p.head) || f.match != nil && f.match(p) })
	switch {
	case f.sniff != nil:
		return f.sniff(p)
	case f.name != "":
		return f.content()
	}
	g := f.among
	if p.trimmed(); g == 0 && p.isText {
		g = plainTexts
	} else if g == 0 {
		g = binaries
	}
	c, _ := p.among(g)
	return c
}

// mismatch describes the content that contradicts the extension; "" for text in UTF-16, which is not examined.
func (f *Format) mismatch(head []byte) string {
	if hasAny(head, "\xff\xfe", "\xfe\xff") {
		return ""
	}
	found := "other bytes"
	if _, text := asText(head); text {
		found = "text"
	} else if len(bytes.Trim(head, "\x00")) == 0 {
		found = "zeros"
	}
	if f.textual && found == "text" {
		found = "other text"
	}
	return "it is not " + f.title + " but begins with " + found
}

func hasAny(head []byte, magics ...string) bool {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return false
}

// asText returns the head of a file as text; ok is false and the text empty for binary files.
func asText(head []byte) (string, bool) {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(head, 0) >= 0 {
		return "", false
	}
	odd := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n <= 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' {
			odd++
		}
		i += n
	}
	if odd*20 > len(head) { // texts in legacy encodings pass
		return "", false
	}
	return string(head), true
}
