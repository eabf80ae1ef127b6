package bindings_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/lookup"
	"transect/platform"
)

// another is a second client of a platform, that of another run.
func another(t *testing.T, p *platform.Platform, o client.Options) *client.Client {
	t.Helper()
	c := p.Credentials()
	o.RoundTripper = p.RoundTripper()
	second, err := client.New(t.Context(), client.Settings{URL: platform.Address, User: c.User, Password: c.Password,
		ClientID: c.ClientID, ClientSecret: c.ClientSecret}, o)
	if err != nil {
		t.Fatal(err)
	}
	return second
}

// Two runs look for a project and a mission at the same moment, find nothing, and create
// them: both go on with the older one, and only an empty one of their own is deleted.
func TestTwins(t *testing.T) {
	const (
		before = iota // the other run creates its own before this one
		after
	)
	for _, c := range []struct {
		name    string
		when    int
		refuse  error // of the deletion
		deleted bool  // already, when this run deletes its own
		filled  bool  // by somebody, before that
		created bool
		left    int
		fails   string
	}{
		{name: "the other one is older", when: before, left: 1},
		{name: "this one is older", when: after, created: true, left: 2},
		{name: "its own is gone", when: before, deleted: true, left: 1},
		{name: "something is in its own", when: before, filled: true, created: true, left: 2},
		{name: "not allowed by the sandbox", when: before, refuse: &fault.PermissionError{}, left: 2},
		{name: "not allowed by the platform", when: before, refuse: &fault.ResponseError{Status: http.StatusForbidden}, left: 2},
		{name: "beyond the budget", when: before, refuse: &fault.LimitError{}, left: 2},
		{name: "not understood by the platform", when: before, refuse: &fault.ResponseError{Info: fault.Info{Message: "no such id"}, Status: http.StatusUnprocessableEntity}, left: 2, fails: "no such id"},
		{name: "the network fails", when: before, refuse: fault.Of(&fault.ConnectionError{}, "away"), left: 2, fails: "away"},
	} {
		for _, things := range []string{"projects", "missions"} {
			t.Run(c.name+", "+things, func(t *testing.T) {
				var w *world
				other, met := "", false
				link := func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
					switch call.Spec.FullName() {
					case things + ".create":
						if met || call.Args.Text("name") != "Twin" {
							break
						}
						met = true
						if c.when == after {
							defer func() { other = twin(t, w, things, call) }()
							break
						}
						other = twin(t, w, things, call)
						time.Sleep(2 * time.Millisecond) // dates of creation have milliseconds
						if c.filled {
							v, err := next(ctx, call)
							fill(t, w, things, made(v))
							return v, err
						}
					case things + ".delete":
						if c.deleted {
							if v, err := next(ctx, call); err != nil {
								return v, err
							}
						}
						if c.refuse != nil {
							return declare.Value{}, c.refuse
						}
					}
					return next(ctx, call)
				}
				w = newWorld(t, client.At(client.PlaceObserve, link))
				code := fmt.Sprintf(setup+`
local found, created = sdk.%s.find_or_create{ name = "Twin" %s }
print(found.id, created)`, things, map[string]string{"missions": ", project = project"}[things])
				_, err := w.in.RunString("test", code)
				if c.fails != "" {
					if err == nil || !strings.Contains(err.Error(), c.fails) {
						t.Fatalf("ended with %v", err)
					}
				} else if err != nil {
					t.Fatal(err)
				}
				out := w.out.String()
				if c.fails == "" && (strings.Contains(out, other) == c.created || strings.Contains(out, "true") != c.created) {
					t.Errorf("the other one is %s, printed: %s", other, out)
				}
				left := w.lua(t, fmt.Sprintf(`print(#require("sdk").%s.search{ filter = { name = "Twin" } })`, things))
				if got := strings.TrimSpace(left); got != fmt.Sprint(c.left) {
					t.Errorf("%s are left, not %d", got, c.left)
				}
			})
		}
	}
}

// twin creates by another client what a call creates.
func twin(t *testing.T, w *world, things string, call *declare.Call) string {
	t.Helper()
	v, err := another(t, w.platform, client.Options{}).Manager(things).Op("create").Invoke(t.Context(), call.Args)
	if err != nil {
		t.Error(err)
		return ""
	}
	return made(v)
}

// made is the id of what a call made.
func made(v declare.Value) string {
	if made, ok := v.Go.(client.Survey); ok {
		return made.Mission.ID
	}
	return gjson.GetBytes(v.JSON, "_id").Str
}

