package platform

import (
	"net/http"

	"transect/platform/store"
)

var tags = kind{name: "tag", plural: "tags"}

func tagRoutes() []route {
	search := read("project-manager/tags", searchTags)
	search.method = http.MethodGet
	remove := write("project-manager/tags/{tag}", deleteTag)
	remove.method = http.MethodDelete
	return []route{write("project-manager/tags", createTag), search, remove}
}

func createTag(r *Request) (any, error) {
	doc, err := r.remark(tags, nil)
	if err != nil {
		return nil, err
	}
	return store.Doc{"tag": wording(doc)}, nil
}

func deleteTag(r *Request) (any, error) {
	a := &args{doc: store.Doc{"tag": r.path("tag")}}
	id := a.id("tag")
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(tags, id)
	if err != nil {
		return nil, err
	}
	if doc["deleted_by"], err = r.signature(); err != nil {
		return nil, err
	}
	if err := r.softDelete(tags, doc); err != nil {
		return nil, err
	}
	return store.Doc{"tag": wording(doc)}, nil
}

func searchTags(r *Request) (any, error) {
	docs, err := r.remarks(tags)
	if err != nil {
		return nil, err
	}
	groups := []any{}
	for _, g := range grouped(docs) {
		list := []any{}
		for _, tag := range g.remarks {
			list = append(list, inGroup(tag))
		}
		groups = append(groups, store.Doc{"_id": g.target, "tags": list})
	}
	return store.Doc{"tagGroups": groups}, nil
}
