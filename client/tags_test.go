package client

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"transect/client/declare"
	"transect/client/fault"
)

func TestTagsAndCommentsOnTheWire(t *testing.T) {
	tag := func(args map[string]any, want string) wireCase {
		return wireCase{call: "tags.create", args: args, want: []string{want}, answer: `{"tag":{"_id":"t1"}}`}
	}
	find := func(call, query string, args map[string]any) wireCase {
		manager, _, _ := strings.Cut(call, ".")
		return wireCase{call: call, args: args, answer: `{"tagGroups":[],"conversations":[]}`, want: []string{"GET /project-manager/" + manager + "?" + query}}
	}
	read := func(args map[string]any, want string) wireCase {
		return wireCase{call: "comments.mark_as_read", args: args, answer: "OK", want: []string{"POST /project-manager/comments/mark-as-read " + want}}
	}
	testWire(t, []wireCase{
		tag(map[string]any{"name": "x", "project": "p", "type": "project"}, `POST /project-manager/tags {"text":"x","project_id":"p","target":{"type":"project"}}`),
		tag(map[string]any{"name": "x", "project": "p", "type": "dataset", "target": "d", "flight": "f"}, `POST /project-manager/tags {"text":"x","project_id":"p","target":{"type":"dataset","id":"d"}}`),
		tag(map[string]any{"name": "x", "project": "p", "type": "photo", "target": "d", "flight": "f", "extra": map[string]any{"mark": 1}},
			`POST /project-manager/tags {"text":"x","project_id":"p","target":{"type":"photo","id":"f","subId":"d"},"mark":1}`),
		{call: "tags.delete", args: map[string]any{"tag": "t 1"}, want: []string{"DELETE /project-manager/tags/t%201"}},
		find("tags.search", "project_id=p", map[string]any{"project": "p"}),
		find("tags.search", "project_id=p+q&target_id=d&target_type=dataset", map[string]any{"project": "p q", "type": "dataset", "target": "d"}),
		find("tags.search", "project_id=p&target_id=f&target_subid=d&target_type=photo", map[string]any{"project": "p", "type": "photo", "target": "d", "flight": "f"}),
		find("tags.search", "project_id=p&target_type=photo&user=u", map[string]any{"project": "p", "type": "photo", "extra": map[string]any{"user": "u", "project_id": "other"}}),
		find("tags.search_generator", "project_id=p", map[string]any{"project": "p"}),
		find("comments.search", "project_id=p&target_id=f&target_subid=d&target_type=photo", map[string]any{"project": "p", "type": "photo", "target": "d", "flight": "f"}),
		{call: "comments.create", args: map[string]any{"text": "hm", "project": "p", "type": "photo", "target": "d", "flight": "f"}, answer: `{"comment":{"_id":"c"}}`,
			want: []string{`POST /project-manager/comments {"text":"hm","project_id":"p","target":{"type":"photo","id":"f","subId":"d"}}`}},
		read(map[string]any{"project": "p"}, `{"project_id":"p"}`),
		read(map[string]any{"project": "p", "type": "project"}, `{"project_id":"p","target":{"type":"project"}}`),
		read(map[string]any{"project": "p", "type": "dataset", "target": "d"}, `{"project_id":"p","target":{"type":"dataset","id":"d"}}`),
		read(map[string]any{"project": "p", "type": "photo", "target": "d", "flight": "f"}, `{"project_id":"p","target":{"type":"photo","id":"f","subId":"d"}}`),
	})
}

func TestTagsAndCommentsRefused(t *testing.T) {
	cases := []refusedCase{
		{"comments.mark_as_read", map[string]any{"project": "p", "target": "d"}, "ParameterError", "argument type is missing"},
		{"comments.mark_as_read", map[string]any{"project": "p", "flight": "f"}, "ParameterError", "argument type is missing"},
		{"tags.search", map[string]any{"project": "p", "type": "photo", "target": "d"}, "ParameterError", "argument flight is missing"},
		{"comments.search_generator", map[string]any{"project": "p", "type": "photo", "flight": "f"}, "ParameterError", "argument target is missing"},
	}
	for _, call := range []string{"tags.create", "comments.create", "comments.mark_as_read"} {
		with := func(more map[string]any) map[string]any {
			args := map[string]any{"project": "p"}
			if call != "comments.mark_as_read" {
				args[map[string]string{"tags.create": "name", "comments.create": "text"}[call]] = "x"
			}
			for k, v := range more {
				args[k] = v
			}
			return args
		}
		cases = append(cases,
			refusedCase{call, with(map[string]any{"type": "photo", "target": "d"}), "ParameterError", "argument flight is missing"},
			refusedCase{call, with(map[string]any{"type": "photo", "flight": "f"}), "ParameterError", "argument target is missing"},
			refusedCase{call, with(map[string]any{"type": "foto"}), "ParameterError", `must be one of project, annotation`})
	}
	testRefused(t, cases)
}

