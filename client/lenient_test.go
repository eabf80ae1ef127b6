package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// anArgument is the smallest value a required argument takes.
func anArgument(p schema.Param) any {
	if len(p.Choices) > 0 {
		return p.Choices[0]
	}
	switch t := string(p.Type); {
	case p.Name == "version":
		return "1.0.0"
	case len(p.Fields) > 0 && strings.HasPrefix(t, "[]"):
		return []any{required(p.Fields)}
	case len(p.Fields) > 0:
		return required(p.Fields)
	case t == "id|[]id", t == "string|[]string", t == "string", t == "id":
		return "5f0000000000000000000001"
	case strings.HasPrefix(t, "[]id"), t == "[]string":
		return []any{"5f0000000000000000000001"}
	case t == "[]object":
		return []any{map[string]any{"name": "n", "type": "file"}}
	case t == "date":
		return "2026-05-31"
	case t == "integer", t == "number":
		return 1
	case t == "geometry", t == "drawing":
		return map[string]any{"type": "Point", "coordinates": []any{4, 50}}
	case p.Name == "normals":
		return []any{[]any{1, 2, 3}}
	case strings.HasPrefix(t, "["):
		return []any{1, 2, 3}
	case t == "boolean":
		return true
	}
	return map[string]any{"type": "x"}
}

func required(params []schema.Param) map[string]any {
	args := map[string]any{}
	for _, p := range params {
		if p.Required() {
			args[p.Name] = anArgument(p)
		}
	}
	return args
}

// furtherNeeded are arguments that an operation needs without declaring them as required.
var furtherNeeded = map[string]map[string]any{
	"missions.create":                     {"coordinates": []any{[]any{4, 50}, []any{5, 50}, []any{5, 51}, []any{4, 50}}},
	"missions.create_survey":              {"coordinates": []any{[]any{4, 50}, []any{5, 50}, []any{5, 51}, []any{4, 50}}},
	"analytics.order":                     {"analytic": "5f0000000000000000000001"},
	"analytic_configurations.update":      {"name": "n"},
	"features.delete_features_properties": {"features_properties": map[string]any{"5f0000000000000000000001": []any{"a"}}},
	"features.update_features_properties": {"features_properties": map[string]any{"5f0000000000000000000001": map[string]any{"a": 1}}},
	"annotations.add_attachments":         {"attachments": []any{"5f0000000000000000000001"}},
}

// writesOfOne yields the operations that write with one request whose answer is read, with arguments for them.
func writesOfOne(yield func(*declare.Spec, map[string]any) bool) {
	for _, m := range Declarations() {
		for _, s := range m.Ops() {
			args := required(s.Params)
			for name, v := range furtherNeeded[s.FullName()] {
				args[name] = v
			}
			if strings.HasPrefix(s.FullName(), "datasets.create") && s.Name != "create_datasets" {
				args["project"] = "5f0000000000000000000001"
			}
			written := s.Effect == declare.Create || s.Effect == declare.Set
			if written && len(s.Routes) > 0 && s.Name != "upload_file" && !yield(s, args) {
				return
			}
		}
	}
}

