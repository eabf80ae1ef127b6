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
func completeAnnotation(r *Request, given, doc store.Doc) error {
	project, err := r.get(projects, store.Text(doc, "project"))
	if err != nil {
		return err
	}
	doc["company"] = project["company"]
	for _, key := range []string{"followers", "attachments"} {
		doc[key] = union(nil, textsOf(doc[key]))
	}
	for _, ref := range []ref{{"mission", missions, leave}, {"target.id", datasets, leave}} {
		id, _ := store.Lookup(given, ref.key).(string)
		if id == "" {
			continue
		}
		on, err := r.get(ref.to, id)
		if err != nil {
			return err
		}
		if on["project"] != nil && on["project"] != project["_id"] {
			return wrong(ref.key, "%s %s is not in project %s", ref.to.name, id, project["_id"])
		}
	}
	return nil
}

// setIcon sets the icon; null leaves the choice to whoever draws it.
func setIcon(r *Request, doc store.Doc) error {
	doc["icon"] = r.body["icon"]
	return nil
}

// colour accepts red, green and blue, and perhaps alpha or opacity.
func colour(key string, v any) error {
	if err := list(number(0, 255))(key, v); err != nil {
		return err
	}
	parts := v.([]any)
	if len(parts) != 3 && len(parts) != 4 {
		return wrong(key, "must have 3 numbers, or 4 with an opacity, not %d", len(parts))
	}
	for i, v := range parts[:3] {
		if n, _ := asNumber(v); n != math.Trunc(n) {
			return wrong(key, "element %d must be a whole number", i)
		}
	}
	return nil
}

// vector accepts three numbers.
func vector(key string, v any) error {
	if err := list(anyNumber)(key, v); err != nil || len(v.([]any)) != 3 {
		return wrong(key, "must be a vector of three numbers")
	}
	return nil
}
