package platform

import (
	"net/http"
	"slices"

	"transect/platform/store"
)

var comments = kind{name: "comment", plural: "comments"}

func commentRoutes() []route {
	search := read("project-manager/comments", searchComments)
	search.method = http.MethodGet
	return []route{
		write("project-manager/comments", createComment),
		search,
		write("project-manager/comments/mark-as-read", markAsRead),
	}
}

func createComment(r *Request) (any, error) {
	// Who wrote a comment has read it.
	doc, err := r.remark(comments, store.Doc{"read_by": []any{r.caller.user}})
	if err != nil {
		return nil, err
	}
	return store.Doc{"comment": wording(doc)}, nil
}

// searchComments answers with a conversation for each thing commented on.
func searchComments(r *Request) (any, error) {
	docs, err := r.remarks(comments)
	if err != nil {
		return nil, err
	}
	conversations := []any{}
	for _, g := range grouped(docs) {
		list, participants := []any{}, []any{}
		var known []string
		unread := 0
		for _, comment := range g.remarks {
			list = append(list, inGroup(comment))
			if author := store.Text(comment, "author.id"); !slices.Contains(known, author) {
				known = append(known, author)
				participants = append(participants, comment["author"])
			}
			if !readBy(comment, r.caller.user) {
				unread++
			}
		}
		conversations = append(conversations, store.Doc{
			"_id": g.target, "comments": list, "participants": participants, "unreadComments": unread,
			"lastUpdate": g.remarks[len(g.remarks)-1]["creation_date"],
		})
	}
	return store.Doc{"conversations": conversations}, nil
}

func readBy(comment store.Doc, user string) bool {
	list, _ := comment["read_by"].([]any)
	return slices.Contains(list, any(user))
}

// markAsRead marks the comments about one thing, about all things of a type, or
// without a target all of a project, as read by the caller.
func markAsRead(r *Request) (any, error) {
	a := r.args()
	project := a.id("project_id")
	filter := store.Doc{"project": project}
	if a.has("target") {
		for key, value := range a.target(project, false) {
			filter["target."+key] = value
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	if _, err := r.need(projects, project, "project_id"); err != nil {
		return nil, err
	}
	docs, err := r.tx.All(comments.plural, filter)
	if err != nil {
		return nil, err
	}
	for _, comment := range docs {
		if readBy(comment, r.caller.user) {
			continue
		}
		comment["read_by"] = union(comment["read_by"], []string{r.caller.user})
		if err := r.tx.Replace(comments.plural, comment); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
