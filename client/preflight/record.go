package preflight

import (
	"cmp"
	"hash/fnv"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"transect/client/imagery"
	"transect/client/tempfile"
)

// fileRecord is what is kept of every file: 16 bytes and its name.
type fileRecord struct {
	name nameRef
	size int64
}

// photoRecord is what is kept of a photo besides: 64 bytes. Pictures are known
// by their shape alone, for the ground they show.
type photoRecord struct {
	taken               int64 // nanoseconds since 1970, noTime when not known
	latitude, longitude float64
	capture             uint64 // hash of what photos of one moment share, 0 for none
	file                uint32 // index of its fileRecord
	height, focal       float32
	yaw, pitch          float32
	wide, high          uint16
	camera, band        uint16
	positioned, zoned   bool
	oriented            bool
}

const noTime = math.MinInt64

// addPhoto keeps what the checks of the survey as a whole need.
func (c *Checker) addPhoto(name string, file int, p imagery.Photo) {
	r := photoRecord{
		taken: noTime, latitude: p.Latitude, longitude: p.Longitude, positioned: p.HasPosition,
		file: uint32(file), focal: float32(p.Focal35()), zoned: p.ZoneKnown,
		camera: c.cameras.add(cameraOf(p)),
	}
	if !p.Acquired.IsZero() && p.Acquired.Year() > 1700 && p.Acquired.Year() < 2200 {
		r.taken = p.Acquired.UnixNano()
	}
	if p.RelativeAltitude != nil {
		r.height = float32(*p.RelativeAltitude)
	}
	if p.Yaw != nil && p.Pitch != nil {
		r.yaw, r.pitch, r.oriented = float32(*p.Yaw), float32(*p.Pitch), true
	}
	longest := max(p.Width, p.Height, 1)
	scale := min(1, float64(math.MaxUint16)/float64(longest))
	r.wide, r.high = uint16(float64(p.Width)*scale), uint16(float64(p.Height)*scale)
	if capture, band, ok := captureOf(name, p); ok {
		h := fnv.New64a()
		_, _ = h.Write([]byte(capture))
		r.capture, r.band = max(h.Sum64(), 1), c.bands.add(band)
	}
	c.photos.Add(r)
}

// cameraOf names a camera; many models begin with their maker's name.
func cameraOf(p imagery.Photo) string {
	if len(p.Model) >= len(p.Make) && strings.EqualFold(p.Model[:len(p.Make)], p.Make) {
		return p.Model
	}
	return strings.TrimSpace(p.Make + " " + p.Model)
}

// shape gives back what imagery needs to work out the ground a photo shows.
func (r photoRecord) shape() imagery.Photo {
	p := imagery.Photo{
		HasPosition: r.positioned, Latitude: r.latitude, Longitude: r.longitude,
		FocalLength35: float64(r.focal), Width: int(r.wide), Height: int(r.high),
	}
	if r.height != 0 {
		height := float64(r.height)
		p.RelativeAltitude = &height
	}
	if r.oriented {
		yaw, pitch := float64(r.yaw), float64(r.pitch)
		p.Yaw, p.Pitch = &yaw, &pitch
	}
	return p
}

func (r photoRecord) time() time.Time { return time.Unix(0, r.taken).UTC() }

// byTime gives the photos in order of camera, time and name; those without
// time come first.
func (c *Checker) byTime() *tempfile.Column[photoRecord] {
	type key struct {
		taken  int64
		photo  uint32
		camera uint16
	}
	order := make([]key, 0, c.photos.Len())
	for i, p := range c.photos.All {
		order = append(order, key{p.taken, uint32(i), p.camera})
	}
	slices.SortFunc(order, func(a, b key) int {
		switch {
		case a.camera != b.camera:
			return strings.Compare(c.cameras.text(a.camera), c.cameras.text(b.camera))
		case a.taken != b.taken:
			return cmp.Compare(a.taken, b.taken)
		}
		return imagery.NaturalCompare(c.name(c.photos.At(int(a.photo))), c.name(c.photos.At(int(b.photo))))
	})
	sorted := &tempfile.Column[photoRecord]{Bytes: tempfile.Bytes{Dir: c.opts.Dir}}
	for _, k := range order {
		sorted.Add(c.photos.At(int(k.photo)))
	}
	return sorted
}

func (c *Checker) name(r photoRecord) string { return c.names.name(c.files.At(int(r.file)).name) }

// names keeps names one after the other, and what stands before them in their
// paths once.
type names struct {
	tempfile.Bytes
	prefixes labels
}

// nameRef is where a name lies.
type nameRef int64

// add keeps a path and the name that mostly ends it.
func (n *names) add(path, name string) nameRef {
	prefix, ok := strings.CutSuffix(path, filepath.FromSlash(name))
	entry := name
	number := uint16(0)
	if ok {
		number, ok = n.prefixes.number(prefix)
	}
	if !ok { // nothing in common, or too many folders
		entry = name + "\x00" + path
	}
	b := append(make([]byte, 0, 256), byte(len(entry)), byte(len(entry)>>8), byte(number), byte(number>>8))
	return nameRef(n.Bytes.Add(append(b, entry...)))
}

// read returns the entry at ref and the index of its prefix.
func (n *names) read(ref nameRef) (entry string, prefix uint16) {
	var head [256]byte
	got, err := n.Bytes.Read(head[:], int64(ref))
	if err != nil || got < 4 {
		return "", 0
	}
	length, prefix := int(head[0])|int(head[1])<<8, uint16(head[2])|uint16(head[3])<<8
	if 4+length <= got {
		return string(head[4 : 4+length]), prefix
	}
	long := make([]byte, length)
	got, _ = n.Bytes.Read(long, int64(ref)+4)
	return string(long[:got]), prefix
}

func (n *names) name(ref nameRef) string {
	entry, _ := n.read(ref)
	name, _, _ := strings.Cut(entry, "\x00")
	return name
}

func (n *names) path(ref nameRef) string {
	entry, prefix := n.read(ref)
	if _, path, whole := strings.Cut(entry, "\x00"); whole {
		return path
	}
	return n.prefixes.text(prefix) + filepath.FromSlash(entry)
}

// labels numbers texts, of which there are few.
type labels struct {
	texts   []string
	numbers map[string]uint16
}

// number returns the number of a text; false when there are too many.
func (l *labels) number(text string) (uint16, bool) {
	if n, known := l.numbers[text]; known {
		return n, true
	}
	if len(l.texts) > math.MaxUint16 {
		return 0, false
	}
	if l.numbers == nil {
		l.numbers = map[string]uint16{}
	}
	n := uint16(len(l.texts))
	l.texts, l.numbers[strings.Clone(text)] = append(l.texts, strings.Clone(text)), n
	return n, true
}

// add is number for texts that may as well be taken for the first one when
// there are too many.
func (l *labels) add(text string) uint16 {
	n, _ := l.number(text)
	return n
}

func (l *labels) text(n uint16) string { return l.texts[n] }
