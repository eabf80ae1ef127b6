package preflight

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"transect/client/formats/imagery"
	"transect/client/internal/tempfile"
	"transect/client/scan"
)

// fileRecord is the record kept of every file, besides its names.
type fileRecord struct {
	names int64 // offset of its names; complemented unless it is the main file of an item
	size  int64
}

// part reports whether the file is not the main file of its item.
func (f fileRecord) part() bool { return f.names < 0 }

// photoRecord is the additional record of a photo: 64 bytes.
type photoRecord struct {
	taken               int64 // nanoseconds since 1970, noTime when unknown
	latitude, longitude float64
	capture             uint64 // hash of the name shared by photos of one moment, 0 for none
	file                uint32 // index of its fileRecord
	height, focal       float32
	yaw, pitch          float32
	wide, high          uint16
	camera, band        uint16
	positioned          bool
	oriented            bool
}

const noTime = math.MinInt64

// addPhoto records the data for the checks of the survey as a whole.
func (c *Checker) addPhoto(name string, file int, p imagery.Photo) {
	r := photoRecord{
		taken: noTime, latitude: p.Latitude, longitude: p.Longitude, positioned: p.HasPosition,
		file: uint32(file), focal: float32(p.Focal35()),
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

// cameraOf returns a camera's name; many models begin with their maker's name.
func cameraOf(p imagery.Photo) string {
	if len(p.Model) >= len(p.Make) && strings.EqualFold(p.Model[:len(p.Make)], p.Make) {
		return p.Model
	}
	return strings.TrimSpace(p.Make + " " + p.Model)
}

// shape returns the photo with the data imagery needs to compute its footprint.
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

// byTime returns the photos in order of camera, time and name, starting with those without a time.
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

// addFile records the name and path of a file; part is true except for the main file of an item.
func (c *Checker) addFile(kind string, f scan.File, part bool) {
	names := c.names.Add([]byte(f.Name + "\x00" + f.Path + "\x00" + kind))
	if part {
		names = ^names
	}
	c.files.Add(fileRecord{names, f.Size})
}

// file returns the name and path of a file and the kind of its item; "" when unreadable.
func (c *Checker) file(i int) (name, path, kind string) {
	f := c.files.At(i)
	if f.part() {
		f.names = ^f.names
	}
	record, _ := c.names.Get(f.names)
	name, path, _ = strings.Cut(string(record), "\x00")
	path, kind, _ = strings.Cut(path, "\x00")
	return name, path, kind
}

// name returns the name of a photo's file.
func (c *Checker) name(r photoRecord) string {
	name, _, _ := c.file(int(r.file))
	return name
}

// interner numbers texts that recur often.
type interner struct {
	texts   []string
	numbers map[string]uint16
}

// add returns the number of a text. Beyond 65,536 texts, new ones get the number of the first.
func (l *interner) add(text string) uint16 {
	if n, ok := l.numbers[text]; ok || len(l.texts) > math.MaxUint16 {
		return n
	}
	if l.numbers == nil {
		l.numbers = map[string]uint16{}
	}
	n := uint16(len(l.texts))
	l.texts, l.numbers[strings.Clone(text)] = append(l.texts, strings.Clone(text)), n
	return n
}

func (l *interner) text(n uint16) string { return l.texts[n] }
