package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/paulmach/orb"
	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/geodesic"
	"transect/client/geojson"
	"transect/client/human"
	"transect/client/preflight"
)

// shape is an outline, a line or a point on the map.
type shape struct {
	Kind       string          `json:"kind"`
	Of         string          `json:"of"` // kind of record: project, mission, raster …
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Geometry   json.RawMessage `json:"geometry"`
	Facts      [][2]string     `json:"facts,omitempty"`
	Properties json.RawMessage `json:"properties,omitempty"`
	Note       string          `json:"note,omitempty"`
	Links      [][2]string     `json:"links,omitempty"` // text and address on this page
	Preview    string          `json:"preview,omitempty"`
	Tiles      string          `json:"tiles,omitempty"` // template of an address on this page
	Color      string          `json:"color,omitempty"`
	Fill       string          `json:"fill,omitempty"`
	Opacity    *float64        `json:"opacity,omitempty"`
	Width      float64         `json:"width,omitempty"`
	Quiet      bool            `json:"quiet,omitempty"` // drawn only when selected: its features are shown
}

// Limits of the shapes of each kind on a map.
const (
	maxMapProjects = 500
	maxMapMissions = 10_000
	maxMapDatasets = 2000
	maxDrawings    = 5000
)

// target is the subject of a map: one mission, one project, or everything.
type target struct{ Project, Mission string }

func targetOf(values url.Values) target {
	return target{values.Get("project"), values.Get("mission")}
}

// filter returns a filter for the datasets of the target.
func (t target) filter() client.Filter {
	switch {
	case t.Mission != "":
		return equals("mission", t.Mission)
	case t.Project != "":
		return equals("project", t.Project)
	}
	return client.Filter{}
}

// values returns the target as parameters of an address, query the same as text.
func (t target) values() url.Values {
	values := url.Values{}
	if t.Project != "" {
		values.Set("project", t.Project)
	}
	if t.Mission != "" {
		values.Set("mission", t.Mission)
	}
	return values
}

func (t target) query() string {
	if t == (target{}) {
		return ""
	}
	return "?" + t.values().Encode()
}

// cutOff is sent in place of the rest of a layer that is too long; it names what is shown.
type cutOff string

// cutAt returns what is cut off when a list has the most records that are shown.
func cutAt(n, most int, what string) []cutOff {
	if n < most {
		return nil
	}
	return []cutOff{cutOff(human.Number(most) + " " + what)}
}

// shapesOf sends everything except the photos.
func (s *Server) shapesOf(ctx context.Context, t target, send func(any) error) error {
	for _, part := range []func(context.Context, target, func(any) error) error{s.missionShapes, s.datasetShapes,
		s.annotationShapes} {
		if err := part(ctx, t, send); err != nil {
			return err
		}
	}
	return nil
}

