package track

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/client/geodesic"
)

// grid flies strips of photos to and fro, spacing metres apart; without leaves
// some out.
func grid(lon float64, strips, photos int, without func(strip, photo int) bool) []Photo {
	east, north := geodesic.Degree(50)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var list []Photo
	for s := range strips {
		for p := range photos {
			along := p
			if s%2 == 1 {
				along = photos - 1 - p
			}
			at = at.Add(2 * time.Second)
			if without != nil && without(s, along) {
				continue
			}
			list = append(list, Photo{Name: fmt.Sprintf("P%02d_%02d.JPG", s, along), Lon: lon + float64(s)*30/east, Lat: 50 + float64(along)*12/north, Taken: at})
		}
		at = at.Add(6 * time.Second)
	}
	return list
}

func TestAWholeSurveyHasNoGaps(t *testing.T) {
	for _, lon := range []float64{8, 179.999, -180} {
		lines, gaps := Find(grid(lon, 8, 15, nil))
		if len(lines) != 1 || len(lines[0]) != 120 || len(gaps) != 0 {
			t.Errorf("at %v: %d lines, gaps %v", lon, len(lines), gaps)
		}
	}
}

func TestMissingPhotosAreFound(t *testing.T) {
	_, gaps := Find(grid(8, 6, 15, func(s, p int) bool { return s == 2 && (p == 6 || p == 7) }))
	if len(gaps) != 1 || !strings.Contains(gaps[0].Message, "about 2 photos are missing between P02_05.JPG and P02_08.JPG: they are 36 m apart, the others 12 m") {
		t.Fatalf("gaps: %+v", gaps)
	}
}

func TestAMissingStripIsFound(t *testing.T) {
	photos := grid(8, 7, 15, func(s, p int) bool { return s == 3 })
	_, gaps := Find(photos)
	if len(gaps) != 1 || !strings.Contains(gaps[0].Message, "a strip seems to be missing") || !strings.Contains(gaps[0].Message, "60 m apart, the others 30 m") {
		t.Fatalf("gaps: %+v", gaps)
	}
	east, _ := geodesic.Degree(50)
	if where := (gaps[0].From[0] - 8) * east; where < 85 || where > 95 {
		t.Errorf("the strip is shown %.0f m east of the first, want 90", where)
	}
}

func TestALandingEndsALine(t *testing.T) {
	photos := grid(8, 4, 10, nil)
	for i := range photos[20:] {
		photos[20+i].Taken = photos[20+i].Taken.Add(5 * time.Minute)
	}
	photos[3].Taken = time.Time{}
	lines, _ := Find(photos)
	if len(lines) != 2 || len(lines[0]) != 19 || len(lines[1]) != 20 {
		t.Errorf("lines: %v", lines)
	}
}

func TestFewPhotosHaveNoGaps(t *testing.T) {
	for n := range 5 {
		if _, gaps := Find(grid(8, 1, n, nil)); len(gaps) != 0 {
			t.Errorf("%d photos: %v", n, gaps)
		}
	}
}
