package ingest

import (
	"maps"

	"transect/client"
)

// body is the dataset of a work, as it travels.
func (r *run) body(w *work) client.Object {
	o := &r.o
	b := client.Object{}
	maps.Copy(b, o.Extra)
	b["name"], b["type"] = w.name, w.item.Kind
	components := make([]any, len(w.item.Members))
	for i, m := range w.item.Members {
		components[i] = map[string]any{"name": m.Component}
	}
	b["components"] = components
	for key, id := range map[string]string{"company": o.Company, "project": o.Project, "mission": o.Mission} {
		if id != "" {
			b[key] = id
		}
	}
	if o.Flight != "" && w.item.Kind == "image" {
		b["flight"] = o.Flight
	}
	if len(o.Categories) > 0 {
		b["categories"] = o.Categories
	}
	if o.Hidden != nil {
		b["hidden"] = *o.Hidden
	}
	if o.Published != nil {
		b["published"] = *o.Published
	}
	properties := maps.Clone(o.Properties)
	if properties == nil {
		properties = map[string]any{}
	}
	about := note{Key: w.key, File: w.item.Name, Size: w.item.Size(), Modified: stamp(w.first().ModTime), Run: r.id}
	if o.Replace {
		about.Replaces = w.earlier
	}
	properties[noteName] = about.object()
	b["properties"] = properties
	w.describe(b)
	return b
}

// describe adds what an image says of itself, as the platform would read it.
func (w *work) describe(b client.Object) {
	p := w.photo
	if p == nil {
		return
	}
	set := func(key string, value any, known bool) {
		if _, given := b[key]; known && !given {
			b[key] = value
		}
	}
	set("acquisition_date", stamp(p.Acquired), !p.Acquired.IsZero())
	set("width", p.Width, p.Width > 0)
	set("height", p.Height, p.Height > 0)
	position := []any{p.Longitude, p.Latitude}
	if p.Altitude != nil {
		position = append(position, *p.Altitude)
	}
	set("geometry", map[string]any{"type": "Point", "coordinates": position}, p.HasPosition)
	sensor := map[string]any{}
	if p.Make != "" {
		sensor["make"] = p.Make
	}
	if p.Model != "" {
		sensor["model"] = p.Model
	}
	set("sensor", sensor, len(sensor) > 0)
}
