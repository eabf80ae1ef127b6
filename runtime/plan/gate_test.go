package plan

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"transect/client"
	"transect/client/declare"
)

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

// limitedNotes keep as many notes as the process lived for.
type limitedNotes struct {
	kept map[string][]byte
	left int
}

func (n *limitedNotes) Kept(name string) []byte { return n.kept[name] }

func (n *limitedNotes) Put(name string, value []byte) error {
	if n.left == 0 {
		return errors.New("killed")
	}
	n.left--
	n.kept[name] = slices.Clone(value)
	return nil
}

// A start that dies anywhere between the notes of a call leaves a plan that can be carried out: the ledger, which did
// not get to record the call, sends it again. The same call once more, which is not in the plan, is refused.
func TestKilledBetweenNotes(t *testing.T) {
	var spec *declare.Spec
	for _, m := range client.Declarations() {
		if m.Name == "datasets" {
			spec = m.Op("delete")
		}
	}
	targets := []string{"656f00000000000000000001", "656f00000000000000000002", "656f00000000000000000003"}
	call := declare.Call{Spec: spec, Args: declare.Args{Values: map[string]any{spec.Params[0].Name: targets}}}
	var p Plan
	for i, part := range parts(&call) {
		key, _, err := new(ids).key("local", &call, part)
		if err != nil {
			t.Fatal(err)
		}
		p.Writes = append(p.Writes, &Write{Number: i + 1, Operation: spec.FullName(), Kind: Delete, Key: key})
	}
	start := func(n *limitedNotes) func(resent bool) error {
		g := &Gate{Plan: &p}
		if _, err := g.Open(n); err != nil {
			t.Fatal(err)
		}
		link := g.Link("local")
		return func(resent bool) error {
			c := call
			c.Resent = resent
			_, err := link(t.Context(), &c, func(context.Context, *declare.Call) (declare.Value, error) {
				return declare.Value{Shape: declare.ShapeNone}, nil
			})
			return err
		}
	}
	for lived := 0; lived <= 2*len(targets); lived++ {
		first := &limitedNotes{kept: map[string][]byte{}, left: lived}
		if err := start(first)(false); (err == nil) != (lived == 2*len(targets)) {
			t.Fatalf("%d notes: %v", lived, err)
		}
		send := start(&limitedNotes{kept: maps.Clone(first.kept), left: 100})
		if err := send(true); err != nil {
			t.Errorf("killed after %d notes: %v", lived, err)
		}
		for _, resent := range []bool{false, true} {
			if send(resent) == nil {
				t.Errorf("killed after %d notes: sent more often than planned", lived)
			}
		}
	}
}
