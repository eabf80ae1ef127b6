package recovery_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
)

const goldenFile = "testdata/fingerprints.txt"

// golden is a write with arguments, and its fingerprint.
type golden struct{ op, args, print string }

func goldens(t *testing.T) (list []golden, head string) {
	file, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		if line := s.Text(); strings.HasPrefix(line, "#") {
			head += line + "\n"
			continue
		}
		op, rest, _ := strings.Cut(s.Text(), " ")
		args, print := rest, ""
		if i := strings.LastIndexByte(rest, ' '); !strings.HasSuffix(rest, "}") {
			args, print = rest[:i], rest[i+1:]
		}
		list = append(list, golden{op, args, print})
	}
	return list, head
}

// The fingerprint of each write stays what it was: a run goes on with another
// version of the program.
func TestFingerprints(t *testing.T) {
	list, text := goldens(t)
	p := newPrinter(t)
	missing, seen := false, map[string]bool{}
	for _, g := range list {
		seen[g.op] = true
		print := p.of(g.op, decode(t, g.args))
		if g.print == "" {
			g.print, missing = print, true
		}
		if print != g.print {
			t.Errorf("%s has the fingerprint %s, not %s", g.op, print, g.print)
		}
		text += fmt.Sprintln(g.op, g.args, g.print)
	}
	if missing && os.Getenv("TRANSECT_UPDATE") != "" {
		if err := os.WriteFile(goldenFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if missing {
		t.Error("there are writes without a fingerprint: run this test with TRANSECT_UPDATE=1")
	}
	for _, s := range writes() {
		if !seen[s.FullName()] {
			t.Errorf("%s is not in %s", s.FullName(), goldenFile)
		}
	}
}

func writes() (list []*declare.Spec) {
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			if s.Effect != declare.Read && s.Unknown.Rule != declare.NoRequest {
				list = append(list, s)
			}
		}
	}
	return list
}

func decode(t *testing.T, text string) map[string]any {
	var values map[string]any
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(text, err)
	}
	return values
}

const (
	anID      = "6b033c5f8716b6a0412e80a1"
	anotherID = "6b033c5f8716b6a0412e80a2"
)

// What says the same has one fingerprint, however it is said; what says anything
// else has another one.
func TestFingerprintsTellWhatIsSaid(t *testing.T) {
	p := newPrinter(t)
	list, _ := goldens(t)
	same, other := 0, 0
	for _, g := range list {
		spec := p.spec(g.op)
		want := p.of(g.op, decode(t, g.args))
		if want == "" {
			t.Fatalf("%s is refused", g.op)
		}
		alike := func(how string, change func(values map[string]any)) {
			values := decode(t, g.args)
			change(values)
			if got := p.of(g.op, values); got != want && got != "" {
				t.Errorf("%s: another fingerprint with %s", g.op, how)
			} else if got != "" {
				same++
			}
		}
		unlike := func(how string, values map[string]any) {
			if got := p.of(g.op, values); got == want {
				t.Errorf("%s: the same fingerprint with %s", g.op, how)
			} else if got != "" {
				other++
			}
		}
		for i := range spec.Params {
			param := &spec.Params[i]
			v, given := decode(t, g.args)[param.Name]
			if !given && param.Default != nil {
				alike("the default of "+param.Name, func(values map[string]any) { values[param.Name] = param.Default })
			}
			if text, ok := v.(string); ok && param.Type == "date" && len(text) == len(time.DateOnly) {
				for _, end := range []string{"T00:00:00Z", "T00:00:00.000Z", "T02:00:00+02:00", "T02:00+0200"} {
					alike(param.Name+" at "+end, func(values map[string]any) { values[param.Name] = text + end })
				}
			}
			if text, ok := v.(string); ok && (param.Type == "id" || param.Type == "id|[]id") {
				alike(param.Name+" as a table", func(values map[string]any) { values[param.Name] = map[string]any{"_id": text, "name": "n"} })
			}
			two := []any{anID, anotherID}
			if strings.HasSuffix(string(param.Type), "[]string") {
				two = []any{"b", "a"}
			}
			if list, ok := v.([]any); ok && !param.Set && len(list) > 1 {
				turned := decode(t, g.args)
				slices.Reverse(turned[param.Name].([]any))
				unlike(param.Name+" in another order", turned)
			}
			if !param.Set || strings.HasPrefix(param.Name, "file_path") || !strings.HasSuffix(string(param.Type), "[]id") && !strings.HasSuffix(string(param.Type), "[]string") {
				continue
			}
			values := decode(t, g.args)
			values[param.Name] = two
			set := p.of(g.op, values)
			values[param.Name] = []any{two[1], two[0], two[1]}
			if got := p.of(g.op, values); got != set {
				t.Errorf("%s: another fingerprint when the set %s is in another order", g.op, param.Name)
			} else if got != "" {
				same++
			}
		}
		for _, values := range changed(decode(t, g.args)) {
			unlike(fmt.Sprint(values), values.(map[string]any))
		}
		if !spec.NoExtra {
			values := decode(t, g.args)
			extra, _ := values["extra"].(map[string]any)
			values["extra"] = maps.Clone(extra)
			if extra == nil {
				values["extra"] = map[string]any{}
			}
			values["extra"].(map[string]any)["of_mine"] = 1
			unlike("an extra argument", values)
		}
	}
	if same < 200 || other < 500 {
		t.Errorf("only %d that are alike and %d that are not were tried", same, other)
	}
	t.Logf("%d alike, %d unlike", same, other)
}

