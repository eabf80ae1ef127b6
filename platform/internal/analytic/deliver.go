package analytic

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"transect/client/formats/imagery"
)

// deliver writes the deliverables of the report.
func (e edition) deliver(o *Order, frames []frame) ([]Deliverable, error) {
	inventory, err := e.inventoryFiles(frames)
	if err != nil {
		return nil, err
	}
	var photos []imagery.Photo
	for _, f := range frames {
		photos = append(photos, f.photo)
	}
	whole := area(imagery.Footprint(photos))
	summary := map[string]any{"images": len(frames)}
	deliverables := []Deliverable{{Name: e.inventory, Title: "Flight inventory", Type: "file", Geometry: whole,
		Properties: summary, Files: inventory}}
	vectors := map[string][]feature{"footprints": footprintsOf(frames)}
	if e.track && o.Wanted("track") {
		vectors["track"] = trackOf(frames)
	}
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		text, err := json.Marshal(map[string]any{"type": "FeatureCollection", "features": vectors[name]})
		if err != nil {
			return nil, err
		}
		deliverables = append(deliverables, Deliverable{Name: name, Title: "Flight " + name, Type: "vector", Geometry: whole,
			Properties: summary,
			Files:      []File{{Component: "vector", Filename: name + ".geojson", Content: text}}})
	}
	return deliverables, nil
}

// cell is one value of the inventory, nil when unknown.
type cell struct {
	name  string
	value any
}

// cells returns an image's row of the inventory. Altitudes are in metres, angles in degrees.
func (e edition) cells(f frame) []cell {
	p := f.photo
	altitude := "altitude"
	if e.metric {
		altitude = "altitude_m"
	}
	var latitude, longitude, acquired any
	if p.HasPosition {
		latitude, longitude = p.Latitude, p.Longitude
	}
	if !p.Acquired.IsZero() {
		acquired = p.Acquired.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	list := []cell{
		{"dataset", f.Dataset}, {"name", f.Name}, {"filename", f.Filename}, {"size", f.Size}, {"checksum", f.Checksum},
		{"width", orNil(p.Width)}, {"height", orNil(p.Height)}, {"latitude", latitude}, {"longitude", longitude},
		{altitude, optional(p.Altitude)}, {"acquisition_date", acquired}, {"make", orNil(p.Make)}, {"model", orNil(p.Model)},
	}
	if e.track {
		list = append(list, cell{"yaw", optional(p.Yaw)}, cell{"pitch", optional(p.Pitch)}, cell{"roll", optional(p.Roll)})
	}
	return append(list, cell{"problem", orNil(f.problem)})
}

func orNil[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func optional(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

// inventoryFiles returns the inventory as JSON and as CSV.
func (e edition) inventoryFiles(frames []frame) ([]File, error) {
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	var header []string
	for _, c := range e.cells(frame{}) {
		header = append(header, c.name)
	}
	w.Write(header)
	list := make([]map[string]any, len(frames))
	for i, f := range frames {
		list[i] = map[string]any{}
		var row []string
		for _, c := range e.cells(f) {
			list[i][c.name] = c.value
			text := ""
			if c.value != nil {
				text = fmt.Sprint(c.value)
			}
			row = append(row, text)
		}
		w.Write(row)
	}
	w.Flush()
	text, err := json.MarshalIndent(map[string]any{"version": e.version, "images": list}, "", "  ")
	return []File{
		{Component: "json", Filename: e.inventory + ".json", Content: append(text, '\n')},
		{Component: "csv", Filename: e.inventory + ".csv", Content: table.Bytes()},
	}, errors.Join(err, w.Error())
}

// feature is a GeoJSON feature (RFC 7946).
type feature struct {
	Type       string         `json:"type"`
	Geometry   map[string]any `json:"geometry"`
	Properties map[string]any `json:"properties"`
}

// footprintsOf returns the ground that each image covers.
func footprintsOf(frames []frame) []feature {
	features := []feature{}
	for _, f := range frames {
		if ground := area(imagery.Footprint([]imagery.Photo{f.photo})); ground != nil {
			features = append(features, feature{"Feature", ground,
				map[string]any{"dataset": f.Dataset, "filename": f.Filename}})
		}
	}
	return features
}

// trackOf returns the line through the positions, in the order of time.
func trackOf(frames []frame) []feature {
	positioned := slices.DeleteFunc(slices.Clone(frames), func(f frame) bool { return !f.photo.HasPosition })
	slices.SortStableFunc(positioned, func(a, b frame) int { return a.photo.Acquired.Compare(b.photo.Acquired) })
	if len(positioned) < 2 {
		return []feature{}
	}
	line := make([][2]float64, len(positioned))
	for i, f := range positioned {
		line[i] = [2]float64{f.photo.Longitude, f.photo.Latitude}
	}
	properties := map[string]any{"images": len(positioned)}
	if first := positioned[0].photo.Acquired; !first.IsZero() {
		properties["duration_s"] = positioned[len(positioned)-1].photo.Acquired.Sub(first).Seconds()
	}
	return []feature{{"Feature", map[string]any{"type": "LineString", "coordinates": line}, properties}}
}

// area returns a ring as a GeoJSON geometry, or nil when there is none.
func area(ring [][2]float64) map[string]any {
	if ring == nil {
		return nil
	}
	return map[string]any{"type": "Polygon", "coordinates": []any{ring}}
}
