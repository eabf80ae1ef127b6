package platform

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client"
	"transect/client/fault"
	"transect/client/schema"
)

// connect opens a connection to a platform.
func connect(t testing.TB, p *Platform) *client.Client {
	return connectOver(t, p, p.RoundTripper(), nil)
}

// overlaid opens a connection through an overlay.
func overlaid(t testing.TB, p *Platform, network http.RoundTripper) *client.Client {
	return connectOver(t, p, network, func(base string, below http.RoundTripper) (http.RoundTripper, error) {
		over, err := NewOverlay(below, base)
		t.Cleanup(func() { over.Close() })
		return over, err
	})
}

func connectOver(t testing.TB, p *Platform, network http.RoundTripper,
	over func(string, http.RoundTripper) (http.RoundTripper, error)) *client.Client {
	t.Helper()
	made := p.Credentials()
	o := client.Options{RoundTripper: network, Over: over}
	c, err := client.New(context.Background(), client.Settings{URL: Address, User: made.User, Password: made.Password,
		ClientID: made.ClientID, ClientSecret: made.ClientSecret}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func memory(t testing.TB) *Platform {
	t.Helper()
	p, err := Open(context.Background(), Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// world is a platform as a sequence of operations finds it: with names in place of ids.
type world struct {
	c        *client.Client
	projects []client.ID
	datasets []client.ID
}

func (w *world) named(records []client.Dataset) (names []string) {
	for _, d := range records {
		names = append(names, fmt.Sprint(d.Name, " ", d.Type, " ", d.Hidden))
	}
	return names
}

// step does one operation, and tells what came of it without ids and dates.
func (w *world) step(kind, a, b int) string {
	ctx := context.Background()
	told := func(err error, what ...any) string {
		if err != nil {
			return fmt.Sprint("status ", fault.Status(err))
		}
		return fmt.Sprint(what...)
	}
	project := func() client.ID { return w.projects[a%len(w.projects)] }
	dataset := func() client.ID { return w.datasets[a%len(w.datasets)] }
	switch {
	case len(w.projects) == 0 || kind == 0:
		p, err := w.c.Projects.FindOrCreate(ctx, client.FindOrCreateProject{Name: fmt.Sprint("project ", a%5)})
		if err == nil && p.Created {
			w.projects = append(w.projects, client.ID(p.Resource.ID))
		}
		return told(err, p.Created, p.Resource.Name)
	case len(w.datasets) == 0 || kind <= 2:
		d, err := w.c.Datasets.CreateDatasets(ctx, client.CreateDatasets{Datasets: []client.Object{
			{"name": fmt.Sprint("d", b%7), "type": "file", "project": string(project()), "properties": map[string]any{"n": a},
				"components": []any{map[string]any{"name": "file"}}}}})
		if err == nil {
			w.datasets = append(w.datasets, client.ID(d[0].ID))
		}
		return told(err, w.named(d))
	case kind == 3:
		_, err := w.c.Datasets.Rename(ctx, client.Rename{Ref: client.Ref{ID: dataset()}, Name: fmt.Sprint("r", b%9)})
		return told(err, "renamed")
	case kind == 4:
		_, err := w.c.Datasets.Delete(ctx, client.DatasetList{Dataset: client.IDs{string(dataset())}})
		return told(err, "deleted")
	case kind == 5:
		_, err := w.c.Datasets.Restore(ctx, client.DatasetList{Dataset: client.IDs{string(dataset())}})
		return told(err, "restored")
	case kind == 6:
		d, err := w.c.Datasets.Describe(ctx, client.Refs{IDs: client.IDs{string(dataset())}})
		return told(err, w.named(d))
	case kind == 7:
		p, err := w.c.Projects.UpdateName(ctx, client.Rename{Ref: client.Ref{ID: project()}, Name: fmt.Sprint("project ", b%5)})
		return told(err, p.Name)
	}
	return w.search(ctx, kind, a, b)
}

// search is a page of a search with a filter and an order.
func (w *world) search(ctx context.Context, kind, a, b int) string {
	limit, page := 1+a%7, 1+b%4
	q := client.DatasetQuery{Query: client.Query{Limit: &limit, Page: &page}}
	filters := []client.Filter{nil, {"name": map[string]any{"$eq": fmt.Sprint("d", b%7)}},
		{"project": map[string]any{"$eq": string(w.projects[a%len(w.projects)])}},
		{"properties.n": map[string]any{"$gte": b % 50}},
		{"$or": []any{map[string]any{"name": map[string]any{"$match": "r"}}, map[string]any{"properties.n": map[string]any{"$lt": 20}}}}}
	q.Filter = filters[b%len(filters)]
	orders := []schema.Sort{nil, {{Attribute: "name", Direction: 1}}, {{Attribute: "name", Direction: -1}},
		{{Attribute: "properties.n", Direction: 1}, {Attribute: "name", Direction: -1}}}
	q.Sort = orders[a%len(orders)]
	q.ReturnTotal = true
	found, err := w.c.Datasets.Search.Page(ctx, q)
	if err != nil {
		return fmt.Sprint("status ", fault.Status(err))
	}
	return fmt.Sprint(found.Total, w.named(found.Results))
}

// What a script sees through an overlay is what it would see had its writes been
// carried out, and the platform below is as it was.
func TestOverlayIsLikeThePlatform(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		below, direct := memory(t), memory(t)
		defer below.Close()
		defer direct.Close()
		filled, plain := &world{c: connect(t, below)}, &world{c: connect(t, direct)}
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [3]int {
			return [3]int{rapid.IntRange(0, 14).Draw(r, "kind"), rapid.IntRange(0, 60).Draw(r, "a"), rapid.IntRange(0, 60).Draw(r, "b")}
		}), 10, 60).Draw(r, "steps")
		half := len(steps) / 2
		for _, s := range steps[:half] { // what is there before
			filled.step(s[0], s[1], s[2])
			plain.step(s[0], s[1], s[2])
		}
		before := filled.everything(t)
		laid := &world{c: overlaid(t, below, below.RoundTripper()), projects: slices.Clone(filled.projects), datasets: slices.Clone(filled.datasets)}
		for i, s := range steps[half:] {
			want, got := plain.step(s[0], s[1], s[2]), laid.step(s[0], s[1], s[2])
			if got != want {
				r.Fatalf("step %d, %v: through the overlay\n%s\non the platform itself\n%s", i, s, got, want)
			}
		}
		if after := filled.everything(t); after != before {
			r.Fatalf("the platform below was changed:\n%s\nwas\n%s", after, before)
		}
	})
}

