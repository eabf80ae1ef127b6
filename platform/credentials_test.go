package platform

import (
	"strings"
	"testing"

	"transect/platform/internal/store"
)

const credentialRoot = "credentials-service/"

// credentials makes some for a registry.
func (s *site) credentials(name string) string {
	s.t.Helper()
	return store.Text(s.ok(credentialRoot+"create-credentials", store.Doc{
		"name": name, "company": s.company, "credentials": store.Doc{"type": "docker", "login": "l", "password": "hush"},
	}), "_id")
}

func TestCredentials(t *testing.T) {
	s := start(t, Options{})
	shapes := map[string]store.Doc{
		"docker":               {"login": "me", "password": "hush-1", "registry": "r.example.com"},
		"aws":                  {"aws_access_key_id": "hush-2", "aws_secret_access_key": "hush-3", "aws_region": "eu"},
		"s3":                   {"aws_access_key_id": "hush-4", "aws_secret_access_key": "hush-5"},
		"azure-blob":           {"azure_client_id": "i", "azure_tenant_id": "t", "azure_client_secret": "hush-6"},
		"google-cloud-storage": {"private_key": "hush-7"},
		"oauth":                {"client_id": "i", "client_secret": "hush-8", "token_url": "https://example.com/token", "refresh_token": "hush-9"},
	}
	for kind, shape := range shapes {
		shape["type"] = kind
		body := store.Doc{"name": kind, "company": s.company, "credentials": shape, "labels": store.Doc{"type": "docker"}}
		a := s.post(credentialRoot+"create-credentials", body)
		if a.status != 200 || a.doc["type"] != kind || store.Text(a.doc, "credentials.type") != kind || strings.Contains(a.text, "hush") {
			t.Errorf("%s: %d %s", kind, a.status, a.text)
		}
		s.refused(409, "already", credentialRoot+"create-credentials", body)
	}
	all := s.post(credentialRoot+"search-credentials", store.Doc{})
	if strings.Contains(all.text, "hush") || !strings.Contains(all.text, "r.example.com") {
		t.Errorf("search shows %s", all.text)
	}
	// Not even a filter tells what a secret is.
	hidden := store.Doc{"credentials.password": store.Doc{"$match": "hush"}}
	if got := s.found(credentialRoot+"search-credentials", store.Doc{"filter": hidden}, "name"); got != "" {
		t.Errorf("found by its password: %q", got)
	}
	by := store.Doc{"filter": store.Doc{"name": store.Doc{"$in": []any{"aws", "s3"}}}, "sort": store.Doc{"name": 1}, "limit": 1, "page": 0}
	if got := s.found(credentialRoot+"search-credentials", by, "name"); got != "aws" {
		t.Errorf("first page %q", got)
	}

	a := s.post(credentialRoot+"set-credentials", store.Doc{"company": s.company, "name": "docker", "credentials": store.Doc{"type": "docker", "login": "you", "password": "hush"}})
	if set := s.found(credentialRoot+"search-credentials", store.Doc{"filter": store.Doc{"name": "docker"}}, "credentials.login"); a.text != "{}" || set != "you" {
		t.Errorf("set: %s, %s", a.text, set)
	}
	s.ok(credentialRoot+"set-labels", store.Doc{"company": s.company, "name": "s3", "labels": store.Doc{"bucket": "b"}})
	if labels := s.found(credentialRoot+"search-credentials", store.Doc{"filter": store.Doc{"labels.bucket": "b"}}, "name"); labels != "s3" {
		t.Errorf("labels of %s", labels)
	}
	for route, body := range map[string]store.Doc{"set-credentials": {"credentials": shapes["s3"]}, "set-labels": {"labels": store.Doc{}}} {
		s.refused(404, "nobody", credentialRoot+route, with(with(body, "company", s.company), "name", "nobody"))
		s.refused(404, nothing, credentialRoot+route, with(with(body, "company", nothing), "name", "s3"))
		s.refused(400, "company", credentialRoot+route, store.Doc{"company": "c", "name": "s3"})
	}
	for want, body := range map[string]store.Doc{
		"credentials.type":                  {"credentials": store.Doc{"type": "ftp"}},
		"credentials.password: is required": {"credentials": store.Doc{"type": "docker", "login": "l"}},
		"credentials: must be an object":    {"credentials": "hush"},
		"labels.a: must be a string":        {"labels": store.Doc{"a": 1}},
		"company: is required":              {"company": nil},
	} {
		full := store.Doc{"name": "new", "company": s.company, "credentials": shapes["oauth"]}
		for key, value := range body {
			full[key] = value
		}
		s.refused(400, want, credentialRoot+"create-credentials", full)
	}
}

func TestCredentialsInUse(t *testing.T) {
	s := start(t, Options{})
	image, assigned := s.credentials("image"), s.credentials("assigned")
	analytic := store.Text(s.ok("analytics-service/create-analytic", store.Doc{"name": "mine", "version": "1.0.0", "company": s.company,
		"algorithm": store.Doc{"docker_image": "r/i:1", "docker_credentials_name": "image"}}), "_id")
	target := store.Doc{"analytic_name": "mine", "analytic_version_range": "1.x", "company": s.company}
	assign := with(target, "credentials", store.Doc{"bucket": "assigned"})
	s.ok("analytics-service/assign-analytic-credentials", assign)
	s.refused(409, "analytic mine 1.0.0", credentialRoot+"delete-credentials", store.Doc{"credentials": image})
	s.refused(409, "as bucket", credentialRoot+"delete-credentials", store.Doc{"credentials": assigned})
	s.ok("analytics-service/delete-analytic-permanently", store.Doc{"analytic": analytic})
	s.refused(404, "analytic_name", "analytics-service/assign-analytic-credentials", assign)
	s.ok("analytics-service/unassign-analytic-credentials", with(target, "credential_names", []any{"bucket"}))
	for _, id := range []string{image, assigned} {
		s.ok(credentialRoot+"delete-credentials", store.Doc{"credentials": id})
		s.refused(404, id, credentialRoot+"delete-credentials", store.Doc{"credentials": id})
	}
	if got := s.found(credentialRoot+"search-credentials", store.Doc{}, "name"); got != "" {
		t.Errorf("left are %q", got)
	}
	s.credentials("image") // the name is free again
	s.refused(400, "credentials", credentialRoot+"delete-credentials", store.Doc{"credentials": "image"})
}
