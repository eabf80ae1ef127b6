package platform_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/platform"
)

// connect opens a platform over real HTTP and a client to it.
func connect(t *testing.T) *client.Client {
	t.Helper()
	ctx := context.Background()
	p, err := platform.Open(ctx, platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	login := p.Credentials()
	c, err := client.New(ctx, client.Settings{URL: server.URL, User: login.User, Password: login.Password,
		ClientID: login.ClientID, ClientSecret: login.ClientSecret}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const nobody = "0123456789abcdef01234567" // an identifier of nothing

// plausible makes a value that passes an argument's own check.
func plausible(p *schema.Param) any {
	if len(p.Choices) > 0 {
		return p.Choices[0]
	}
	switch name := p.Type.String(); {
	case name == "id", name == "id or list of ids":
		return nobody
	case name == "string or list of strings", name == "string", name == "path":
		return "text"
	case name == "date":
		return "2026-05-31"
	case name == "integer":
		return int64(1)
	case name == "number":
		return 0.5
	case name == "boolean":
		return true
	case name == "geometry":
		return map[string]any{"type": "Point", "coordinates": []any{4.0, 50.0}}
	case strings.HasPrefix(name, "list of"):
		return []any{}
	}
	table := map[string]any{}
	for i := range p.Fields {
		if key := &p.Fields[i]; key.Required() {
			table[key.Name] = plausible(key)
		}
	}
	return table
}

// wrongly makes a value no check lets pass, or false where any value may.
func wrongly(p *schema.Param) (any, bool) {
	switch name := p.Type.String(); {
	case name == "any":
		return nil, false
	case name == "boolean":
		return "yes", true
	case strings.HasPrefix(name, "list of"), strings.HasPrefix(name, "id"), strings.HasPrefix(name, "string"), name == "path", name == "date":
		return 3.5, true
	}
	return "text", true
}

func required(s *declare.Spec) declare.Args {
	a := declare.Args{Values: map[string]any{}}
	for i := range s.Params {
		if p := &s.Params[i]; p.Required() {
			a.Values[p.Name] = plausible(p)
		}
	}
	return a
}

func with(a declare.Args, name string, v any) declare.Args {
	out := declare.Args{Values: map[string]any{}}
	for k, e := range a.Values {
		out.Values[k] = e
	}
	if out.Values[name] = v; v == nil {
		delete(out.Values, name)
	}
	return out
}

// TestEveryOperationRefusesMistakes gives each operation what cannot be right:
// a required argument missing, a misspelt one, one of the wrong type, and an
// identifier of nothing. Arguments that cannot be combined have the table below.
func TestEveryOperationRefusesMistakes(t *testing.T) {
	c := connect(t)
	ctx := context.Background()
	counts := map[string]int{}
	for _, m := range c.Managers() {
		for _, s := range m.Ops() {
			valid := required(s)
			refused := func(kind string, a declare.Args, mention string) {
				t.Helper()
				counts[kind]++
				_, err := s.Invoke(ctx, a)
				f := fault.Find(err)
				if f == nil {
					t.Errorf("%s, %s: got %v", s.FullName(), kind, err)
					return
				}
				var sent *fault.ResponseError
				if errors.As(err, &sent) {
					t.Errorf("%s, %s: it was sent: %v", s.FullName(), kind, err)
				}
				if !strings.HasPrefix(err.Error(), s.FullName()+": ") || !strings.Contains(err.Error(), mention) {
					t.Errorf("%s, %s: %q does not name the operation and %s", s.FullName(), kind, err, mention)
				}
			}
			for i := range s.Params {
				p := &s.Params[i]
				if p.Required() {
					refused("missing", with(valid, p.Name, nil), "argument "+p.Name+" is missing")
				}
				if v, ok := wrongly(p); ok {
					refused("wrong type", with(valid, p.Name, v), "argument "+p.Name)
				}
			}
			if len(s.Params) > 0 {
				misspelt := s.Params[0].Name + "q"
				refused("misspelt", with(valid, misspelt, 1), "unknown argument "+misspelt)
			}
			if s.NoExtra {
				refused("unknown", with(valid, "nonsense_of_mine", 1), "unknown argument nonsense_of_mine")
			} else {
				valid = with(valid, "nonsense_of_mine", 1) // travels as it is, and the platform does not mind
			}
			unknownID(t, ctx, s, valid, counts)
		}
	}
	t.Logf("refused: %v", counts)
}

// unknownID calls operations on one thing with the id of nothing.
func unknownID(t *testing.T, ctx context.Context, s *declare.Spec, valid declare.Args, counts map[string]int) {
	if len(s.Params) == 0 || !s.Params[0].Required() || s.Params[0].Type != "id" && s.Params[0].Type != "id|[]id" {
		return
	}
	if s.Deprecated != "" && s.Composed && len(s.Routes) == 0 {
		return // sends nothing any more
	}
	counts["unknown id"]++
	v, err := s.Invoke(ctx, valid)
	if err == nil && v.Stream != nil {
		_, _, err = v.Stream.Next(ctx)
	}
	var answer *fault.ResponseError
	switch {
	case errors.As(err, &answer):
		if answer.Status != 404 && answer.Status != 400 && answer.Status != 403 || strings.Contains(err.Error(), "nonsense_of_mine") {
			t.Errorf("%s, unknown id: status %d: %v", s.FullName(), answer.Status, err)
		}
	case fault.Find(err) != nil: // refused for another reason before it was sent
	default:
		t.Errorf("%s, unknown id: got %v", s.FullName(), err)
	}
}

// exclusive are arguments that do not go together.
var exclusive = []struct {
	operation string
	args      map[string]any
	name      string
}{
	{"missions.create_survey", map[string]any{"project": nobody, "survey_date": "2026-05-31", "number_of_images": 1, "coordinates": []any{}, "geometry": map[string]any{"type": "GeometryCollection", "geometries": []any{}}}, "QueryError"},
	{"datasets.create_vector_dataset", map[string]any{"name": "x", "project": nobody, "collection": nobody, "is_archive": true}, "ParameterError"},
	{"datasets.create_vector_dataset", map[string]any{"name": "x", "project": nobody, "is_shape_file": true, "is_archive": true}, "ParameterError"},
	{"projects.search", map[string]any{"fields": map[string]any{"include": []any{"name"}, "exclude": []any{"name"}}}, "SearchError"},
	{"analytics.search", map[string]any{"name": "x", "filter": map[string]any{"name": map[string]any{"$eq": "y"}}}, "ParameterError"},
	{"analytic_configurations.update", map[string]any{"configuration_set": nobody, "versions": []any{}, "value": map[string]any{}, "analytic_version_range": "*"}, "QueryError"},
}

func TestExclusiveArguments(t *testing.T) {
	c := connect(t)
	for _, e := range exclusive {
		manager, name, _ := strings.Cut(e.operation, ".")
		_, err := c.Manager(manager).Op(name).Invoke(context.Background(), declare.Args{Values: e.args})
		if f := fault.Find(err); f == nil || f.Name() != e.name {
			t.Errorf("%s%v: got %v, want a %s", e.operation, e.args, err, e.name)
		}
	}
}
