package web

import (
	"fmt"
	"math"
	"strings"

	"transect/client/geodesic"
)

// plan is a drawing of a survey for print, as SVG paths in its own pixels.
type plan struct {
	Width, Height int
	Photos        [4]string // by state
	Lines, Gaps   string
	Ground        string
	Grid          string
	Bar           string
	BarText       string
	BarX          int
}

const (
	planWidth, planHeight = 1000, 620
	planMargin            = 40
	maxGrounds            = 600
)

// planOf draws photos and what is known of them; nil without a position.
func planOf(pages []photoPage, result *surveyResult) *plan {
	var lons, lats []float64
	var states []int
	var grounds [][]int
	for _, p := range pages {
		for i := range p.ID {
			lons, lats, states = append(lons, p.At[2*i]), append(lats, p.At[2*i+1]), append(states, p.State[i])
			ring := []int(nil)
			if i < len(p.Ground) {
				ring, _ = p.Ground[i].([]int)
			}
			grounds = append(grounds, ring)
		}
	}
	if len(lons) == 0 {
		return nil
	}
	// Metres from the first photo, which is enough for a survey on paper.
	east, north := geodesic.Degree(lats[0])
	to := func(lon, lat float64) (x, y float64) {
		return math.Remainder(lon-lons[0], 360) * east, (lat - lats[0]) * north
	}
	west, eastEnd, south, northEnd := 0.0, 0.0, 0.0, 0.0
	for i := range lons {
		x, y := to(lons[i], lats[i])
		west, eastEnd, south, northEnd = min(west, x), max(eastEnd, x), min(south, y), max(northEnd, y)
		if len(lons) <= maxGrounds {
			for k := 0; k+1 < len(grounds[i]); k += 2 {
				dx, dy := x+float64(grounds[i][k])*1e-7*east, y+float64(grounds[i][k+1])*1e-7*north
				west, eastEnd, south, northEnd = min(west, dx), max(eastEnd, dx), min(south, dy), max(northEnd, dy)
			}
		}
	}
	scale := min((planWidth-2*planMargin)/max(eastEnd-west, 20), (planHeight-2*planMargin)/max(northEnd-south, 20))
	place := func(lon, lat float64) (float64, float64) {
		x, y := to(lon, lat)
		return planWidth/2 + (x-(west+eastEnd)/2)*scale, planHeight/2 - (y-(south+northEnd)/2)*scale
	}
	p := &plan{Width: planWidth, Height: planHeight}
	var dots [4]strings.Builder
	for i := range lons {
		x, y := place(lons[i], lats[i])
		r := 3.2
		if states[i] >= photoWarning {
			r = 5
		}
		fmt.Fprintf(&dots[states[i]], "M%.1f %.1fm-%.1f 0a%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 -%.1f 0", x, y, r, r, r,
			2*r, r, r, 2*r)
	}
	for i := range dots {
		p.Photos[i] = dots[i].String()
	}
	var lines, gaps, ground, grid strings.Builder
	for _, line := range result.Lines {
		for k, i := range line {
			if i < len(lons) {
				x, y := place(lons[i], lats[i])
				fmt.Fprintf(&lines, "%c%.1f %.1f", "ML"[min(k, 1)], x, y)
			}
		}
	}
	for _, g := range result.Gaps {
		x, y := place(g.At[0], g.At[1])
		fmt.Fprintf(&gaps, "M%.1f %.1f", x, y)
		x, y = place(g.At[2], g.At[3])
		fmt.Fprintf(&gaps, "L%.1f %.1f", x, y)
	}
	if len(lons) <= maxGrounds {
		for i, ring := range grounds {
			for k := 0; k+1 < len(ring); k += 2 {
				x, y := place(lons[i]+float64(ring[k])*1e-7, lats[i]+float64(ring[k+1])*1e-7)
				fmt.Fprintf(&ground, "%c%.1f %.1f", "ML"[min(k, 1)], x, y)
			}
			if len(ring) > 0 {
				ground.WriteByte('Z')
			}
		}
	}
	step := roundStep(150 / scale)
	for x := math.Ceil((planWidth / 2 * -1 / scale) / step); x*step < planWidth/2/scale; x++ {
		fmt.Fprintf(&grid, "M%.1f 0V%d", planWidth/2+x*step*scale, planHeight)
	}
	for y := math.Ceil((planHeight / 2 * -1 / scale) / step); y*step < planHeight/2/scale; y++ {
		fmt.Fprintf(&grid, "M0 %.1fH%d", planHeight/2+y*step*scale, planWidth)
	}
	p.Lines, p.Gaps, p.Ground, p.Grid = lines.String(), gaps.String(), ground.String(), grid.String()
	length := step * scale
	p.Bar = fmt.Sprintf("M20 %d v6 h%.1f v-6", planHeight-22, length)
	p.BarText, p.BarX = metresText(step), 20+int(length/2)
	return p
}

// roundStep is the largest of 1, 2, 5, 10 … that is at most metres.
func roundStep(metres float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(metres)))
	for _, n := range []float64{5, 2} {
		if n*power <= metres {
			return n * power
		}
	}
	return power
}

func metresText(metres float64) string {
	if metres >= 1000 {
		return fmt.Sprintf("%g km", metres/1000)
	}
	return fmt.Sprintf("%g m", metres)
}
