package plan_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/runtime/plan"
)

func sample() *plan.Plan {
	return &plan.Plan{Head: plan.Head{ID: "plan-20260501-100000-0a1b2c", Made: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC),
		Folder: os.TempDir(), Script: "s.lua", Arguments: []string{"a"}, Options: []string{"--local=true"}},
		Code: []plan.Code{{File: "s.lua", Sum: strings.Repeat("0", 64)}},
		Writes: []*plan.Write{{Number: 1, Operation: "projects.create", Kind: plan.Create, Things: "projects", Name: "North",
			Arguments: []byte(`{"name":"North"}`), Key: "5c38acbdb3c4c5aca33a29db"}}}
}

var key = bytes.Repeat([]byte("k"), 32)

func TestPlanIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.plan")
	made := sample()
	if err := made.Save(path, key); err != nil {
		t.Fatal(err)
	}
	printed := sample()
	if err := printed.Write(io.Discard, key); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Load(path, key)
	if err != nil || made.Sum != p.Sum || printed.Sum != p.Sum || len(p.Writes) != 1 || p.Writes[0].Name != "North" || p.Sum == "" || !p.Own {
		t.Fatal(p, err)
	}
	if h, own, err := plan.LoadHead(path, key); err != nil || !own || h.ID != p.ID || !h.Made.Equal(p.Made) {
		t.Error(h, err)
	}
	for name, other := range map[string][]byte{"no key": nil, "another key": bytes.Repeat([]byte("l"), 32)} {
		if p, err := plan.Load(path, other); err != nil || p.Own {
			t.Error(name, p, err)
		}
		if _, own, err := plan.LoadHead(path, other); err != nil || own {
			t.Error(name, own, err)
		}
	}
}

// The id of a plan names the files of its run: one that leads elsewhere is refused.
func TestPlansThatCannotBeUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.plan")
	for _, test := range []struct {
		change func(p *plan.Plan)
		text   func(text []byte) []byte
		want   string
	}{
		{change: func(p *plan.Plan) { p.ID = "../../etc/passwd" }, want: "its id is invalid"},
		{change: func(p *plan.Plan) { p.ID = "plan-20260501-100000-0a1b2c/../x" }, want: "its id is invalid"},
		{text: func(text []byte) []byte { return bytes.Replace(text, []byte(`_plan":2`), []byte(`_plan":9`), 1) }, want: "another version"},
		{text: func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"name":"North"}`), []byte(`"name":"South"}`), 1)
		}, want: "does not say what it would send"},
		{text: func(text []byte) []byte { return text[:len(text)/2] }, want: ""},
		{text: func([]byte) []byte { return nil }, want: "not a plan"},
		{text: func([]byte) []byte { return []byte("{}\n") }, want: "not a plan"},
	} {
		p := sample()
		if test.change != nil {
			test.change(p)
		}
		var text bytes.Buffer
		if err := p.Write(&text, key); err != nil {
			t.Fatal(err)
		}
		written := text.Bytes()
		if test.text != nil {
			written = test.text(written)
		}
		if err := os.WriteFile(path, written, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Load(path, key); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.want, err)
		}
		if _, _, err := plan.LoadHead(path, key); test.change != nil && err == nil {
			t.Errorf("the head with the id %s is taken", p.ID)
		}
	}
}
