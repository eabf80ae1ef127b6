package platform

import (
	"transect/client/geojson"
	"transect/platform/store"
)

// geometry accepts a GeoJSON geometry in degrees.
func geometry(key string, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return wrong(key, "must be an object")
	}
	if err := geojson.Geometry(object, geojson.Options{}); err != nil {
		return wrong(key, "%v", err)
	}
	return nil
}

// position accepts [longitude, latitude] in degrees.
func position(key string, v any) error {
	if list, ok := v.([]any); !ok || len(list) != 2 || geojson.Geometry(store.Doc{"type": "Point", "coordinates": v}, geojson.Options{}) != nil {
		return wrong(key, "must be [longitude, latitude] in degrees")
	}
	return nil
}

// box is the rectangle around geometries.
type box struct {
	low, high [2]float64
	any       bool
}

// include extends the box by a value of a document if it is a geometry.
func (b *box) include(v any) {
	geometry, _ := v.(map[string]any)
	if geometries, ok := geometry["geometries"].([]any); ok {
		for _, one := range geometries {
			b.include(one)
		}
	}
	b.positions(geometry["coordinates"])
}

// positions extends the box by nested lists of positions.
func (b *box) positions(v any) {
	list, _ := v.([]any)
	if len(list) < 2 || !isNumber(list[0]) {
		for _, inner := range list {
			b.positions(inner)
		}
		return
	}
	for i := range b.low {
		n, _ := asNumber(list[i])
		if !b.any {
			b.low[i], b.high[i] = n, n
		}
		b.low[i], b.high[i] = min(b.low[i], n), max(b.high[i], n)
	}
	b.any = true
}

func isNumber(v any) bool {
	_, ok := asNumber(v)
	return ok
}

// polygon gives the rectangle as a GeoJSON geometry, or nil when there is none.
func (b *box) polygon() any {
	if !b.any {
		return nil
	}
	return store.Doc{"type": "Polygon", "coordinates": []any{[]any{
		b.low, [2]float64{b.high[0], b.low[1]}, b.high, [2]float64{b.low[0], b.high[1]}, b.low,
	}}}
}

// computeBox sets the rectangle around the datasets of a mission or a project.
// Without any, it is that around the missions, or the document's own geometry.
func computeBox(r *Request, doc store.Doc) error {
	filter := store.Doc{"mission": doc["_id"]}
	if doc["project"] == nil {
		filter = store.Doc{"project": doc["_id"]}
	}
	var b box
	page, err := r.tx.Search(datasets.plural, store.Query{
		Filter: filter, Limit: -1, NoTotal: true, Fields: store.Projection{Include: []string{"geometry"}},
	})
	if err != nil {
		return err
	}
	for _, raw := range page.Results {
		dataset, err := store.Decode(raw)
		if err != nil {
			return err
		}
		b.include(dataset["geometry"])
	}
	if !b.any && filter["project"] != nil {
		docs, err := r.tx.All(missions.plural, filter)
		if err != nil {
			return err
		}
		for _, mission := range docs {
			b.include(mission["real_bbox"])
			b.include(mission["geometry"])
		}
	}
	if !b.any {
		b.include(doc["geometry"])
	}
	doc["real_bbox"] = b.polygon()
	return nil
}
