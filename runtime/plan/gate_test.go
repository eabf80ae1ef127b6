package plan

import "testing"

// A refusal shows what differs deep inside of arguments, not that they begin alike, and
// leaves out what differs in each run.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		planned string
		now     map[string]any
		want    string
	}{
		{`{"name":"One"}`, map[string]any{"name": "Two"}, `name was "One" when planned, and is "Two"`},
		{`{"datasets":[{"name":"a.txt","project":"plan-projects-000001","properties":{"transect":{"md5":"0bee","run":"1"}}}]}`,
			map[string]any{"datasets": []any{map[string]any{"name": "a.txt", "project": "656f00000000000000000001",
				"properties": map[string]any{"transect": map[string]any{"md5": "b9a4", "run": "2"}}}}},
			`datasets[1].properties.transect.md5 was "0bee" when planned, and is "b9a4"`},
		{`{"a":[1]}`, map[string]any{"a": []any{1, 2}}, `a was [1] when planned, and is [1,2]`},
		{`{}`, map[string]any{"a": true}, `a was absent when planned, and is true`},
		{`{"a":true}`, map[string]any{"a": true}, `it was planned fewer times`},
		{`{"file_path":"a"}`, map[string]any{"file_path": "a"},
			`its file was changed since, or was planned to be sent fewer times`},
	} {
		if got := difference([]byte(c.planned), c.now); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.planned, got, c.want)
		}
	}
}