// changed are all values that differ from v in one place.
func changed(v any) (all []any) {
	switch v := v.(type) {
	case string:
		if len(v) == len(anID) && !strings.ContainsAny(v, " .") {
			return []any{anID}
		}
		if day, err := time.Parse(time.DateOnly, v); err == nil {
			return []any{day.AddDate(0, 0, 1).Format(time.DateOnly)}
		}
		return []any{v + "x", strings.ToUpper(v) + " "}
	case float64:
		return []any{v + 1}
	case bool:
		return []any{!v}
	case []any:
		for i := range v {
			for _, one := range changed(v[i]) {
				list := slices.Clone(v)
				list[i] = one
				all = append(all, list)
			}
		}
		return append(all, v[:len(v)-1])
	case map[string]any:
		for key := range v {
			without := maps.Clone(v)
			delete(without, key)
			all = append(all, without)
			for _, one := range changed(v[key]) {
				object := maps.Clone(v)
				object[key] = one
				all = append(all, object)
			}
		}
	}
	return all
}

// printer finds the fingerprints of calls: its platform refuses all of them.
type printer struct {
	*testing.T
	c      *client.Client
	ledger *ledger.Ledger
	dir    string
}

func newPrinter(t *testing.T) *printer {
	p := &printer{T: t, dir: t.TempDir()}
	var err error
	p.c, err = client.New(context.Background(), client.Settings{URL: "http://platform.example", AccessToken: "t"}, client.Options{RoundTripper: p,
		Links: []client.Link{recovery.Link(recovery.Options{Ledger: func() (*ledger.Ledger, error) { return p.ledger, nil },
			Key: func() ([]byte, error) { return []byte("key"), nil }})}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// RoundTrip implements http.RoundTripper.
func (p *printer) RoundTrip(q *http.Request) (*http.Response, error) {
	return response(q, http.StatusBadRequest, "{}"), nil
}

func response(q *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: q}
}

func (p *printer) spec(op string) *declare.Spec {
	manager, name, _ := strings.Cut(op, ".")
	return p.c.Manager(manager).Op(name)
}

// open takes the ledger of a run.
func (p *printer) open(run string) {
	if p.ledger != nil {
		if p.ledger.Run() == run {
			return
		}
		_ = p.ledger.Close()
	}
	var err error
	if p.ledger, err = ledger.OpenRun(p.dir, run, ledger.Start{}); err != nil {
		p.Fatal(err)
	}
}

// of is the fingerprint of a call, "" of one that is refused for its arguments.
func (p *printer) of(op string, values map[string]any) string {
	p.open(op)
	args := declare.Args{Values: maps.Clone(values)}
	if extra, ok := values["extra"].(map[string]any); ok {
		args.Extra = extra
		delete(args.Values, "extra")
	}
	p.makeFiles(args.Values)
	before := p.last()
	_, err := p.spec(op).Invoke(recovery.Again(context.Background()), args)
	after := p.last()
	switch {
	case before.Seq != after.Seq:
		return after.Print.String()
	case err == nil, errors.As(err, new(*fault.ResponseError)):
		p.Fatalf("%s %v was not noted: %v", op, values, err)
	}
	return ""
}

func (p *printer) last() (last ledger.Intent) {
	if err := p.ledger.All(func(i ledger.Intent, _ *ledger.Result) error {
		if i.Parent == 0 {
			last = i
		}
		return nil
	}); err != nil {
		p.Fatal(err)
	}
	return last
}

// makeFiles makes the files that arguments name, and puts them into a folder.
func (p *printer) makeFiles(values any) {
	switch v := values.(type) {
	case []any:
		for _, one := range v {
			p.makeFiles(one)
		}
	case map[string]any:
		for name, inner := range v {
			if strings.HasPrefix(name, "file_path") {
				v[name] = p.files(inner)
			} else {
				p.makeFiles(inner)
			}
		}
	}
}

func (p *printer) files(v any) any {
	if list, many := v.([]any); many {
		paths := make([]any, len(list))
		for i := range list {
			paths[i] = p.files(list[i])
		}
		return paths
	}
	name := fmt.Sprint(v)
	if filepath.IsAbs(name) { // of a table that is in several arguments
		return name
	}
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
		p.Fatal(err)
	}
	return path
}
