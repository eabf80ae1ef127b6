package preflight

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"transect/client/formats/imagery"
)

// bandNames map short names of bands to full ones.
var bandNames = map[string]string{
	"g": "green", "gre": "green", "r": "red", "re": "rededge", "reg": "rededge", "b": "blue", "blu": "blue",
	"nearinfrared": "nir", "nearir": "nir", "lwir": "thermal", "panchro": "panchromatic", "pan": "panchromatic",
}

// rigs are the bands of multispectral cameras that write one file per band, by a part of the model
// name in lower case.
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
	// bandSuffix matches Sequoia's IMG_161122_163234_0000_NIR.TIF and Mavic 3 Multispectral's
	// DJI_20230101120000_0001_MS_NIR.TIF.
	bandSuffix = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(.*?)(?:_MS)?_(GRE|RED|REG|NIR|G|R|RE|BLU|B)\.(?:tiff?|dng)$`)
	})
	// rigNumber matches RedEdge's IMG_0000_1.tif.
	rigNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(IMG_\d+)_(\d)\.tiff?$`) })
	// phantomNumber matches DJI_0011.TIF of the Phantom 4 Multispectral: the last digit is the
	// band, 0 the colour photo.
	phantomNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(DJI_\d+)([1-5])\.tiff?$`) })
)

// captureOf returns the name shared by the files of one capture, and the band of a photo; ok is
// false for photos of more than one band.
func captureOf(name string, p imagery.Photo) (capture, band string, ok bool) {
	base := path.Base(name)
	suffix := bandSuffix().FindStringSubmatch(base)
	switch {
	case strings.Contains(p.Band, ","): // colour photos name three
		return "", "", false
	case p.Band != "":
		band = normalBand(p.Band)
	case suffix == nil || p.Format != imagery.TIFF:
		return "", "", false
	default:
		band = normalBand(suffix[2])
	}
	if p.CaptureID != "" {
		return p.CaptureID, band, true
	}
	rig, phantom := rigNumber().FindStringSubmatch(base), phantomNumber().FindStringSubmatch(base)
	switch {
	case suffix != nil:
		base = suffix[1]
	case rig != nil:
		base = rig[1]
	case phantom != nil && strings.Contains(strings.ToLower(p.Model), "fc6360"):
		base = phantom[1]
	default:
		return "", "", false
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

// checkBands finds captures without a band that the camera is known to have, or that more than half
// of its captures have.
func (s *survey) checkBands() {
	captures := s.captures()
	total, having := map[uint16]int{}, map[uint16]map[uint16]int{} // by camera: captures in total, and with each band
	for _, c := range captures {
		if total[c.camera]++; having[c.camera] == nil {
			having[c.camera] = map[uint16]int{}
		}
		for _, b := range c.bands {
			having[c.camera][b]++
		}
	}
	expected := map[uint16][]string{}
	for camera, count := range having {
		bands := slices.Clone(knownBands(s.cameras.text(camera)))
		for b, n := range count {
			if 2*n > total[camera] {
				bands = append(bands, s.bands.text(b))
			}
		}
		slices.Sort(bands)
		expected[camera] = slices.Compact(bands)
	}
	for _, c := range captures {
		lacks := slices.DeleteFunc(slices.Clone(expected[c.camera]), func(band string) bool {
			return slices.ContainsFunc(c.bands, func(b uint16) bool { return s.bands.text(b) == band })
		})
		if len(lacks) == 0 {
			continue
		}
		what := "the band " + lacks[0] + " is"
		if len(lacks) > 1 {
			what = "the bands " + strings.Join(lacks, ", ") + " are"
		}
		s.problems.add(newProblem("missing-band", Error, s.name(s.photos.At(c.first)),
			fmt.Sprintf("%s missing from its capture, which has %d", what, len(c.bands)),
			"copy the missing files from the card, or leave the capture out"))
	}
}

// capture is the set of photos of a multispectral camera at one moment.
type capture struct {
	first  int // its first photo
	camera uint16
	bands  []uint16
}

func (s *survey) captures() (list []*capture) {
	byID := map[uint64]*capture{}
	for i, p := range s.photos.All {
		c := byID[p.capture]
		if p.capture == 0 {
			continue
		}
		if c == nil {
			c = &capture{first: i, camera: p.camera}
			byID[p.capture] = c
			list = append(list, c)
		}
		if !slices.Contains(c.bands, p.band) {
			c.bands = append(c.bands, p.band)
		}
	}
	return list
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
