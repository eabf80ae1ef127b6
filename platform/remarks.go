package platform

import (
	"errors"
	"maps"
	"slices"

	"transect/platform/store"
)

// Tags and comments are remarks: texts about something of a project.
var (
	tags     = &resource{name: "tag", plural: "tags"}
	comments = &resource{name: "comment", plural: "comments"}
)

func serveRemarks() {
	query := []string{"target_subid"}
	serve("tags", tags, map[string]endpoint{
		"create": do(createTag, "*"),
		"search": do(searchTags, query...),
		"delete": do(deleteTag),
	})
	serve("comments", comments, map[string]endpoint{
		"create":       do(createComment, "*"),
		"search":       do(searchComments, query...),
		"mark-as-read": do(markAsRead),
	})
	for _, t := range []*resource{tags, comments} {
		t.ignored = []string{"project_id", "text", "target", "date", "author", "deleted", "deleted_by"}
	}
}

// subjectTypes are the kinds of things that remarks can be about.
var subjectTypes = []string{"project", "annotation", "flight", "photo", "dataset", "feature", "gcp", "task"}

// subjects are those of them that the platform has documents of. A photo is an
// image dataset, identified by its flight and itself; ground control points
// have no operations, so any identifier is accepted for one.
func subjects(kind string) *resource {
	return map[string]*resource{
		"annotation": annotations, "flight": flights, "photo": flights, "dataset": datasets, "feature": features,
	}[kind]
}

// remark makes a tag or a comment.
func (r *Request) remark(t *resource, more store.Doc) (store.Doc, error) {
	project, err := r.need(projects, r.text("project_id"), "project_id")
	if err != nil {
		return nil, err
	}
	target, err := r.target(true)
	if err != nil {
		return nil, err
	}
	if err := r.needSubject(project, target); err != nil {
		return nil, err
	}
	author, err := r.author()
	if err != nil {
		return nil, err
	}
	doc := store.Doc{}
	if err := t.fill(r, r.body, doc); err != nil {
		return nil, err
	}
	doc["text"], doc["project"], doc["target"] = r.text("text"), project["_id"], target
	doc["company"], doc["author"] = project["company"], author
	maps.Copy(doc, more)
	err = r.create(t, doc)
	return wording(doc), err
}

// target reads what a remark is about. The project itself goes without an
// identifier; of anything else one is needed when exact is set.
func (r *Request) target(exact bool) (store.Doc, error) {
	given, project := r.object("target"), r.text("project_id")
	if err := object(fields{"type": oneOf(subjectTypes...)}, "type")("target", given); err != nil {
		return nil, err
	}
	for _, key := range []string{"id", "subId"} {
		if id := given[key]; id != nil && !store.IsID(store.Text(given, key)) {
			return nil, wrong("target."+key, "must be an identifier of 24 hexadecimal digits")
		}
	}
	kind, id, photo := store.Text(given, "type"), store.Text(given, "id"), store.Text(given, "subId")
	target := store.Doc{"type": kind}
	switch {
	case kind == "project" && id != "" && id != project:
		return nil, wrong("target.id", "is not the project of project_id")
	case kind == "project":
		return target, nil
	case id == "" && exact:
		return nil, wrong("target.id", "is required")
	case id == "":
		return target, nil
	}
	target["id"] = id
	if kind == "photo" {
		if photo == "" {
			return nil, wrong("target.subId", "is required")
		}
		target["subId"] = photo
	}
	return target, nil
}

// needSubject checks that what a remark is about exists, in the project.
func (r *Request) needSubject(project, target store.Doc) error {
	id := store.Text(target, "id")
	if target["type"] == "photo" {
		photo, err := r.need(datasets, store.Text(target, "subId"), "target.subId")
		if err != nil {
			return err
		}
		if photo["type"] != any("image") || photo["flight"] != any(id) {
			return wrong("target.subId", "dataset %s is not a photo of flight %s", photo["_id"], id)
		}
	}
	t := subjects(store.Text(target, "type"))
	if t == nil {
		return nil
	}
	doc, err := r.need(t, id, "target.id")
	switch {
	case err != nil:
		return err
	case doc["company"] != project["company"]:
		return wrong("target.id", "%s %s is of another company", t.name, id)
	// Features and datasets of a company need not be in a project.
	case doc["project"] != nil && doc["project"] != project["_id"]:
		return wrong("target.id", "%s %s is not in project %s", t.name, id, project["_id"])
	}
	return nil
}

