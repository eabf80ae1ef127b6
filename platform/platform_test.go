package platform

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"transect/platform/internal/store"
)

func TestTokens(t *testing.T) {
	now := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	s := start(t, Options{Now: func() time.Time { return now }})
	c := s.p.Credentials()

	for _, a := range []answer{
		s.obtain(store.Doc{"grant_type": "client_credentials"}, c.ClientID, c.ClientSecret),
		s.obtain(store.Doc{"grant_type": "password", "username": c.User, "password": c.Password}, "x", "None"),
	} {
		if a.status != 200 || store.Text(a.doc, "token_type") != "Bearer" || a.doc["expires_in"] == nil ||
			store.Text(a.doc, "refresh_token") == "" || store.Text(a.doc, "access_token") == "" {
			t.Errorf("token answer %d %s", a.status, a.text)
		}
	}
	for _, refused := range []struct {
		body   store.Doc
		secret string
		status int
	}{
		{store.Doc{"grant_type": "password", "username": c.User, "password": "wrong"}, "x", 401},
		{store.Doc{"grant_type": "password", "username": c.User, "password": nil}, "x", 401},
		{store.Doc{"grant_type": "client_credentials"}, "wrong", 401},
		{store.Doc{"grant_type": "refresh_token"}, c.ClientSecret, 400},
		{store.Doc{}, c.ClientSecret, 400},
	} {
		s.expect(s.obtain(refused.body, c.ClientID, refused.secret), refused.status, "")
	}

	described := s.ok("dxauth/describe-token", store.Doc{})
	if store.Text(described, "company") != s.company {
		t.Errorf("token describes as %v", described)
	}
	good := s.token
	for _, bad := range []string{"", "nonsense"} {
		s.token = bad
		s.refused(401, "", "dxauth/describe-user", store.Doc{})
	}
	s.token = good
	s.ok("dxauth/describe-user", store.Doc{})
	now = now.Add(4*time.Hour - time.Second)
	s.ok("dxauth/describe-user", store.Doc{})
	now = now.Add(time.Second)
	s.refused(401, "expired", "dxauth/describe-user", store.Doc{})

	fresh := logIn(t, s.p, s.base, s.http)
	fresh.ok("dxauth/oauth2/revoke", store.Doc{})
	fresh.refused(401, "revoked", "dxauth/describe-user", store.Doc{})
}

func TestRoutesThatAreNot(t *testing.T) {
	s := start(t, Options{})
	s.expect(s.get("/project-manager/nothing"), 404, "no route")
	s.expect(s.get("/project-manager/search-projects"), 405, "POST requests only")
	s.expect(s.do(s.request("POST", "/project-manager/search-projects", strings.NewReader("{"))), 400, "not JSON")
	s.expect(s.do(s.request("POST", "/project-manager/search-projects", strings.NewReader("[]"))), 400, "JSON object")
}

func TestProjectsAndMissions(t *testing.T) {
	s := start(t, Options{})
	project := s.project("Vineyard Été")
	mission, flight := s.survey(project, 18)
	empty := store.Text(s.ok("project-manager/missions", store.Doc{"project": project, "survey_date": "2024-05-02T10:00:00.000Z"}), "mission._id")

	doc := s.ok("project-manager/describe-project", store.Doc{"project": project})
	if list := doc["missions"].([]any); len(list) != 2 || list[0] != mission || list[1] != empty {
		t.Errorf("missions of the project: %v", list)
	}
	doc = s.ok("project-manager/describe-mission", store.Doc{"mission": mission})
	if list := doc["flights"].([]any); len(list) != 1 || list[0] != flight || doc["survey_date"] != "2024-05-01T00:00:00.000Z" {
		t.Errorf("mission: %v", doc)
	}
	doc = s.ok("project-manager/describe-flight", store.Doc{"flight": flight})
	if store.Text(doc, "status.name") != "uploading" || doc["number_of_photos"].(interface{ String() string }).String() != "18" {
		t.Errorf("flight: %v", doc)
	}
	s.ok("project-manager/update-flight-status", store.Doc{"flight": flight, "status": "completed"})
	s.refused(400, "status", "project-manager/update-flight-status", store.Doc{"flight": flight, "status": "done"})
	s.ok("project-manager/update-project-name", store.Doc{"project": project, "name": "renamed"})
	s.ok("project-manager/projects/update/"+project, store.Doc{"project": project, "status": "maintenance"})
	s.ok("project-manager/update-project-units", store.Doc{"project": project, "units": store.Doc{"distances": "meters"}})
	s.refused(400, "units.weights", "project-manager/update-project-units", store.Doc{"project": project, "units": store.Doc{"weights": "kg"}})
	s.refused(400, "geometry", "project-manager/update-project-geometry", store.Doc{"project": project, "geometry": store.Doc{"type": "Point", "coordinates": []any{"a"}}})

	s.refused(404, "does not exist", "project-manager/describe-project", store.Doc{"project": strings.Repeat("0", 24)})
	s.refused(400, "project", "project-manager/describe-project", store.Doc{"project": "short"})
	s.refused(404, "company", "project-manager/projects", store.Doc{"name": "x", "company": strings.Repeat("0", 24)})
	s.refused(400, "_id", "project-manager/projects", store.Doc{"name": "x", "company": s.company, "_id": "1"})

	s.ok("project-manager/missions/delete-survey", store.Doc{"mission": empty})
	s.refused(404, empty, "project-manager/describe-missions", store.Doc{"missions": []any{mission, empty}})
	a := s.do(s.request(http.MethodDelete, "/project-manager/projects/"+project, nil))
	if a.status != 200 {
		t.Fatalf("delete: %d %s", a.status, a.text)
	}
	s.refused(404, project, "project-manager/describe-project", store.Doc{"project": project})
	s.refused(404, mission, "project-manager/describe-mission", store.Doc{"mission": mission})
	if found := s.ok("project-manager/search-missions", store.Doc{"filter": store.Doc{"project": project}}); len(found["results"].([]any)) != 0 {
		t.Errorf("missions of a deleted project: %v", found)
	}
}

