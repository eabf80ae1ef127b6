package analytic

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"

	"transect/client/imagery"
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
	made := []Deliverable{{Name: e.inventory, Title: "Flight inventory", Type: "file", Geometry: whole, Properties: summary, Files: inventory}}

	footprints, err := collection(footprintsOf(frames))
	if err != nil {
		return nil, err
	}
	made = append(made, Deliverable{Name: "footprints", Title: "Flight footprints", Type: "vector", Geometry: whole, Properties: summary,
		Files: []File{{Component: "vector", Filename: "footprints.geojson", Content: footprints}}})
	if e.track && o.Wanted("track") {
		track, err := collection(trackOf(frames))
		if err != nil {
			return nil, err
		}
		made = append(made, Deliverable{Name: "track", Title: "Flight track", Type: "vector", Geometry: whole, Properties: summary,
			Files: []File{{Component: "vector", Filename: "track.geojson", Content: track}}})
	}
	return made, nil
}

// column is one column of the inventory.
type column struct {
	name  string
	value func(frame) any // nil when unknown
}

// columns of the inventory. Altitudes are in metres, angles in degrees.
func (e edition) columns() []column {
	altitude := "altitude"
	if e.metric {
		altitude = "altitude_m"
	}
	list := []column{
		{"dataset", func(f frame) any { return f.Dataset }},
		{"name", func(f frame) any { return f.Name }},
		{"filename", func(f frame) any { return f.Filename }},
		{"size", func(f frame) any { return f.Size }},
		{"checksum", func(f frame) any { return f.Checksum }},
		{"width", func(f frame) any { return known(f.photo.Width) }},
		{"height", func(f frame) any { return known(f.photo.Height) }},
		{"latitude", func(f frame) any { return positioned(f, f.photo.Latitude) }},
		{"longitude", func(f frame) any { return positioned(f, f.photo.Longitude) }},
		{altitude, func(f frame) any { return optional(f.photo.Altitude) }},
		{"acquisition_date", func(f frame) any {
			if f.photo.Acquired.IsZero() {
				return nil
			}
			return f.photo.Acquired.UTC().Format("2006-01-02T15:04:05.000Z")
		}},
		{"make", func(f frame) any { return known(f.photo.Make) }},
		{"model", func(f frame) any { return known(f.photo.Model) }},
	}
	if e.track {
		list = append(list,
			column{"yaw", func(f frame) any { return optional(f.photo.Yaw) }},
			column{"pitch", func(f frame) any { return optional(f.photo.Pitch) }},
			column{"roll", func(f frame) any { return optional(f.photo.Roll) }})
	}
	return append(list, column{"problem", func(f frame) any { return known(f.problem) }})
}

func known[T comparable](v T) any {
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

func positioned(f frame, v float64) any {
	if !f.photo.HasPosition {
		return nil
	}
	return v
}

// inventoryFiles writes the inventory as JSON and as CSV.
func (e edition) inventoryFiles(frames []frame) ([]File, error) {
	columns := e.columns()
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	if err := w.Write(header); err != nil {
		return nil, err
	}
	list := make([]map[string]any, len(frames))
	for i, f := range frames {
		list[i] = map[string]any{}
		row := make([]string, len(columns))
		for j, c := range columns {
			value := c.value(f)
			list[i][c.name] = value
			if value != nil {
				row[j] = fmt.Sprint(value)
			}
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	text, err := json.MarshalIndent(map[string]any{"version": e.version, "images": list}, "", "  ")
	return []File{
		{Component: "json", Filename: e.inventory + ".json", Content: append(text, '\n')},
		{Component: "csv", Filename: e.inventory + ".csv", Content: table.Bytes()},
	}, err
}

// feature is a GeoJSON feature (RFC 7946).
type feature struct {
	Type       string         `json:"type"`
	Geometry   map[string]any `json:"geometry"`
	Properties map[string]any `json:"properties"`
}

// footprintsOf returns the ground that each image covers.
func footprintsOf(frames []frame) []feature {
	var features []feature
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
	placed := slices.DeleteFunc(slices.Clone(frames), func(f frame) bool { return !f.photo.HasPosition })
	slices.SortStableFunc(placed, func(a, b frame) int { return a.photo.Acquired.Compare(b.photo.Acquired) })
	if len(placed) < 2 {
		return nil
	}
	line := make([][2]float64, len(placed))
	for i, f := range placed {
		line[i] = [2]float64{f.photo.Longitude, f.photo.Latitude}
	}
	properties := map[string]any{"images": len(placed)}
	if first := placed[0].photo.Acquired; !first.IsZero() {
		properties["duration_s"] = placed[len(placed)-1].photo.Acquired.Sub(first).Seconds()
	}
	return []feature{{"Feature", map[string]any{"type": "LineString", "coordinates": line}, properties}}
}

func collection(features []feature) ([]byte, error) {
	if features == nil {
		features = []feature{} // an empty list, not null
	}
	return json.Marshal(map[string]any{"type": "FeatureCollection", "features": features})
}

// area returns a ring as a GeoJSON geometry, or nil when there is none.
func area(ring [][2]float64) map[string]any {
	if ring == nil {
		return nil
	}
	return map[string]any{"type": "Polygon", "coordinates": []any{ring}}
}