// fill puts a dataset into a project or a mission.
func fill(t *testing.T, w *world, things, id string) {
	t.Helper()
	in := client.CreateFileDataset{DatasetCommon: client.DatasetCommon{Name: "a.txt", Company: client.ID(w.platform.Credentials().Company)}}
	if things == "projects" {
		in.Project = client.ID(id)
	} else {
		in.Mission = client.ID(id)
	}
	if _, err := another(t, w.platform, client.Options{}).Datasets.CreateFileDataset(t.Context(), in); err != nil {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// A run that dies while it gives its twin up goes on with the same project afterwards, and
// deletes nothing in which there is something by then.
func TestTwinsOfARunThatDies(t *testing.T) {
	type accident struct {
		name, op  string
		how       death
		meanwhile func(t *testing.T, other *client.Client, own, older string)
		left      []string // of the projects of both
	}
	cases := []accident{
		{"sent again", "projects.create", beforeSent, nil, []string{"older"}},
		{"filled meanwhile", "projects.create", afterNoted, func(t *testing.T, other *client.Client, own, _ string) {
			mission(t, other, own)
		}, []string{"older", "own"}},
		{"the older one is renamed meanwhile", "projects.delete", afterNoted, func(t *testing.T, other *client.Client, _, older string) {
			if _, err := other.Projects.UpdateName(t.Context(), client.Rename{Ref: client.Ref{ID: client.ID(older)}, Name: "Other"}); err != nil {
				t.Error(err)
			}
		}, []string{"older"}},
	}
	for _, d := range append(deaths, never) {
		cases = append(cases, accident{"deletion, " + d.String(), "projects.delete", d, nil, []string{"older"}})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newLostRun(t, c.op, `local sdk = require("sdk")
local twin = sdk.projects.find_or_create{ name = "Twin" }
sdk.missions.create{ project = twin, name = "May", survey_date = "2026-05-31", number_of_images = 0 }`, nil)
			defer r.close()
			other := another(t, r.platform, client.Options{})
			below, older := r.transparency, ""
			r.transparency = roundTrip(func(q *http.Request) (*http.Response, error) {
				if older == "" && strings.HasSuffix(q.URL.Path, "/projects") {
					project, err := other.Projects.Create(t.Context(),
						client.CreateProject{Name: "Twin", Company: client.ID(r.platform.Credentials().Company)})
					if err != nil {
						t.Error(err)
					}
					older = project.ID
					time.Sleep(2 * time.Millisecond)
				}
				return below.RoundTrip(q)
			})
			_ = r.start(c.how, 1)
			if c.how != never && !r.dead.Load() {
				t.Fatal("it did not die")
			}
			own := func() (id string) {
				for _, p := range projects(t, other) {
					if p.ID != older {
						id = p.ID
					}
				}
				return id
			}
			if c.meanwhile != nil {
				c.meanwhile(t, other, own(), older)
				r.ahead.Store(int64(24 * time.Hour))
			}
			if err := r.start(never, 0); err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, p := range projects(t, other) {
				left = append(left, map[bool]string{true: "older", false: "own"}[p.ID == older])
			}
			if slices.Sort(left); !slices.Equal(left, c.left) || len(r.doubles) > 0 {
				t.Errorf("left: %v; told as done twice: %v", left, r.doubles)
			}
			within := older
			if id := own(); id != "" {
				within = id
			}
			missions, err := other.Missions.Search.Page(t.Context(), client.Query{Filter: client.Filter{"project": map[string]any{"$eq": within}}})
			if err != nil || len(missions.Results) == 0 {
				t.Errorf("no mission in it: %v", err)
			}
		})
	}
}

func projects(t *testing.T, c *client.Client) []client.Project {
	t.Helper()
	page, err := c.Projects.Search.Page(t.Context(), client.Query{})
	if err != nil {
		t.Error(err)
	}
	return page.Results
}

func mission(t *testing.T, c *client.Client, project string) {
	t.Helper()
	if _, err := c.Missions.Create(t.Context(), client.CreateMissionOrSurvey{Project: client.ID(project), Name: "June", SurveyDate: "2026-06-30"}); err != nil {
		t.Error(err)
	}
}

// Who looks for a name while a younger twin is about to be deleted waits for that.
func TestTwinsAreWaitedFor(t *testing.T) {
	ago := time.Duration(0)
	now := func() time.Time { return time.Now().Add(-ago) }
	p, err := platform.Open(t.Context(), platform.Options{Memory: true, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first := another(t, p, client.Options{})
	create := func(c *client.Client) string {
		made, err := c.Projects.Create(t.Context(), client.CreateProject{Name: "Twin", Company: client.ID(p.Credentials().Company)})
		if err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	older, younger, waits := create(first), create(first), 0
	second := another(t, p, client.Options{Sleep: func(ctx context.Context, _ time.Duration) error {
		if waits++; waits == 2 && younger != "" {
			_, err := first.Projects.Delete(ctx, client.ProjectID{Project: client.ID(younger)})
			return err
		}
		return nil
	}})
	found, err := second.Projects.FindOrCreate(t.Context(), client.FindOrCreateProject{Name: "Twin"})
	if err != nil || found.Created || found.Resource.ID != older || waits != 2 {
		t.Errorf("found %v after %d looks, %v", found, waits, err)
	}
	younger, waits = create(first), 0
	record, err := lookup.In(second).Project(t.Context(), "Twin", lookup.Options{})
	if err != nil || record.ID() != older {
		t.Errorf("looked up %v, %v", record, err)
	}
	create(first)
	younger = ""
	if _, err = lookup.In(second).Project(t.Context(), "Twin", lookup.Options{}); err == nil || !strings.Contains(err.Error(), "several projects") {
		t.Errorf("twins that stay: %v", err)
	}
	if waits != 2+4 {
		t.Errorf("looked %d times", waits)
	}
	ago, waits = time.Hour, 0
	for range 2 {
		if _, err := first.Projects.Create(t.Context(), client.CreateProject{Name: "Old", Company: client.ID(p.Credentials().Company)}); err != nil {
			t.Fatal(err)
		}
	}
	ago = 0
	if _, err = lookup.In(second).Project(t.Context(), "Old", lookup.Options{}); err == nil || waits > 0 {
		t.Errorf("old ones of one name: %v, waited %d times", err, waits)
	}
}