// same compares JSON by content.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(got, &a) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestTagForm(t *testing.T) {
	one, err := CreateTag{}.Answer([]byte(`{"tag":{"_id":"t1","text":"x","project_id":"p","date":"2026-01-01T00:00:00.000Z",
		"target":{"type":"photo","id":"f","subId":"d"},"author":{"id":"u1","displayName":"Ann"},
		"deleted":"2026-02-01T00:00:00.000Z","deleted_by":{"id":"u2"},"tint":"red"}}`))
	if err != nil {
		t.Fatal(err)
	}
	same(t, one, `{"_id":"t1","name":"x","project":"p","creation_date":"2026-01-01T00:00:00.000Z","type":"photo","target":"d","flight":"f",
		"creation_user":"u1","author":{"displayName":"Ann"},"deletion_date":"2026-02-01T00:00:00.000Z","deletion_user":"u2","tint":"red"}`)
	var tag Tag
	if err := declare.DecodeRecord(one, &tag); err != nil || tag.Flight != "f" || tag.DeletionUser != "u2" {
		t.Error(tag, err)
	}
	for _, broken := range []string{`{}`, `[]`, `{"tag":3}`, ``} {
		if _, err := (CreateTag{}).Answer([]byte(broken)); fault.Find(err) == nil || fault.Find(err).Name() != "QueryError" {
			t.Errorf("%q gives %v", broken, err)
		}
	}
}

const tagGroups = `{"tagGroups":[{"_id":{"type":"dataset","id":"d1"},"tags":[{"_id":"t1","text":"a"},{"_id":"t2","text":"b","author":{"id":"u"}}]},` +
	`{"_id":{"type":"project"},"tags":[{"_id":"t3","text":"c"}]},{"_id":{"type":"gcp"}},{"_id":{"type":"photo","id":"f","subId":"d2"},"tags":[{"_id":"t4","text":"d"}]}]}`

func TestTagsOfAllGroups(t *testing.T) {
	c, _ := record(t, map[string]string{"": tagGroups})
	v, err := invoke(t, c, "tags.search", map[string]any{"project": "p"})
	if err != nil || len(v.Items) != 4 {
		t.Fatal(v, err)
	}
	for i, want := range []string{
		`{"_id":"t1","name":"a","project":"p","type":"dataset","target":"d1"}`,
		`{"_id":"t2","name":"b","project":"p","type":"dataset","target":"d1","creation_user":"u"}`,
		`{"_id":"t3","name":"c","project":"p","type":"project"}`,
		`{"_id":"t4","name":"d","project":"p","type":"photo","target":"d2","flight":"f"}`,
	} {
		same(t, v.Items[i], want)
	}
	cursor, err := c.Tags.SearchGenerator(t.Context(), SubjectQuery{Project: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	var names string
	for {
		tag, ok, err := cursor.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		names += tag.Name
	}
	if names != "abcd" {
		t.Errorf("the generator gave %q", names)
	}
	c, _ = record(t, map[string]string{"": `{"conversations":3}`})
	if _, err := c.Tags.Search(t.Context(), TagQuery{SubjectQuery{Project: "p"}}); fault.Find(err) == nil || fault.Find(err).Name() != "QueryError" {
		t.Errorf("an answer without groups gives %v", err)
	}
}

func TestCommentsOfAllConversations(t *testing.T) {
	c, _ := record(t, map[string]string{"": `{"conversations":[{"_id":{"type":"dataset","id":"d1"},"unreadComments":1,"comments":[` +
		`{"_id":"c1","text":"hm","date":"2026-01-01T00:00:00.000Z","author":{"id":"u"},"read_by":["u"],"deleted":true,"deleted_by":{"id":"u"}}]}]}`})
	comments, err := c.Comments.Search(t.Context(), CommentQuery{SubjectQuery{Project: "p"}})
	if err != nil || len(comments) != 1 {
		t.Fatal(comments, err)
	}
	same(t, comments[0].JSON(), `{"_id":"c1","text":"hm","project":"p","type":"dataset","target":"d1","creation_date":"2026-01-01T00:00:00.000Z",
		"creation_user":"u","read_by":["u"],"deleted":true,"deleted_by":{"id":"u"}}`)
}