func TestSearch(t *testing.T) {
	s := start(t, Options{})
	for _, name := range []string{"b", "a", "c", "Été", "e"} {
		s.project(name)
	}
	names := func(body store.Doc) string {
		t.Helper()
		var all []string
		for _, r := range s.ok("project-manager/search-projects", body)["results"].([]any) {
			all = append(all, store.Text(r.(store.Doc), "name"))
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		body store.Doc
		want string
	}{
		{store.Doc{"filter": store.Doc{}}, "b a c Été e"},
		{store.Doc{"filter": nil, "limit": 2}, "b a"},
		{store.Doc{"limit": 2, "page": 1}, "b a"},
		{store.Doc{"limit": 2, "page": 3}, "e"},
		{store.Doc{"limit": 2, "page": 4}, ""},
		{store.Doc{"sort": store.Doc{"name": -1}, "limit": 3}, "Été e c"},
		{store.Doc{"filter": store.Doc{"search": "éT"}}, "Été"},
		{store.Doc{"filter": store.Doc{"search": store.Doc{"$match": "É"}, "name": store.Doc{"$in": []any{"a", "Été"}}}}, "Été"},
		{store.Doc{"filter": store.Doc{"name": store.Doc{"$in": []any{"a", "e"}}}}, "a e"},
	} {
		if got := names(c.body); got != c.want {
			t.Errorf("%v: %q, want %q", c.body, got, c.want)
		}
	}
	doc := s.ok("project-manager/search-projects", store.Doc{"limit": 1, "fields": store.Doc{"include": []any{"name"}}})
	first := doc["results"].([]any)[0].(store.Doc)
	if len(first) != 2 || first["_id"] == nil || first["name"] != "b" || doc["total"].(interface{ String() string }).String() != "5" {
		t.Errorf("page %v", doc)
	}
	newest := s.ok("project-manager/search-projects", store.Doc{"sort": store.Doc{"_id": -1}, "limit": 1})["results"].([]any)[0].(store.Doc)
	if got := names(store.Doc{"sort": store.Doc{"_id": -1}, "limit": 2, "filter": store.Doc{"_id": store.Doc{"$lt": newest["_id"]}}}); got != "Été c" {
		t.Errorf("keyset page %q", got)
	}
	for _, c := range []struct {
		body store.Doc
		want string
	}{
		{store.Doc{"page": 0}, "page"},
		{store.Doc{"limit": "ten"}, "limit"},
		{store.Doc{"sort": store.Doc{"name": "up"}}, "sort.name"},
		{store.Doc{"filter": store.Doc{"name": store.Doc{"$mach": "x"}}}, "did you mean $match?"},
		{store.Doc{"fields": store.Doc{"include": []any{"a"}, "exclude": []any{"b"}}}, "fields.exclude"},
		{store.Doc{"filter": []any{}}, "filter"},
		{store.Doc{"filtre": store.Doc{}}, "filtre: is not an argument of this request; did you mean filter?"},
	} {
		s.refused(400, c.want, "project-manager/search-projects", c.body)
	}
	if doc := s.ok("data-manager/search-datasets", store.Doc{"page": 0, "count": false}); doc["total"] == nil {
		t.Errorf("datasets: %v", doc)
	}
}
