package platform

import (
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client/schema"
	"transect/platform/internal/store"
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

var targetFields = fields{{Name: "type", Type: "string", Choices: subjectTypes},
	{Name: "id", Type: "id", Optional: true}, {Name: "subId", Type: "id", Optional: true}}

// subjects returns the resource of a kind of subject, or nil if the platform has no documents of it. A photo
// is an image dataset, identified by its flight and itself; ground control points have no operations, so any
// identifier is accepted for one.
func subjects(kind string) *resource {
	return map[string]*resource{
		"annotation": annotations, "flight": flights, "photo": flights, "dataset": datasets, "feature": features,
	}[kind]
}

// remark creates a tag or a comment.
func (r *Request) remark(t *resource, more store.Doc) store.Doc {
	project := r.need(projects, r.text("project_id"), "project_id")
	target := r.target(true)
	r.needSubject(project, target)
	doc := store.Doc{}
	t.fill(r, r.body, doc)
	doc["text"], doc["project"], doc["target"] = r.text("text"), project["_id"], target
	doc["company"], doc["author"] = project["company"], r.author()
	maps.Copy(doc, more)
	r.create(t, doc)
	return clientForm(doc)
}

// target reads the subject of a remark. The project needs no identifier; anything else needs one when exact
// is set.
func (r *Request) target(exact bool) store.Doc {
	given, project := r.object("target"), r.text("project_id")
	check(schema.CheckFields(targetFields, "target.", given))
	kind, id, photo := store.Text(given, "type"), store.Text(given, "id"), store.Text(given, "subId")
	target := store.Doc{"type": kind}
	switch {
	case kind == "project" && id != "" && id != project:
		panic(wrong("target.id", "is not the project of project_id"))
	case kind == "project":
		return target
	case id == "" && exact:
		panic(wrong("target.id", "is required"))
	case id == "":
		return target
	}
	target["id"] = id
	if kind == "photo" {
		if photo == "" {
			panic(wrong("target.subId", "is required"))
		}
		target["subId"] = photo
	}
	return target
}

// needSubject checks that the subject of a remark exists in the project.
func (r *Request) needSubject(project, target store.Doc) {
	id := store.Text(target, "id")
	if target["type"] == "photo" {
		photo := r.need(datasets, store.Text(target, "subId"), "target.subId")
		if photo["type"] != any("image") || photo["flight"] != any(id) {
			panic(wrong("target.subId", "dataset %s is not a photo of flight %s", photo["_id"], id))
		}
	}
	t := subjects(store.Text(target, "type"))
	if t == nil {
		return
	}
	doc := r.need(t, id, "target.id")
	switch {
	case doc["company"] != project["company"]:
		panic(wrong("target.id", "%s %s is of another company", t.name, id))
	// Features and datasets of a company need not be in a project.
	case doc["project"] != nil && doc["project"] != project["_id"]:
		panic(wrong("target.id", "%s %s is not in project %s", t.name, id, project["_id"]))
	}
}

// author returns the caller in the form used in remarks.
func (r *Request) author() store.Doc {
	author := store.Doc{"id": r.caller.user}
	if user := r.find(users, r.caller.user); user != nil {
		author["displayName"] = store.Text(user, "displayName")
	}
	return author
}

// group holds the remarks on one subject.
type group struct {
	target  any
	remarks []store.Doc
}

// groups returns the remarks of a project, or on the subjects in it that the query names: a group for each
// subject, in the order of its first remark.
func (r *Request) groups(t *resource) []*group {
	project := r.text("project_id")
	r.need(projects, project, "project_id")
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
	var groups []*group
	bySubject := map[[3]string]*group{}
	for _, doc := range r.all(t, filter) {
		key := [3]string{store.Text(doc, "target.type"), store.Text(doc, "target.id"), store.Text(doc, "target.subId")}
		if bySubject[key] == nil {
			bySubject[key] = &group{target: doc["target"]}
			groups = append(groups, bySubject[key])
		}
		bySubject[key].remarks = append(bySubject[key].remarks, doc)
	}
	return groups
}

// clientForms returns the remarks of a group without the fields that the group has.
func (g *group) clientForms() []any {
	list := []any{}
	for _, doc := range g.remarks {
		one := clientForm(doc)
		delete(one, "target")
		delete(one, "project_id")
		list = append(list, one)
	}
	return list
}

// clientForm renames the keys of a remark to those that clients read.
func clientForm(doc store.Doc) store.Doc {
	renamed := store.Doc{}
	for key, value := range doc {
		switch key {
		case "creation_user", "modification_date", "modification_user", "deletion_user":
		case "project":
			renamed["project_id"] = value
		case "creation_date":
			renamed["date"] = value
		case "deletion_date":
			renamed["deleted"] = value
		default:
			renamed[key] = value
		}
	}
	return renamed
}

// parseRemarks converts the remarks in a response to documents.
func parseRemarks(answer []byte, project string) (docs []store.Doc) {
	gjson.ParseBytes(answer).ForEach(func(_, groups gjson.Result) bool {
		for _, group := range groups.Array() {
			group.ForEach(func(_, list gjson.Result) bool {
				for _, one := range list.Array() {
					if !one.Get("text").Exists() || !one.Get("_id").Exists() {
						continue
					}
					doc := must(store.Decode([]byte(one.Raw)))
					doc["target"], doc["project"], doc["creation_date"] = group.Get("_id").Value(), project, doc["date"]
					delete(doc, "date")
					docs = append(docs, doc)
				}
				return true
			})
		}
		return true
	})
	return docs
}

func createTag(r *Request) any {
	return store.Doc{"tag": r.remark(tags, nil)}
}

func deleteTag(r *Request) any {
	doc := r.get(tags, r.text("tag"))
	doc["deleted_by"] = r.author()
	r.softDelete(tags, doc)
	return store.Doc{"tag": clientForm(doc)}
}

func searchTags(r *Request) any {
	all := []any{}
	for _, g := range r.groups(tags) {
		all = append(all, store.Doc{"_id": g.target, "tags": g.clientForms()})
	}
	return store.Doc{"tagGroups": all}
}

func createComment(r *Request) any {
	// The author of a comment has read it.
	return store.Doc{"comment": r.remark(comments, store.Doc{"read_by": []any{r.caller.user}})}
}

// searchComments returns a conversation for each subject.
func searchComments(r *Request) any {
	conversations := []any{}
	for _, g := range r.groups(comments) {
		participants, seen, unread := []any{}, []string{}, 0
		for _, comment := range g.remarks {
			if author := store.Text(comment, "author.id"); !slices.Contains(seen, author) {
				seen = append(seen, author)
				participants = append(participants, comment["author"])
			}
			if !slices.Contains(textsOf(comment["read_by"]), r.caller.user) {
				unread++
			}
		}
		conversations = append(conversations, store.Doc{
			"_id": g.target, "comments": g.clientForms(), "participants": participants, "unreadComments": unread,
			"lastUpdate": g.remarks[len(g.remarks)-1]["creation_date"],
		})
	}
	return store.Doc{"conversations": conversations}
}

// markAsRead marks comments as read by the caller: on one subject, on all subjects of a type, or without a
// target all comments of a project.
func markAsRead(r *Request) any {
	filter := store.Doc{"project": r.text("project_id")}
	if r.body["target"] != nil {
		for key, value := range r.target(false) {
			filter["target."+key] = value
		}
	}
	r.need(projects, r.text("project_id"), "project_id")
	for _, comment := range r.all(comments, filter) {
		if !slices.Contains(textsOf(comment["read_by"]), r.caller.user) {
			comment["read_by"] = union(comment["read_by"], []string{r.caller.user})
			r.replace(comments, comment)
		}
	}
	return nil
}