// anotherForm draws a JSON value of any form.
func anotherForm(depth int) *rapid.Generator[any] {
	forms := []*rapid.Generator[any]{rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
		rapid.StringMatching(`[a-z0-9]{0,6}`).AsAny()}
	if depth > 0 {
		forms = append(forms, rapid.SliceOfN(anotherForm(depth-1), 0, 3).AsAny(),
			rapid.MapOfN(rapid.SampledFrom([]string{"_id", "id", "name", "type", "status", "message"}), anotherForm(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(forms...)
}

// answerWith makes an answer of an operation's shape, with a record in it.
func answerWith(s *declare.Spec, record map[string]any) string {
	var answer any = record
	switch {
	case s.Shape == declare.ShapeResources:
		answer = []any{record}
	case s.FullName() == "missions.create_survey":
		answer = map[string]any{"mission": record, "flight": record}
	case s.ResultKey != "":
		answer = map[string]any{s.ResultKey: record}
	case s.FullName() == "tags.create", s.FullName() == "comments.create":
		answer = map[string]any{declare.Singular(s.Manager): record}
	}
	text, _ := json.Marshal(answer)
	return string(text)
}

// TestAnswersOfWritesAreReadLeniently: whatever form the fields of an answer have, what was done is no error, and
// the record keeps what came.
func TestAnswersOfWritesAreReadLeniently(t *testing.T) {
	c, r := record(t, map[string]string{"/data-manager/describe-datasets": `[{"_id":"5f0000000000000000000001","company":"c"}]`})
	for s, args := range writesOfOne {
		var fields []string
		if out := RecordTypeOf(s.Makes); out != nil {
			fields = append(fieldNames(out.Fields, ""), "target", "project")
		}
		rapid.Check(t, func(rt *rapid.T) {
			made := map[string]any{"_id": "5f0000000000000000000001"}
			for i := range rapid.IntRange(0, 6).Draw(rt, "fields") {
				name, _, _ := strings.Cut(rapid.SampledFrom(append(fields, "name")).Draw(rt, fmt.Sprint("field ", i)), ".")
				if name != "_id" && name != "id" {
					made[name] = anotherForm(2).Draw(rt, "value")
				}
			}
			r.mu.Lock()
			r.answers[""] = answerWith(s, made)
			r.mu.Unlock()
			v, err := invoke(t, c, s.FullName(), args)
			if err != nil {
				rt.Fatalf("%s answered with %s: %v", s.FullName(), r.answers[""], err)
			}
			raw := v.JSON
			if len(v.Items) == 1 {
				raw = v.Items[0]
			}
			if out := s.Out; reflect.PointerTo(out).Implements(reflect.TypeFor[interface{ Keep([]byte) }]()) {
				if err := declare.DecodeRecord(raw, reflect.New(out).Interface()); err != nil {
					rt.Fatalf("%s answered with %s: %v", s.FullName(), r.answers[""], err)
				}
			}
			var kept map[string]any
			if s.Shape != declare.ShapeGo && s.Rename[0] == "" && s.Manager != "tags" && s.Manager != "comments" && len(raw) > 0 &&
				(json.Unmarshal(raw, &kept) != nil || !reflect.DeepEqual(kept, decoded(made))) {
				rt.Fatalf("%s answered with %s gives %s", s.FullName(), r.answers[""], raw)
			}
		})
	}
}

func decoded(record map[string]any) (out map[string]any) {
	text, _ := json.Marshal(record)
	_ = json.Unmarshal(text, &out)
	return out
}

// TestCreatesWithoutAnID: an answer that names nothing that was created is an error which says that it may have been.
func TestCreatesWithoutAnID(t *testing.T) {
	tested := 0
	for s, args := range writesOfOne {
		if s.Effect != declare.Create || s.MadeID == "" || s.Shape == declare.ShapeNone {
			continue
		}
		tested++
		want := "QueryError"
		if s.FullName() == "analytic_configurations.create" {
			want = "ResponseError"
		}
		for _, answer := range []string{`{}`, `null`, `[]`, `[{}]`, answerWith(s, map[string]any{}), answerWith(s, map[string]any{"_id": nil}), answerWith(s, map[string]any{"_id": ""})} {
			c, _ := record(t, map[string]string{"": answer, "/data-manager/describe-datasets": `[{"_id":"5f0000000000000000000001","company":"c"}]`})
			_, err := invoke(t, c, s.FullName(), args)
			if f := fault.Find(err); f == nil || f.Name() != want || !strings.Contains(f.Facts().Hint, "may have been done") {
				t.Errorf("%s answered with %s: %v", s.FullName(), answer, err)
			}
		}
	}
	if tested < 30 {
		t.Errorf("%d creations", tested)
	}
	c, _ := record(t, map[string]string{"": `{}`})
	if _, err := invoke(t, c, "missions.complete_survey_upload", map[string]any{"flight": "f"}); fault.Find(err) == nil || fault.Find(err).Name() != "QueryError" {
		t.Errorf("missions.complete_survey_upload: %v", err)
	}
}

// TestFurtherArgumentsWithoutABody: operations without a body of named arguments send further ones in the address, and
// an export in its body.
func TestFurtherArgumentsWithoutABody(t *testing.T) {
	dir, extra := t.TempDir(), map[string]any{"tint": "blue", "dataset": "other"}
	for _, test := range []struct {
		call string
		args object
		want string
	}{
		{"projects.delete", object{"project": "p1"}, "DELETE /project-manager/projects/p1?dataset=other&tint=blue"},
		{"tags.delete", object{"tag": "t1"}, "DELETE /project-manager/tags/t1?dataset=other&tint=blue"},
		{"datasets.download_component", object{"dataset": "d1", "component": "file", "md5hash": "e73a413d0c9f8ae9b6b8b3ca4d9f2ab0"}, "GET /data-manager/download-component?component=file&dataset=d1&tint=blue"},
		{"datasets.download_image_as_jpeg", object{"dataset": "d1"}, "GET /data-manager/download-image-as-jpeg?dataset=d1&tint=blue"},
		{"datasets.download_preview", object{"dataset": "d1"}, "GET /data-manager/download-preview?dataset=d1&tint=blue"},
		{"collections.export", object{"collection": "c1", "target_name": "c.json"}, `POST /map-service/features/export-collection {"collection":"c1","dataset":"other","format":"geojson","tint":"blue"}`},
	} {
		c, r := record(t, nil)
		test.args["extra"] = extra
		if strings.Contains(test.want, "GET") || strings.Contains(test.call, "export") {
			test.args["target_path"] = dir
		}
		_, _ = invoke(t, c, test.call, test.args) // the file has another checksum, or is there
		if got := r.all(); len(got) == 0 || !sameRequest(t, got[0].String(), test.want) {
			t.Errorf("%s sent %v, want %s", test.call, got, test.want)
		}
	}
}
