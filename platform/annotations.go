package platform

import (
	"math"

	"transect/platform/store"
)

// Annotations are drawings on a map, a model or an image of a project.
var annotations = &resource{name: "annotation", plural: "annotations"}

func serveAnnotations() {
	annotations.refs = []ref{{"project", projects, cascade}, {"mission", missions, cascade}, {"target.id", datasets, leave},
		{"followers", users, leave}, {"attachments", datasets, leave}}
	opacity := number(0, 1)
	annotations.rules = map[string]rule{
		"description": anyText, "target": object(fields{"type": oneOf("dataset"), "id": word}, "type", "id"),
		"stroke": colour, "stroke_dasharray": list(number(0, math.Inf(1))), "stroke_width": number(0, math.Inf(1)),
		"stroke_opacity": opacity, "fill": colour, "fill_opacity": opacity, "normals": list(vector),
	}
	annotations.fixed = []string{"project"}
	annotations.defaults = store.Doc{"type": "2d", "followers": []any{}, "attachments": []any{}}
	annotations.complete = completeAnnotation
	serve("annotations", annotations, map[string]endpoint{
		"add-attachments":     do(annotations.changing(addAttachments)),
		"remove-attachments":  do(annotations.changing(removeAttachments)),
		"set-annotation-icon": do(annotations.changing(setIcon)),
	})
}

// completeAnnotation gives an annotation the company of its project, and checks
// that its mission and the dataset it is drawn on fit the project.
func completeAnnotation(r *Request, given, doc store.Doc) {
	project := r.get(projects, store.Text(doc, "project"))
	doc["company"] = project["company"]
	for _, key := range []string{"followers", "attachments"} {
		doc[key] = union(nil, textsOf(doc[key]))
	}
	for _, ref := range []ref{{"mission", missions, leave}, {"target.id", datasets, leave}} {
		id, _ := store.Lookup(given, ref.key).(string)
		if id == "" {
			continue
		}
		on := r.get(ref.to, id)
		if on["project"] != nil && on["project"] != project["_id"] {
			panic(wrong(ref.key, "%s %s is not in project %s", ref.to.name, id, project["_id"]))
		}
	}
}

// setIcon sets the icon; null leaves the choice to whoever draws it.
func setIcon(r *Request, doc store.Doc) {
	doc["icon"] = r.body["icon"]
}

// colour accepts red, green and blue, and perhaps alpha or opacity.
func colour(key string, v any) {
	list(number(0, 255))(key, v)
	parts := v.([]any)
	if len(parts) != 3 && len(parts) != 4 {
		panic(wrong(key, "must have 3 numbers, or 4 with an opacity, not %d", len(parts)))
	}
	for i, v := range parts[:3] {
		if n, _ := asNumber(v); n != math.Trunc(n) {
			panic(wrong(key, "element %d must be a whole number", i))
		}
	}
}

// vector accepts three numbers.
func vector(key string, v any) {
	if numbers, _ := v.([]any); len(numbers) != 3 || recovered(func() { list(anyNumber)(key, v) }) != nil {
		panic(wrong(key, "must be a vector of three numbers"))
	}
}
