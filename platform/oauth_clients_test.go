package platform

import (
	"strings"
	"testing"
	"time"

	"transect/platform/internal/store"
)

func TestOAuthClients(t *testing.T) {
	now := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	s := start(t, Options{Now: func() time.Time { return now }})
	create := func(body store.Doc) (id, secret string) {
		t.Helper()
		body["client_type"] = "sdk"
		doc := s.ok("dxauth/create-client", body)
		id, secret = store.Text(doc, "client_id"), store.Text(doc, "client_secret")
		if id == "" || id != doc["_id"] || secret == "" {
			t.Fatalf("client %v", doc)
		}
		return id, secret
	}
	forever, secret := create(store.Doc{"name": "job"})
	brief, briefSecret := create(store.Doc{"name": "trial", "expiration_date": "2024-03-01T13:00:00.000Z"})

	// The secret is shown once, and kept as a hash only.
	a := s.post("dxauth/search-clients", store.Doc{})
	if strings.Contains(a.text, "secret") || strings.Contains(a.text, secret) || strings.Contains(a.text, "hash") {
		t.Errorf("search shows %s", a.text)
	}
	if got := s.found("dxauth/search-clients", store.Doc{"page": 1, "limit": 1, "sort": store.Doc{"name": -1}}, "name"); got != "trial" {
		t.Errorf("first page %q", got)
	}
	s.refused(400, "page", "dxauth/search-clients", store.Doc{"page": 0})

	grant := store.Doc{"grant_type": "client_credentials"}
	as := func(id, secret string) *site {
		t.Helper()
		a := s.obtain(grant, id, secret)
		if a.status != 200 {
			t.Fatalf("token: %d %s", a.status, a.text)
		}
		other := *s
		other.token = store.Text(a.doc, "access_token")
		return &other
	}
	job, trial := as(forever, secret), as(brief, briefSecret)
	if doc := job.ok("dxauth/describe-token", store.Doc{}); doc["client"] != forever || doc["user"] != s.p.secrets.UserID {
		t.Errorf("token %v", doc)
	}
	if doc := trial.ok("dxauth/describe-token", store.Doc{}); doc["expiration_date"] != "2024-03-01T13:00:00.000Z" {
		t.Errorf("token %v", doc)
	}
	for id, wrong := range map[string]string{forever: briefSecret, brief: "", nothing: secret, "x": "y"} {
		s.expect(s.obtain(grant, id, wrong), 401, "client id or secret is wrong")
	}

	now = now.Add(time.Hour)
	trial.refused(401, "expired", "dxauth/describe-user", store.Doc{})
	s.expect(s.obtain(grant, brief, briefSecret), 401, "expired")
	job.ok("dxauth/describe-user", store.Doc{})
	if doc := s.ok("dxauth/delete-client", store.Doc{"client": forever}); doc["_id"] != forever {
		t.Errorf("deleted %v", doc)
	}
	job.refused(401, "revoked", "dxauth/describe-user", store.Doc{})
	s.expect(s.obtain(grant, forever, secret), 401, "client id or secret is wrong")
	s.refused(404, forever, "dxauth/delete-client", store.Doc{"client": forever})
	if got := s.found("dxauth/search-clients", store.Doc{}, "name"); got != "trial" {
		t.Errorf("left are %q", got)
	}

	for want, body := range map[string]store.Doc{
		"name: is required":                              {"name": nil},
		"client_type":                                    {"client_type": "web"},
		"expiration_date: must be a date":                {"expiration_date": "soon"},
		"expiration_date: must be a date, and 25:00:00Z": {"expiration_date": "2030-01-31T25:00:00Z"},
		"is over already":                                {"expiration_date": "2020-01-01"},
		"company: must be an identifier":                 {"company": "c"},
	} {
		full := store.Doc{"name": "n", "client_type": "sdk"}
		for key, value := range body {
			full[key] = value
		}
		s.refused(400, want, "dxauth/create-client", full)
	}
	s.refused(404, nothing, "dxauth/create-client", store.Doc{"name": "n", "client_type": "sdk", "company": nothing})
	s.refused(400, "client", "dxauth/delete-client", store.Doc{"client": 1})
}
