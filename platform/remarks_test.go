package platform

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"transect/platform/internal/store"
)

// groupsOf searches for tags or comments.
func (s *site) groupsOf(what, key string, query ...string) []store.Doc {
	s.t.Helper()
	a := s.searchRemarks(what, query...)
	list, ok := a.doc[key].([]any)
	if a.status != http.StatusOK || !ok {
		s.t.Fatalf("%s %v: %d %s", what, query, a.status, a.text)
	}
	return docsOf(list)
}

func (s *site) searchRemarks(what string, query ...string) answer {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	return s.get("/project-manager/" + what + "?" + values.Encode())
}

// scene is a project with one thing of each kind in it.
type scene struct{ project, flight, photo, annotation, dataset, feature string }

func (s *site) scene() (c scene) {
	c.project = s.project("p")
	_, c.flight = s.survey(c.project, 1)
	c.photo = s.dataset("image", store.Doc{"project": c.project, "flight": c.flight}, "image")
	c.annotation = store.Text(s.ok(annotationRoot+"create-annotation", store.Doc{"project": c.project}), "_id")
	c.dataset = s.dataset("file", store.Doc{"project": c.project}, "file")
	c.feature = s.feature(store.Doc{})
	return c
}

func (c scene) targets() []store.Doc {
	return []store.Doc{
		{"type": "project"}, {"type": "project", "id": c.project}, {"type": "photo", "id": c.flight, "subId": c.photo},
		{"type": "flight", "id": c.flight}, {"type": "annotation", "id": c.annotation}, {"type": "dataset", "id": c.dataset},
		{"type": "feature", "id": c.feature}, {"type": "gcp", "id": nothing},
	}
}

func TestTags(t *testing.T) {
	s := start(t, Options{})
	c := s.scene()
	var first string
	for i, target := range c.targets() {
		tag := s.ok("project-manager/tags", store.Doc{"project_id": c.project, "text": "tag", "target": target, "colour": "red"})["tag"].(store.Doc)
		if tag["text"] != "tag" || tag["project_id"] != c.project || store.Text(tag, "date") == "" || store.Text(tag, "author.id") != s.p.secrets.UserID ||
			store.Text(tag, "target.type") != target["type"] || tag["colour"] != "red" || tag["creation_user"] != nil {
			t.Errorf("tag %v", tag)
		}
		if i == 0 {
			first = store.Text(tag, "_id")
		}
	}
	groups := s.groupsOf("tags", "tagGroups", "project_id", c.project)
	if len(groups) != 7 || len(groups[0]["tags"].([]any)) != 2 || store.Text(groups[1], "_id.subId") != c.photo {
		t.Errorf("groups %v", groups)
	}
	for want, query := range map[*store.Doc][]string{
		{"type": "project"}: {"target_type", "project"},
		{"type": "photo", "id": c.flight, "subId": c.photo}: {"target_type", "photo", "target_id", c.flight, "target_subid", c.photo},
		{"type": "dataset", "id": c.dataset}:                {"target_type", "dataset", "target_id", c.dataset},
	} {
		groups := s.groupsOf("tags", "tagGroups", append(query, "project_id", c.project)...)
		if len(groups) != 1 {
			t.Errorf("%v: %v", query, groups)
			continue
		}
		for key, value := range *want {
			if store.Text(groups[0], "_id."+key) != value {
				t.Errorf("%v: %v", query, groups)
			}
		}
	}
	if got := s.groupsOf("tags", "tagGroups", "project_id", c.project, "target_type", "dataset", "target_id", nothing); len(got) != 0 {
		t.Errorf("tags of nothing: %v", got)
	}

	a := s.remove("/project-manager/tags/" + first)
	if a.status != 200 || store.Text(a.doc, "tag.deleted") == "" || store.Text(a.doc, "tag.deleted_by.id") == "" {
		t.Errorf("deleted: %s", a.text)
	}
	s.expect(s.remove("/project-manager/tags/"+first), 404, first)
	s.expect(s.remove("/project-manager/tags/x"), 400, "tag")
	if groups := s.groupsOf("tags", "tagGroups", "project_id", c.project, "target_type", "project", "target_id", c.project); len(groups[0]["tags"].([]any)) != 1 {
		t.Errorf("after deletion %v", groups)
	}
	s.expect(s.searchRemarks("tags"), 400, "project_id")
	s.expect(s.searchRemarks("tags", "project_id", nothing), 404, nothing)
	s.expect(s.searchRemarks("tags", "project_id", c.project, "target_type", "mood"), 400, "target_type")
}

