package raster

import (
	"cmp"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"transect/client/formats/crs"
	"transect/client/formats/tiff"
)

// Limits of JPEG 2000 files, far above those of real ones.
const (
	maxBoxes    = 4096
	deepestBox  = 8
	maxBoxText  = 1 << 20
	codestream  = "\xff\x4f\xff\x51" // its first two markers, SOC and SIZ
	geoTIFFUUID = "\xb1\x4b\xf8\xbd\x08\x3d\x4b\x43\xa5\xae\x8c\xd7\xd5\xa6\xce\x03"
)

// jp2 holds the boxes of a JPEG 2000 file (ISO 15444-1, annex I).
type jp2 struct {
	r                    io.ReaderAt
	boxes                int // number read so far
	width, height, bands int64
	inTIFF, inGML        georeference
}

// OpenJP2 reads the headers of a JPEG 2000 file, or of a bare codestream. Its position is in a
// GeoTIFF file within a box, else in GML if that is a grid of an EPSG system. undrawn is why its
// pixels cannot be drawn.
func OpenJP2(r io.ReaderAt, size int64, undrawn error) (*Raster, error) {
	j := &jp2{r: r, inTIFF: unplaced, inGML: unplaced}
	if string(j.bytes(0, 4)) == codestream {
		j.readSize(0)
	} else {
		j.readBoxes(0, size, 0)
	}
	if j.bands == 0 {
		return nil, errors.New("the file has no image header")
	}
	if err := sized(j.width, j.height, j.bands); err != nil {
		return nil, err
	}
	g := j.inTIFF
	if g.noTransform != nil {
		g = j.inGML
	}
	return headed(int(j.width), int(j.height), int(j.bands), g, undrawn), nil
}

// bytes returns n bytes of the file, or fewer at its end.
func (j *jp2) bytes(at, n int64) []byte {
	b := make([]byte, n)
	read, _ := j.r.ReadAt(b, at)
	return b[:read]
}

func (j *jp2) readBoxes(at, end int64, depth int) {
	for ; at+8 <= end && depth < deepestBox && j.boxes < maxBoxes; j.boxes++ {
		head := j.bytes(at, 16)
		if len(head) < 8 {
			return
		}
		begin, length := at+8, int64(binary.BigEndian.Uint32(head))
		switch {
		case length == 0: // the last one
			length = end - at
		case length == 1 && len(head) == 16:
			begin, length = at+16, int64(min(binary.BigEndian.Uint64(head[8:]), tiff.MaxLength))
		}
		if length < begin-at || length > end-at {
			length = end - at // truncated
		}
		if at += length; begin < at {
			j.readBox(string(head[4:8]), begin, at, depth)
		}
	}
}

func (j *jp2) readBox(kind string, begin, end int64, depth int) {
	switch kind {
	case "jp2h", "asoc":
		j.readBoxes(begin, end, depth+1)
	case "ihdr":
		if b := j.bytes(begin, 10); len(b) == 10 && j.bands == 0 {
			j.height, j.width = int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
			j.bands = int64(binary.BigEndian.Uint16(b[8:]))
		}
	case "jp2c":
		j.readSize(begin)
	case "uuid":
		if j.inTIFF.noTransform != nil && string(j.bytes(begin, 16)) == geoTIFFUUID {
			size := end - begin - 16
			t, first, ok := tiff.NewReader(io.NewSectionReader(j.r, begin+16, size), size)
			if !ok {
				return
			}
			if d, found := t.Directory(first); found {
				j.inTIFF = georeferenceOf(t, d)
			}
		}
	case "xml ":
		if j.inGML.noTransform != nil {
			if g, found := gridOf(string(j.bytes(begin, min(end-begin, maxBoxText)))); found {
				j.inGML = g
			}
		}
	}
}

// readSize reads the size marker of a codestream, which has precedence over the header of the file.
func (j *jp2) readSize(at int64) {
	b := j.bytes(at, 42)
	if len(b) < 42 || string(b[:4]) != codestream {
		return
	}
	side := func(i int) int64 {
		return int64(binary.BigEndian.Uint32(b[i:])) - int64(binary.BigEndian.Uint32(b[i+8:]))
	}
	j.width, j.height, j.bands = side(8), side(12), int64(binary.BigEndian.Uint16(b[40:]))
}

// grid is a grid of pixels in GML (OGC 05-047, "GML in JPEG 2000").
type grid struct {
	System string `xml:"srsName,attr"`
	Point  struct {
		System string `xml:"srsName,attr"`
		Pos    string `xml:"pos"`
		Listed string `xml:"coordinates"`
	} `xml:"origin>Point"`
	Vectors []struct {
		System string `xml:"srsName,attr"`
		Text   string `xml:",chardata"`
	} `xml:"offsetVector"`
}

// gridOf returns the georeference of the first grid in a text; found is false without one.
func gridOf(text string) (g georeference, found bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := d.Token()
		if err != nil {
			return g, false
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "RectifiedGrid" {
			var in grid
			if d.DecodeElement(&in, &start) != nil || len(in.Vectors) != 2 {
				return g, false
			}
			return in.georeference()
		}
	}
}

// epsgNames match the names of EPSG systems in GML; only plain ones have longitude and easting
// first, whatever the register prescribes.
var epsgNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:urn:ogc:def:crs:EPSG:[\d.]*:|https?://www\.opengis\.net/def/crs/EPSG/[\d.]+/|(EPSG:))(\d{4,6})$`)
})

// georeference returns the position of a grid with its sides along the axes. The vectors show the
// order of the axes.
func (in *grid) georeference() (g georeference, found bool) {
	name := strings.TrimSpace(cmp.Or(in.System, in.Point.System, in.Vectors[0].System))
	origin, ok := pair(cmp.Or(in.Point.Pos, in.Point.Listed))
	right, okRight := pair(in.Vectors[0].Text)
	down, okDown := pair(in.Vectors[1].Text)
	if !ok || !okRight || !okDown {
		return g, false
	}
	swapped := right[0] == 0 && down[1] == 0 && right[1] != 0
	if swapped {
		origin[0], origin[1] = origin[1], origin[0]
		right[0], right[1] = right[1], right[0]
		down[0], down[1] = down[1], down[0]
	}
	g = georeference{to: affine{origin[0] - (right[0]+down[0])/2, right[0], down[0],
		origin[1] - (right[1]+down[1])/2, right[1], down[1]}}
	m := epsgNames().FindStringSubmatch(name)
	if m == nil {
		g.noSystem = fmt.Errorf("the reference system %q of its GML is unknown", shortened(name))
		return g, true
	}
	code, _ := strconv.Atoi(m[2])
	g.system, g.noSystem = crs.EPSG(code)
	plain := m[1] != ""
	doubtful := plain && swapped || !plain && !swapped && g.system != nil && g.system.Geographic
	if g.system != nil && (doubtful || right[1] != 0 || down[0] != 0) {
		g.noSystem = fmt.Errorf("the order of the coordinates of its GML in %s is not certain", g.system)
		g.system = nil
	}
	return g, true
}

// pair parses two numbers separated by spaces or a comma.
func pair(text string) (p [2]float64, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r <= ' ' })
	if len(words) != 2 {
		return p, false
	}
	for i := range p {
		v, err := strconv.ParseFloat(words[i], 64)
		if err != nil || tiff.NotFinite(v) {
			return p, false
		}
		p[i] = v
	}
	return p, true
}

// shortened returns a text of a file as shown in messages.
func shortened(text string) string {
	const most = 80
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
