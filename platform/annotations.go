package platform

import (
	"transect/client"
	"transect/platform/internal/store"
)

// Annotations are drawings on a map, a model or an image of a project.
var annotations = &resource{name: "annotation", plural: "annotations"}

func serveAnnotations() {
	annotations.refs = []ref{{"project", projects, cascade}, {"mission", missions, cascade},
		{"target.id", datasets, leave},
		{"followers", users, leave}, {"attachments", datasets, leave}}
	annotations.rules = fields{
		{Name: "description", Type: "string"},
		{Name: "target", Type: "object", Fields: fields{
			{Name: "type", Type: "string", Choices: []string{"dataset"}}, {Name: "id", Type: "id"}}},
		{Name: "stroke", Type: "colour"}, {Name: "fill", Type: "colour"}, {Name: "normals", Type: "[]vector"},
		{Name: "stroke_width", Type: "number", Min: new(0.0)}, {Name: "stroke_dasharray", Type: "[]number", Min: new(0.0)},
		{Name: "stroke_opacity", Type: "number", Min: new(0.0), Max: new(1.0)},
		{Name: "fill_opacity", Type: "number", Min: new(0.0), Max: new(1.0)},
	}
	annotations.fixed = []string{"project"}
	annotations.defaults = store.Doc{"type": "2d", "icon": must(client.IconText("ANNOTATE")), "followers": []any{},
		"attachments": []any{}}
	annotations.complete = completeAnnotation
	serve("annotations", annotations, map[string]endpoint{
		"add-attachments":     annotations.adding("attachments"),
		"remove-attachments":  annotations.removing("attachments"),
		"set-annotation-icon": do(annotations.changing(setIcon)),
	})
}

// completeAnnotation sets an annotation's company to its project's, and checks that its mission and the
// dataset it is drawn on fit the project.
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

// setIcon sets the icon; null lets the viewer choose one.
func setIcon(r *Request, doc store.Doc) {
	doc["icon"] = r.body["icon"]
}