// missionShapes sends the projects and missions.
func (s *Server) missionShapes(ctx context.Context, t target, send func(any) error) error {
	projects, err := s.projectsOf(ctx, t)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, p := range projects {
		names[p.ID] = p.Name
		geometry := firstGeometry(p.RealBbox, p.Geometry, pointOf(p.Location))
		if geometry == nil {
			continue
		}
		box, ok := boxOf(geometry)
		if !ok || t != (target{}) {
			continue // its missions are shown
		}
		geometry = geojson.Text(box.Center()) // with many projects only their positions
		if err := send(shape{Kind: "shape", Of: "project", ID: p.ID, Name: cmp.Or(p.Name, p.ID), Geometry: geometry,
			Facts: rowsOf("Place", p.PlaceName, "Missions", human.Number(len(p.Missions))),
			Links: [][2]string{{"Show this project alone", "/map?project=" + url.QueryEscape(p.ID)},
				{"Its datasets", "/datasets?project=" + url.QueryEscape(p.ID)}}}); err != nil {
			return err
		}
	}
	missions, err := s.missionsOf(ctx, t)
	if err != nil {
		return err
	}
	for _, cut := range append(cutAt(len(projects), maxMapProjects, "projects"),
		cutAt(len(missions), maxMapMissions, "missions")...) {
		if err := send(cut); err != nil {
			return err
		}
	}
	for _, m := range missions {
		geometry := firstGeometry(m.Geometry, m.RealBbox)
		if geometry == nil {
			continue
		}
		area := ""
		if ring := preflight.RingOf(string(geometry)); len(ring) > 3 {
			area = surface(geodesic.Area(ring))
		}
		if err := send(shape{Kind: "shape", Of: "mission", ID: m.ID, Name: cmp.Or(m.Name, m.ID), Geometry: geometry,
			Facts: rowsOf("Project", names[m.Project], "Flown", day(m.SurveyDate), "Area", area),
			Links: [][2]string{{"Show this mission alone", "/map?mission=" + url.QueryEscape(m.ID)},
				{"Its datasets", "/datasets?mission=" + url.QueryEscape(m.ID)},
				{"Flight report", "/report?mission=" + url.QueryEscape(m.ID)}}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) projectsOf(ctx context.Context, t target) ([]client.Project, error) {
	if t.Project != "" {
		return s.Client.Projects.Describe(ctx, client.Refs{IDs: client.IDs{t.Project}})
	}
	if t.Mission != "" {
		return nil, nil
	}
	return some(s.Client.Projects.Search.All(ctx, client.Query{}), maxMapProjects)
}

func (s *Server) missionsOf(ctx context.Context, t target) ([]client.Mission, error) {
	if t.Mission != "" {
		return s.Client.Missions.Describe(ctx, client.Refs{IDs: client.IDs{t.Mission}})
	}
	return some(s.Client.Missions.Search.All(ctx, client.Query{Filter: t.filter()}), maxMapMissions)
}

// datasetShapes sends rasters, vectors, point clouds, meshes and located files.
func (s *Server) datasetShapes(ctx context.Context, t target, send func(any) error) error {
	n, limits := 0, newVectorLimits()
	filter := t.filter()
	filter["type"] = map[string]any{"$in": []any{"raster", "vector", "pcl", "mesh"}}
	for d, err := range s.Client.Datasets.Search.All(ctx, client.DatasetQuery{Query: client.Query{Filter: filter}}) {
		if err != nil {
			return err
		}
		if n++; n > maxMapDatasets {
			return send(cutOff(human.Number(maxMapDatasets) + " rasters, vectors, clouds and meshes"))
		}
		id := url.PathEscape(d.ID)
		one := shape{Kind: "shape", Of: d.Type, ID: d.ID, Name: cmp.Or(d.Name, d.ID), Geometry: d.Geometry,
			Preview: "/picture/" + id + "?kind=small&else=text",
			Facts:   rowsOf("Format", d.Format, "Created", day(d.CreationDate)),
			Links:   [][2]string{{"Open the dataset", "/datasets/" + id}}}
		delete(d.Properties, "transect") // the ingest's own metadata
		if len(d.Properties) > 0 {
			one.Properties, _ = json.Marshal(d.Properties)
		}
		if d.Type == "raster" && d.Tiles.Format != "" {
			one.Tiles = "/tiles/" + id + "/{z}/{x}/{y}"
		}
		if d.Ingestion.Status == "failed" {
			one.Note = "The platform could not read it: " + d.Ingestion.Error.Message
		}
		if d.Type == "vector" {
			if one.Quiet, err = s.vectorShapes(ctx, d, one, limits, send); err != nil {
				return err
			}
		}
		if firstGeometry(d.Geometry) != nil {
			if err := send(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// vectorShapes sends the features of a vector's collections or of its file, and reports whether it did.
func (s *Server) vectorShapes(ctx context.Context, d client.Dataset, one shape, limits *vectorLimits,
	send func(any) error) (shown bool, err error) {
	for _, c := range d.Components {
		if c.Collection.ID == "" {
			continue
		}
		features, err := some(s.Client.Features.Search.All(ctx, featuresOf(c.Collection.ID)), maxDrawings)
		if err != nil {
			return shown, err
		}
		for _, f := range features {
			if firstGeometry(f.Geometry) == nil {
				continue
			}
			properties := gjson.GetBytes(f.JSON(), "properties").Raw
			one := shape{Kind: "shape", Of: "feature", ID: f.ID, Name: cmp.Or(titleOf(properties), "Feature of "+d.Name),
				Geometry: f.Geometry, Links: one.Links}
			if properties != "" {
				one.Properties = json.RawMessage(properties)
			}
			if err := send(one); err != nil {
				return shown, err
			}
			shown = true
		}
	}
	if main, sidecars := pictureFiles(ctx, s.Client, d); main != nil {
		return limits.features(ctx, one, *main, sidecars, send)
	}
	return shown, nil
}

func featuresOf(collection string) client.Query {
	return client.Query{Filter: equals("collection", collection)}
}

// titleOf returns a property that names a feature.
func titleOf(properties string) string {
	for _, name := range []string{"name", "Name", "NAME", "title", "label", "name_long"} {
		if title := gjson.Get(properties, name); title.Type == gjson.String && title.Str != "" {
			return title.Str
		}
	}
	return ""
}

// annotationShapes sends the drawings in degrees.
func (s *Server) annotationShapes(ctx context.Context, t target, send func(any) error) error {
	filter := t.filter()
	annotations, err := some(s.Client.Annotations.Search.All(ctx,
		client.AnnotationQuery{Query: client.Query{Filter: filter}}), maxDrawings)
	if err != nil {
		return err
	}
	for _, cut := range cutAt(len(annotations), maxDrawings, "annotations") {
		if err := send(cut); err != nil {
			return err
		}
	}
	for _, a := range annotations {
		if a.Type != "" && a.Type != "2d" || firstGeometry(a.Geometry) == nil {
			continue
		}
		record := gjson.ParseBytes(a.JSON())
		one := shape{Kind: "shape", Of: "annotation", ID: a.ID, Name: cmp.Or(a.Name, "Annotation"), Geometry: a.Geometry,
			Note: record.Get("description").Str, Facts: rowsOf("Created", day(record.Get("creation_date").Str)),
			Color: colorOf(record.Get("stroke")), Fill: colorOf(record.Get("fill")),
			Width: min(record.Get("stroke_width").Num, 12)}
		if opacity := record.Get("fill_opacity"); opacity.Type == gjson.Number {
			one.Opacity = &opacity.Num
		}
		if err := send(one); err != nil {
			return err
		}
	}
	return nil
}

// colorOf returns a CSS colour from red, green and blue; "" for none.
func colorOf(list gjson.Result) string {
	const digits = "0123456789abcdef"
	parts := list.Array()
	if len(parts) < 3 {
		return ""
	}
	color := []byte("#")
	for _, p := range parts[:3] {
		n := int(min(max(p.Num, 0), 255))
		color = append(color, digits[n>>4], digits[n&15])
	}
	return string(color)
}

// rowsOf returns rows of labels and values, without empty values.
func rowsOf(pairs ...string) (rows [][2]string) {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			rows = append(rows, [2]string{pair[0], pair[1]})
		}
	}
	return rows
}

// day returns the day of a date.
func day(date string) string {
	if t, ok := moment(date); ok {
		return t.Format("2006-01-02")
	}
	return date
}

// firstGeometry returns the first geometry with coordinates, or nil.
func firstGeometry(all ...json.RawMessage) json.RawMessage {
	for _, g := range all {
		if parsed := gjson.ParseBytes(g); parsed.Get("coordinates.0").Exists() ||
			parsed.Get("geometries.0.coordinates.0").Exists() {
			return g
		}
	}
	return nil
}

func pointOf(at []float64) json.RawMessage {
	if len(at) < 2 || at[0] == 0 && at[1] == 0 {
		return nil
	}
	return geojson.Text(orb.Point{at[0], at[1]})
}
