package platform

import (
	"errors"

	"transect/platform/store"
)

// subjectTypes are the kinds of things that tags and comments can be about.
var subjectTypes = []string{"project", "annotation", "flight", "photo", "dataset", "feature", "gcp", "task"}

// subjectKinds are those of them that the platform has documents of. A photo is
// an image dataset, known by its flight and itself; ground control points have
// no operations, so any identifier is taken for one.
var subjectKinds = map[string]kind{
	"annotation": annotations, "flight": flights, "dataset": datasets, "feature": features,
}

// remark is what tags and comments have in common: a text about a thing of a project.
func (r *Request) remark(k kind, more store.Doc) (store.Doc, error) {
	a := r.args()
	text, project := a.text("text"), a.id("project_id")
	target := a.target(project, true)
	if a.err != nil {
		return nil, a.err
	}
	parent, err := r.need(projects, project, "project_id")
	if err != nil {
		return nil, err
	}
	if err := r.needSubject(parent, target); err != nil {
		return nil, err
	}
	author, err := r.signature()
	if err != nil {
		return nil, err
	}
	doc, err := r.extras("project_id", "text", "target", "date", "author", "deleted", "deleted_by")
	if err != nil {
		return nil, err
	}
	doc["text"], doc["project"], doc["target"] = text, project, target
	doc["company"], doc["author"] = parent["company"], author
	for key, value := range more {
		doc[key] = value
	}
	return doc, r.create(k, doc)
}

// target reads what a remark is about. The project itself goes without an
// identifier; of anything else one is needed when exact is set.
func (a *args) target(project string, exact bool) store.Doc {
	inner := within(a.object("target"), a.at+"target")
	if a.err != nil {
		return nil
	}
	kind := inner.oneOf("type", subjectTypes...)
	target := store.Doc{"type": kind}
	id, photo := inner.optID("id"), inner.optID("subId")
	switch {
	case kind == "project":
		if id != "" && id != project {
			inner.wrong("id", "is not the project of project_id")
		}
		id = ""
	case exact:
		inner.need("id")
	}
	if id != "" {
		target["id"] = id
	}
	if kind == "photo" && (exact || id != "") {
		inner.need("subId")
		target["subId"] = photo
	}
	if a.err == nil {
		a.err = inner.err
	}
	return target
}

// needSubject checks that what a remark is about is there, and in the project.
func (r *Request) needSubject(project, target store.Doc) error {
	kind, id := store.Text(target, "type"), store.Text(target, "id")
	if kind == "photo" {
		photo, err := r.need(datasets, store.Text(target, "subId"), "target.subId")
		if err != nil {
			return err
		}
		if photo["type"] != any("image") || photo["flight"] != any(id) {
			return invalid("target.subId: dataset %s is no photo of flight %s", photo["_id"], id)
		}
		kind = "flight"
	}
	k, ok := subjectKinds[kind]
	if !ok {
		return nil
	}
	doc, err := r.needOf(store.Text(project, "company"), k, id, "target.id")
	// Features and datasets of a company need not be in a project.
	if err == nil && doc["project"] != nil && doc["project"] != project["_id"] {
		err = invalid("target.id: %s %s is not in project %s", k.name, id, project["_id"])
	}
	return err
}

// signature is the caller as remarks name them.
func (r *Request) signature() (store.Doc, error) {
	user, err := r.tx.Get(users.plural, r.caller.user)
	if errors.Is(err, store.ErrNotFound) {
		return store.Doc{"id": r.caller.user}, nil
	}
	return store.Doc{"id": r.caller.user, "displayName": store.Text(user, "displayName")}, err
}

// remarks returns those of a project, or of the things in it that a GET names,
// in the order of their making.
func (r *Request) remarks(k kind) ([]store.Doc, error) {
	a := r.args()
	project := a.id("project_id")
	filter := store.Doc{"project": project}
	if a.has("target_type") {
		filter["target.type"] = a.oneOf("target_type", subjectTypes...)
	}
	id, photo := a.optID("target_id"), a.optID("target_subid")
	if id != "" && !(filter["target.type"] == any("project") && id == project) {
		filter["target.id"] = id
	}
	if photo != "" {
		filter["target.subId"] = photo
	}
	if a.err != nil {
		return nil, a.err
	}
	if _, err := r.need(projects, project, "project_id"); err != nil {
		return nil, err
	}
	return r.tx.All(k.plural, filter)
}

// group is the remarks about one thing.
type group struct {
	target  any
	remarks []store.Doc
}

// grouped puts remarks about the same thing together, in the order of the first
// remark about each.
func grouped(docs []store.Doc) []group {
	var groups []group
	places := map[[3]string]int{}
	for _, doc := range docs {
		key := [3]string{store.Text(doc, "target.type"), store.Text(doc, "target.id"), store.Text(doc, "target.subId")}
		place, ok := places[key]
		if !ok {
			place = len(groups)
			places[key] = place
			groups = append(groups, group{target: doc["target"]})
		}
		groups[place].remarks = append(groups[place].remarks, doc)
	}
	return groups
}

// wording renames the keys of a remark to those that clients read.
func wording(doc store.Doc) store.Doc {
	worded := store.Doc{}
	for key, value := range doc {
		switch key {
		case "creation_user", "modification_date", "modification_user", "deletion_user":
		case "project":
			worded["project_id"] = value
		case "creation_date":
			worded["date"] = value
		case "deletion_date":
			worded["deleted"] = value
		default:
			worded[key] = value
		}
	}
	return worded
}

// inGroup leaves out what the group says.
func inGroup(doc store.Doc) store.Doc {
	worded := wording(doc)
	delete(worded, "target")
	delete(worded, "project_id")
	return worded
}