// everything is all that is on a platform.
func (w *world) everything(t testing.TB) (text string) {
	t.Helper()
	for d, err := range w.c.Datasets.Search.All(t.Context(), client.DatasetQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		text += string(d.JSON()) + "\n"
	}
	for p, err := range w.c.Projects.Search.All(t.Context(), client.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		text += string(p.JSON()) + "\n"
	}
	return text
}

// losing loses requests of an operation, until none is left to lose.
type losing struct {
	http.RoundTripper
	route string
	left  int
}

func (l *losing) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, l.route) || l.left == 0 {
		return l.RoundTripper.RoundTrip(req)
	}
	if l.left--; l.left%2 == 0 {
		return answerJSON(req, http.StatusBadGateway, nil)
	}
	return nil, io.ErrUnexpectedEOF
}

// What the platform below does not answer is asked for again, for writes too: nothing
// was carried out.
func TestOverlayOverABadNetwork(t *testing.T) {
	below := memory(t)
	lost := &losing{RoundTripper: below.RoundTripper()}
	c := overlaid(t, below, lost)
	company := client.ID(below.Credentials().Company)
	lost.route, lost.left = "describe-user", 2
	project, err := c.Projects.Create(t.Context(), client.CreateProject{Name: "Quarry", Company: company})
	if err != nil {
		t.Fatal(err)
	}
	if lost.left > 0 || project.Company != string(company) {
		t.Errorf("%d requests left to lose; %v", lost.left, project)
	}
	real, err := connect(t, below).Projects.Create(t.Context(), client.CreateProject{Name: "Field", Company: company})
	if err != nil {
		t.Fatal(err)
	}
	lost.route, lost.left = "describe-project", 2
	mission, err := c.Missions.Create(t.Context(), client.CreateMissionOrSurvey{Project: client.ID(real.ID), Name: "May",
		SurveyDate: "2026-05-01T00:00:00Z"})
	if err != nil || lost.left > 0 {
		t.Errorf("%d requests left to lose; %v, %v", lost.left, mission, err)
	}
}