// TestRemarkRefusals holds for tags and comments alike.
func TestRemarkRefusals(t *testing.T) {
	s := start(t, Options{})
	c := s.scene()
	other := s.project("other")
	_, flight := s.survey(other, 1)
	for _, r := range []struct {
		status int
		want   string
		more   store.Doc
	}{
		{400, "text: is required", store.Doc{"text": nil}},
		{400, "text: ", store.Doc{"text": 1}},
		{404, "project_id", store.Doc{"project_id": nothing}},
		{400, "target.type: is required", store.Doc{"target": nil}},
		{400, "target.type", store.Doc{"target": store.Doc{"type": "mood"}}},
		{400, "target.id", store.Doc{"target": store.Doc{"type": "dataset"}}},
		{404, "target.id", store.Doc{"target": store.Doc{"type": "dataset", "id": nothing}}},
		{404, "target.id", store.Doc{"target": store.Doc{"type": "feature", "id": nothing}}},
		{400, "target.id", store.Doc{"target": store.Doc{"type": "project", "id": other}}},
		{400, "is not in project", store.Doc{"target": store.Doc{"type": "flight", "id": flight}}},
		{400, "target.subId", store.Doc{"target": store.Doc{"type": "photo", "id": c.flight}}},
		{404, "target.subId", store.Doc{"target": store.Doc{"type": "photo", "id": c.flight, "subId": nothing}}},
		{400, "not a photo of flight", store.Doc{"target": store.Doc{"type": "photo", "id": flight, "subId": c.photo}}},
		{400, "not a photo of flight", store.Doc{"target": store.Doc{"type": "photo", "id": c.flight, "subId": c.dataset}}},
	} {
		body := store.Doc{"project_id": c.project, "text": "x", "target": store.Doc{"type": "project"}}
		for key, value := range r.more {
			body[key] = value
		}
		s.refused(r.status, r.want, "project-manager/tags", body)
		s.refused(r.status, r.want, "project-manager/comments", body)
	}
}

// asUser makes a user and returns a site where that user speaks.
func (s *site) asUser(name string) *site {
	s.t.Helper()
	other := *s
	other.token = randomToken()
	id := s.p.ids.Next(s.p.options.Now())
	now := s.p.options.Now()
	if err := s.p.store.Write(s.t.Context(), func(tx *store.Tx) error {
		if err := tx.Insert(users.plural, store.Doc{"_id": id, "displayName": name, "company": s.company}); err != nil {
			return err
		}
		return tx.Exec("INSERT INTO tokens (hash, user, client, issued, expires) VALUES (?, ?, 'x', ?, ?)",
			hashed(other.token), id, now.UnixMilli(), now.Add(tokenLife).UnixMilli())
	}); err != nil {
		s.t.Fatal(err)
	}
	return &other
}

func TestComments(t *testing.T) {
	s := start(t, Options{})
	c := s.scene()
	other := s.asUser("Other")
	for _, target := range c.targets() {
		comment := s.ok("project-manager/comments", store.Doc{"project_id": c.project, "text": "look", "target": target})["comment"].(store.Doc)
		if comment["text"] != "look" || store.Text(comment, "author.displayName") != "Local User" || len(comment["read_by"].([]any)) != 1 {
			t.Errorf("comment %v", comment)
		}
	}
	photo := store.Doc{"type": "photo", "id": c.flight, "subId": c.photo}
	other.ok("project-manager/comments", store.Doc{"project_id": c.project, "text": "seen", "target": photo})

	unread := func(who *site) map[string]string {
		all := map[string]string{}
		for _, conversation := range who.groupsOf("comments", "conversations", "project_id", c.project) {
			if store.Text(conversation, "lastUpdate") == "" {
				t.Errorf("conversation %v", conversation)
			}
			all[store.Text(conversation, "_id.type")] = conversation["unreadComments"].(json.Number).String()
		}
		return all
	}
	want := func(who *site, expected map[string]string) {
		t.Helper()
		for kind, count := range unread(who) {
			if e := expected[kind]; count != e && !(e == "" && count == "1") {
				t.Errorf("%s: %s unread, want %q", kind, count, e)
			}
		}
	}
	want(other, map[string]string{"project": "2"})
	own := s.groupsOf("comments", "conversations", "project_id", c.project, "target_type", "photo")
	if len(own) != 1 || len(own[0]["comments"].([]any)) != 2 || len(own[0]["participants"].([]any)) != 2 || own[0]["unreadComments"] != json.Number("1") {
		t.Errorf("photo: %v", own)
	}

	// Only what is named is marked, and for the one who asks.
	const mark = "project-manager/comments/mark-as-read"
	other.ok(mark, store.Doc{"project_id": c.project, "target": photo})
	want(other, map[string]string{"project": "2", "photo": "0"})
	other.ok(mark, store.Doc{"project_id": c.project, "target": store.Doc{"type": "project"}})
	want(other, map[string]string{"project": "0", "photo": "0"})
	other.ok(mark, store.Doc{"project_id": c.project, "target": store.Doc{"type": "dataset"}})
	want(other, map[string]string{"project": "0", "photo": "0", "dataset": "0"})
	if own := s.groupsOf("comments", "conversations", "project_id", c.project, "target_type", "photo"); own[0]["unreadComments"] != json.Number("1") {
		t.Errorf("marked for others too: %v", own)
	}
	other.ok(mark, store.Doc{"project_id": c.project})
	for kind, count := range unread(other) {
		if count != "0" {
			t.Errorf("%s: %s unread", kind, count)
		}
	}
	s.refused(404, nothing, mark, store.Doc{"project_id": nothing})
	s.refused(400, "target.type", mark, store.Doc{"project_id": c.project, "target": store.Doc{"id": c.dataset}})
	s.refused(400, "target.subId", mark, store.Doc{"project_id": c.project, "target": store.Doc{"type": "photo", "id": c.flight}})
	s.expect(s.searchRemarks("comments", "project_id", "x"), 400, "project_id")
}
