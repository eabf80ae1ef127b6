package preflight

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"transect/client/imagery"
)

// bandNames brings the names of bands to one form.
var bandNames = map[string]string{
	"g": "green", "gre": "green", "r": "red", "re": "rededge", "reg": "rededge", "b": "blue", "blu": "blue",
	"nearinfrared": "nir", "nearir": "nir", "lwir": "thermal", "panchro": "panchromatic", "pan": "panchromatic",
}

// rigs are the bands of multispectral cameras that write one file for each, by
// a part of the model's name in lower case.
var rigs = []struct {
	model string
	bands []string
}{
	{"sequoia", []string{"green", "red", "rededge", "nir"}},
	{"rededge", []string{"blue", "green", "red", "nir", "rededge"}},
	{"altum", []string{"blue", "green", "red", "nir", "rededge"}},
	{"fc6360", []string{"blue", "green", "red", "rededge", "nir"}}, // Phantom 4 Multispectral
	{"m3m", []string{"green", "red", "rededge", "nir"}},
}

var (
	// sequoiaName is IMG_161122_163234_0000_NIR.TIF; a capture of the Mavic 3
	// Multispectral is DJI_20230101120000_0001_MS_NIR.TIF.
	bandSuffix = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(.*?)(?:_MS)?_(GRE|RED|REG|NIR|G|R|RE|BLU|B)\.(?:tiff?|dng)$`)
	})
	// rigNumber is RedEdge's IMG_0000_1.tif.
	rigNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(IMG_\d+)_(\d)\.tiff?$`) })
	// phantomNumber is DJI_0011.TIF of the Phantom 4 Multispectral: the last
	// digit is the band, 0 the colour photo.
	phantomNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(DJI_\d+)([1-5])\.tiff?$`) })
)

// captureOf tells what the files of one moment share and which band a photo
// is; ok is false for photos that are no single band.
func captureOf(name string, p imagery.Photo) (capture, band string, ok bool) {
	base := path.Base(name)
	band = normalBand(p.Band)
	if p.Band == "" || strings.Contains(p.Band, ",") { // colour photos name three
		switch m := bandSuffix().FindStringSubmatch(base); {
		case strings.Contains(p.Band, ","), m == nil, p.Format != imagery.TIFF:
			return "", "", false
		default:
			band = normalBand(m[2])
		}
	}
	if p.CaptureID != "" {
		return p.CaptureID, band, true
	}
	switch m := bandSuffix().FindStringSubmatch(base); {
	case m != nil:
		base = m[1]
	default:
		if m := rigNumber().FindStringSubmatch(base); m != nil {
			base = m[1]
		} else if m := phantomNumber().FindStringSubmatch(base); m != nil && strings.Contains(strings.ToLower(p.Model), "fc6360") {
			base = m[1]
		} else {
			return "", "", false
		}
	}
	return path.Join(path.Dir(name), base), band, true
}

func normalBand(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '_' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if full, short := bandNames[plain]; short {
		return full
	}
	return plain
}

// checkBands finds captures that lack a band: one that the rig is known for,
// or that more than half of its captures have.
func (s *survey) checkBands() {
	type moment struct {
		capture uint64
		photo   uint32
	}
	var all []moment
	for i, p := range s.photos.All {
		if p.capture != 0 {
			all = append(all, moment{p.capture, uint32(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		switch {
		case a.capture < b.capture:
			return -1
		case a.capture > b.capture:
			return 1
		}
		return 0
	})
	type rig struct {
		captures int
		having   map[uint16]int
	}
	found := map[uint16]*rig{}
	each := func(visit func(first photoRecord, has map[uint16]bool)) {
		for start := 0; start < len(all); {
			has := map[uint16]bool{}
			end := start
			for ; end < len(all) && all[end].capture == all[start].capture; end++ {
				has[s.photos.At(int(all[end].photo)).band] = true
			}
			visit(s.photos.At(int(all[start].photo)), has)
			start = end
		}
	}
	each(func(first photoRecord, has map[uint16]bool) {
		r := found[first.camera]
		if r == nil {
			r = &rig{having: map[uint16]int{}}
			found[first.camera] = r
		}
		r.captures++
		for b := range has {
			r.having[b]++
		}
	})
	expected := map[uint16][]uint16{}
	for camera, r := range found {
		want := map[uint16]bool{}
		for b, n := range r.having {
			if 2*n > r.captures {
				want[b] = true
			}
		}
		for _, b := range knownBands(s.cameras.text(camera)) {
			want[s.bands.add(b)] = true
		}
		expected[camera] = slices.Sorted(maps.Keys(want))
	}
	each(func(first photoRecord, has map[uint16]bool) {
		var lacks []string
		for _, b := range expected[first.camera] {
			if !has[b] {
				lacks = append(lacks, s.bands.text(b))
			}
		}
		if len(lacks) == 0 {
			return
		}
		slices.Sort(lacks)
		what := "the band " + lacks[0] + " is"
		if len(lacks) > 1 {
			what = "the bands " + strings.Join(lacks, ", ") + " are"
		}
		s.problems.add(Problem{"missing-band", Error, s.name(first),
			fmt.Sprintf("%s missing from its capture, which has %d", what, len(has)),
			"copy the missing files from the card, or leave the capture out"})
	})
}

func knownBands(camera string) []string {
	camera = strings.ToLower(camera)
	for _, r := range rigs {
		if strings.Contains(camera, r.model) {
			return r.bands
		}
	}
	return nil
}