// author is the caller as remarks name them.
func (r *Request) author() (store.Doc, error) {
	user, err := r.tx.Get(users.plural, r.caller.user)
	if errors.Is(err, store.ErrNotFound) {
		return store.Doc{"id": r.caller.user}, nil
	}
	return store.Doc{"id": r.caller.user, "displayName": store.Text(user, "displayName")}, err
}

// group is the remarks about one thing.
type group struct {
	target  any
	remarks []store.Doc
}

// groups returns the remarks of a project, or of the things in it that the
// query names: a group for each thing, in the order of its first remark.
func (r *Request) groups(t *resource) ([]*group, error) {
	project := r.text("project_id")
	if _, err := r.need(projects, project, "project_id"); err != nil {
		return nil, err
	}
	filter := store.Doc{"project": project}
	for key, value := range map[string]string{"target.type": r.text("target_type"), "target.id": r.text("target_id"),
		"target.subId": r.text("target_subid")} {
		if value != "" {
			filter[key] = value
		}
	}
	if filter["target.type"] == "project" && filter["target.id"] == project {
		delete(filter, "target.id")
	}
	docs, err := r.tx.All(t.plural, filter)
	var groups []*group
	known := map[[3]string]*group{}
	for _, doc := range docs {
		key := [3]string{store.Text(doc, "target.type"), store.Text(doc, "target.id"), store.Text(doc, "target.subId")}
		if known[key] == nil {
			known[key] = &group{target: doc["target"]}
			groups = append(groups, known[key])
		}
		known[key].remarks = append(known[key].remarks, doc)
	}
	return groups, err
}

// worded are the remarks of a group, without what the group says.
func (g *group) worded() []any {
	list := []any{}
	for _, doc := range g.remarks {
		one := wording(doc)
		delete(one, "target")
		delete(one, "project_id")
		list = append(list, one)
	}
	return list
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

func createTag(r *Request) (any, error) {
	tag, err := r.remark(tags, nil)
	return store.Doc{"tag": tag}, err
}

func deleteTag(r *Request) (any, error) {
	doc, err := r.get(tags, r.text("tag"))
	if err != nil {
		return nil, err
	}
	if doc["deleted_by"], err = r.author(); err != nil {
		return nil, err
	}
	err = r.softDelete(tags, doc)
	return store.Doc{"tag": wording(doc)}, err
}

func searchTags(r *Request) (any, error) {
	groups, err := r.groups(tags)
	all := []any{}
	for _, g := range groups {
		all = append(all, store.Doc{"_id": g.target, "tags": g.worded()})
	}
	return store.Doc{"tagGroups": all}, err
}

func createComment(r *Request) (any, error) {
	// Who wrote a comment has read it.
	comment, err := r.remark(comments, store.Doc{"read_by": []any{r.caller.user}})
	return store.Doc{"comment": comment}, err
}

// searchComments answers with a conversation for each thing commented on.
func searchComments(r *Request) (any, error) {
	groups, err := r.groups(comments)
	conversations := []any{}
	for _, g := range groups {
		participants, known, unread := []any{}, []string{}, 0
		for _, comment := range g.remarks {
			if author := store.Text(comment, "author.id"); !slices.Contains(known, author) {
				known = append(known, author)
				participants = append(participants, comment["author"])
			}
			if !slices.Contains(textsOf(comment["read_by"]), r.caller.user) {
				unread++
			}
		}
		conversations = append(conversations, store.Doc{
			"_id": g.target, "comments": g.worded(), "participants": participants, "unreadComments": unread,
			"lastUpdate": g.remarks[len(g.remarks)-1]["creation_date"],
		})
	}
	return store.Doc{"conversations": conversations}, err
}

// markAsRead marks the comments about one thing, about all things of a type, or
// without a target all of a project, as read by the caller.
func markAsRead(r *Request) (any, error) {
	filter := store.Doc{"project": r.text("project_id")}
	if r.body["target"] != nil {
		target, err := r.target(false)
		if err != nil {
			return nil, err
		}
		for key, value := range target {
			filter["target."+key] = value
		}
	}
	if _, err := r.need(projects, r.text("project_id"), "project_id"); err != nil {
		return nil, err
	}
	docs, err := r.tx.All(comments.plural, filter)
	for i := 0; err == nil && i < len(docs); i++ {
		if comment := docs[i]; !slices.Contains(textsOf(comment["read_by"]), r.caller.user) {
			comment["read_by"] = union(comment["read_by"], []string{r.caller.user})
			err = r.tx.Replace(comments.plural, comment)
		}
	}
	return nil, err
}
