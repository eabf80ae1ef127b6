package platform

import "transect/platform/store"

var annotations = kind{name: "annotation", plural: "annotations", firstPage: 1, limit: 50}

func annotationRoutes() []route {
	const root = "map-service/annotations/"
	routes := []route{
		write(root+"create-annotation", createAnnotation),
		write(root+"create-annotations", createAnnotations),
		read(root+"describe-annotation", annotations.describe),
		read(root+"describe-annotations", annotations.describeMany),
		read(root+"search-annotations", annotations.search),
		write(root+"delete-annotations", annotations.deleteMany),
		write(root+"restore-annotations", annotations.many(maxRestored, restoreAnnotation)),
		write(root+"add-attachments", annotations.setter(addAttachments)),
		write(root+"remove-attachments", annotations.setter(removeAttachments)),
		write(root+"rename-annotation", annotations.setText("name")),
		write(root+"set-annotation-description", annotations.setter(setDescription)),
		write(root+"set-annotation-geometry", annotations.setGeometry("geometry")),
		write(root+"set-annotation-icon", annotations.setter(setIcon)),
	}
	for _, s := range styles {
		routes = append(routes, write(root+"set-annotation-"+s.route, annotations.setter(s.set)))
	}
	return routes
}

var annotationTypes = []string{"2d", "3d", "image"}

func createAnnotation(r *Request) (any, error) { return r.createAnnotation(r.body, "") }

// createAnnotations makes all or none of a list.
func createAnnotations(r *Request) (any, error) {
	return r.eachOf("annotations", r.createAnnotation)
}

func (r *Request) createAnnotation(body store.Doc, at string) (store.Doc, error) {
	a := argsAt(body, at)
	project := a.id("project")
	kind := "2d"
	if a.has("type") {
		kind = a.oneOf("type", annotationTypes...)
	}
	a.optGeometry("geometry")
	a.optText("name")
	a.optText("description")
	a.optText("icon")
	for _, s := range styles {
		if a.has(s.key) {
			s.check(a, s.key)
		}
	}
	followers := a.optIDs("followers")
	if a.err != nil {
		return nil, a.err
	}
	parent, err := r.need(projects, project, a.at+"project")
	if err != nil {
		return nil, err
	}
	company := store.Text(parent, "company")
	if err := r.checkAnnotationPlace(a, parent); err != nil {
		return nil, err
	}
	for _, follower := range followers {
		if _, err := r.need(users, follower, a.at+"followers"); err != nil {
			return nil, err
		}
	}
	attachments, err := r.attachments(a, company)
	if err != nil {
		return nil, err
	}
	doc, err := extras(body)
	if err != nil {
		return nil, err
	}
	doc["type"], doc["company"] = kind, company
	doc["followers"], doc["attachments"] = union(nil, followers), attachments
	return doc, r.create(annotations, doc)
}

// checkAnnotationPlace checks that the mission and the dataset that an
// annotation is drawn on are there and fit the project.
func (r *Request) checkAnnotationPlace(a *args, project store.Doc) error {
	mission, target := a.optID("mission"), within(a.optObject("target"), a.at+"target")
	dataset := ""
	if target.doc != nil {
		target.oneOf("type", "dataset")
		dataset = target.id("id")
	}
	if a.err == nil {
		a.err = target.err
	}
	if a.err != nil {
		return a.err
	}
	if mission != "" {
		doc, err := r.need(missions, mission, a.at+"mission")
		if err != nil {
			return err
		}
		if doc["project"] != project["_id"] {
			return invalid("%smission: %s is not in project %s", a.at, mission, project["_id"])
		}
	}
	if dataset == "" {
		return nil
	}
	doc, err := r.needOf(store.Text(project, "company"), datasets, dataset, a.at+"target.id")
	if err == nil && doc["project"] != nil && doc["project"] != project["_id"] {
		err = invalid("%starget.id: dataset %s is not in project %s", a.at, dataset, project["_id"])
	}
	return err
}

// restoreAnnotation takes the mark of deletion away, unless it came with the
// deletion of the project or the mission.
func restoreAnnotation(r *Request, id string) error {
	doc, err := r.getDeleted(annotations, id)
	if err != nil {
		return err
	}
	for _, parent := range []kind{projects, missions} {
		if err := r.needAlive(parent, doc); err != nil {
			return err
		}
	}
	return r.revive(annotations, doc)
}

func setDescription(_ *Request, a *args, doc store.Doc) error {
	if a.need("description") {
		doc["description"] = a.optText("description")
	}
	return nil
}

// setIcon sets the icon; null leaves the choice to whoever draws it.
func setIcon(_ *Request, a *args, doc store.Doc) error {
	doc["icon"] = nil
	if a.has("icon") {
		doc["icon"] = a.text("icon")
	}
	return nil
}
