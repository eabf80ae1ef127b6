package platform

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"transect/platform/internal/store"
	"transect/testdata/flightgen"
)

// analyticID finds a version of an analytic.
func (s *site) analyticID(name, version string) string {
	s.t.Helper()
	doc := s.ok("analytics-service/search-analytics", store.Doc{"filter": store.Doc{"name": store.Doc{"$eq": name}, "version": store.Doc{"$eq": version}}, "limit": 1})
	list := doc["results"].([]any)
	if len(list) != 1 {
		s.t.Fatalf("%s %s: %v", name, version, list)
	}
	return store.Text(list[0].(store.Doc), "_id")
}

func (s *site) order(name, version string, more store.Doc) string {
	s.t.Helper()
	body := store.Doc{"analytic": s.analyticID(name, version)}
	for k, v := range more {
		body[k] = v
	}
	return store.Text(s.ok("analytics-service/order-analytic", body), "_id")
}

func (s *site) ended(product string) store.Doc {
	s.t.Helper()
	return s.until("analytics-service/describe-product", store.Doc{"product": product}, "status", "available", "failed", "rejected", "cancelled")
}

// logs returns the messages, after checking that their times ascend.
func (s *site) logs(product string) []string {
	s.t.Helper()
	doc := s.ok("analytics-service/retrieve-product-logs", store.Doc{"product": product})
	var messages []string
	last := ""
	for _, v := range doc["logs"].([]any) {
		line := v.(store.Doc)
		at := store.Text(line, "timestamp")
		if at <= last || len(at) != len("2024-01-01T00:00:00.000000Z") {
			s.t.Errorf("timestamp %q after %q", at, last)
		}
		last = at
		messages = append(messages, store.Text(line, "message"))
	}
	if text(store.Lookup(doc, "total.value")) != strconv.Itoa(len(messages)) {
		s.t.Errorf("total %v of %d lines", doc["total"], len(messages))
	}
	return messages
}

func TestRehearsal(t *testing.T) {
	s := start(t, Options{})
	for _, outcome := range []string{"available", "failed", "rejected"} {
		id := s.order("rehearsal", "1.0.0", store.Doc{"parameters": store.Doc{"duration": 0.05, "log_lines": 5, "outcome": outcome}})
		if doc := s.ended(id); doc["status"] != outcome {
			t.Errorf("%s: %v", outcome, doc)
		}
		if lines := s.logs(id); len(lines) != 7 || lines[1] != "rehearsing, line 1 of 5" {
			t.Errorf("logs %q", lines)
		}
		s.refused(409, "ended already", "analytics-service/cancel-product", store.Doc{"product": id})
	}
	id := s.order("rehearsal", "1.0.0", store.Doc{"parameters": store.Doc{"duration": 60}})
	s.until("analytics-service/describe-product", store.Doc{"product": id}, "status", "running")
	if doc := s.ok("analytics-service/cancel-product", store.Doc{"product": id}); doc["status"] != "cancelled" {
		t.Errorf("cancelled: %v", doc)
	}
	if lines := s.logs(id); lines[len(lines)-1] != "cancelled" {
		t.Errorf("logs %q", lines)
	}
	s.refused(404, "", "analytics-service/cancel-product", store.Doc{"product": strings.Repeat("0", 24)})
	two := s.ok("analytics-service/retrieve-product-logs", store.Doc{"product": id, "limit": 2})["logs"].([]any)
	rest := s.ok("analytics-service/retrieve-product-logs", store.Doc{"product": id, "after": two[0].(store.Doc)["timestamp"], "limit": 1})["logs"].([]any)
	if len(two) != 2 || rest[0].(store.Doc)["timestamp"] != two[1].(store.Doc)["timestamp"] {
		t.Errorf("paging %v %v", two, rest)
	}
}

func TestOrderRefusals(t *testing.T) {
	s := start(t, Options{})
	rehearsal, report := s.analyticID("rehearsal", "1.0.0"), s.analyticID("flight_report", "1.1.0")
	for _, c := range []struct {
		status int
		want   string
		body   store.Doc
	}{
		{400, "parameters.duration: must be of type number", store.Doc{"analytic": rehearsal, "parameters": store.Doc{"duration": "1"}}},
		{400, "did you mean duration?", store.Doc{"analytic": rehearsal, "parameters": store.Doc{"durration": 1}}},
		{400, "parameters.outcome: must be one of", store.Doc{"analytic": rehearsal, "parameters": store.Doc{"outcome": "won"}}},
		{400, "parameters.log_lines: must be of type integer", store.Doc{"analytic": rehearsal, "parameters": store.Doc{"log_lines": 1.5}}},
		{400, "inputs.mission: is required", store.Doc{"analytic": report}},
		{400, "inputs.mission: must match", store.Doc{"analytic": report, "inputs": store.Doc{"mission": "x"}}},
		{404, "mission", store.Doc{"analytic": report, "inputs": store.Doc{"mission": strings.Repeat("1", 24)}}},
		{400, "deliverables.tracks", store.Doc{"analytic": report, "inputs": store.Doc{"mission": strings.Repeat("1", 24)}, "deliverables": store.Doc{"tracks": nil}}},
		{404, "analytic", store.Doc{"analytic": strings.Repeat("1", 24)}},
	} {
		s.refused(c.status, c.want, "analytics-service/order-analytic", c.body)
	}
}

func TestAnalytics(t *testing.T) {
	s := start(t, Options{})
	body := store.Doc{"name": "mine", "version": "1.0.0", "company": s.company,
		"algorithm": store.Doc{"docker_image": "r/i:1", "docker_credentials_name": "c"}}
	s.refused(404, "has no credentials c", "analytics-service/create-analytic", body)
	for _, name := range []string{"c", "d"} {
		s.credentials(name)
	}
	id := store.Text(s.ok("analytics-service/create-analytic", body), "_id")
	s.refused(409, "exists already", "analytics-service/create-analytic", body)
	bad := store.Doc{"name": "mine", "version": "one", "company": s.company, "algorithm": body["algorithm"]}
	s.refused(400, "version", "analytics-service/create-analytic", bad)

	names := []any{"mine"}
	order := store.Doc{"analytic": id}
	s.refused(403, "not enabled", "analytics-service/order-analytic", order)
	s.refused(409, "not exposed", "analytics-service/enable-analytics", store.Doc{"enable": []any{store.Doc{"company": s.company, "analytics_names": names}}})
	s.ok("analytics-service/expose-analytics", store.Doc{"expose": []any{store.Doc{"root_company": s.company, "analytics_names": names}}})
	s.ok("analytics-service/enable-analytics", store.Doc{"enable": []any{store.Doc{"company": s.company, "analytics_names": names}}})
	product := store.Text(s.ok("analytics-service/order-analytic", order), "_id")
	if doc := s.ended(product); doc["status"] != "rejected" {
		t.Errorf("an analytic that is no built-in one: %v", doc)
	}
	s.ok("analytics-service/unexpose-analytics", store.Doc{"unexpose": []any{store.Doc{"root_company": s.company, "analytics_names": names}}})
	s.refused(403, "not enabled", "analytics-service/order-analytic", order)

	target := store.Doc{"analytic_name": "mine", "analytic_version_range": "1.x", "company": s.company}
	assign := store.Doc{"credentials": store.Doc{"docker": "c"}}
	unassign := store.Doc{"credential_names": []any{"docker"}}
	for key, value := range target {
		assign[key], unassign[key] = value, value
	}
	s.ok("analytics-service/assign-analytic-credentials", assign)
	target["credentials"] = store.Doc{"docker": "e"}
	s.refused(404, "credentials.docker", "analytics-service/assign-analytic-credentials", target)
	s.ok("analytics-service/unassign-analytic-credentials", unassign)
	s.ok("analytics-service/set-analytic-docker-credentials", store.Doc{"name": "mine", "version": "1.0.0", "company": s.company, "docker_credentials_name": "d"})
	s.refused(404, "docker_credentials_name", "analytics-service/set-analytic-docker-credentials", store.Doc{"name": "mine", "version": "1.0.0", "company": s.company, "docker_credentials_name": "e"})
	if doc := s.ok("analytics-service/describe-analytic", order); store.Text(doc, "algorithm.docker_credentials_name") != "d" {
		t.Errorf("analytic %v", doc)
	}
	s.ok("analytics-service/delete-analytic-permanently", order)
	s.refused(404, id, "analytics-service/describe-analytic", order)
}

// TestFlightReport runs the built-in analytic over a small flight.
func TestFlightReport(t *testing.T) {
	folder := t.TempDir()
	if err := flightgen.Write(folder, 3, flightgen.Options{}); err != nil {
		t.Fatal(err)
	}
	photos, err := filepath.Glob(filepath.Join(folder, "*.JPG"))
	if err != nil || len(photos) != 3 {
		t.Fatal(photos, err)
	}
	s := start(t, Options{})
	project := s.project("beach")
	mission, flight := s.survey(project, len(photos))
	for _, path := range photos {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		id := s.dataset("image", store.Doc{"project": project, "mission": mission, "flight": flight, "name": filepath.Base(path)}, "image")
		s.upload(id, "image", filepath.Base(path), content)
		doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed")
		if store.Text(doc, "geometry.type") != "Point" || store.Text(doc, "sensor.model") == "" || store.Text(doc, "acquisition_date")[:10] != "2024-05-14" {
			t.Errorf("ingested %v", doc)
		}
	}
	want := map[string][]string{"1.0.0": {"footprints", "inventory"}, "1.1.0": {"footprints", "inventory", "track"}, "2.0.0": {"footprints", "report"}}
	for version, names := range want {
		order := store.Doc{"inputs": store.Doc{"mission": mission}}
		if version == "1.1.0" {
			order["deliverables"] = store.Doc{"track": nil}
		}
		product := s.ended(s.order("flight_report", version, order))
		if product["status"] != "available" || product["project"] != project || product["mission"] != mission {
			t.Fatalf("%s: %v, %q", version, product, s.logs(store.Text(product, "_id")))
		}
		deliverables := product["deliverables"].(store.Doc)
		if len(deliverables) != len(names) || len(product["outputs"].([]any)) != len(names) {
			t.Errorf("%s: deliverables %v", version, deliverables)
		}
		if lines := s.logs(store.Text(product, "_id")); len(lines) != 2+1+len(photos)+1 {
			t.Errorf("logs %q", lines)
		}
		for _, name := range names {
			s.checkDeliverable(name, store.Text(deliverables, name), len(photos))
		}
	}
}

func (s *site) checkDeliverable(name, id string, photos int) {
	s.t.Helper()
	doc := s.ok("data-manager/describe-dataset", store.Doc{"dataset": id})
	if store.Text(doc, "source.name") != "analytics" || store.Text(doc, "ingestion.status") != "completed" || store.Text(doc, "properties.product") == "" {
		s.t.Errorf("%s: %v", name, doc)
	}
	for _, v := range doc["components"].([]any) {
		c := v.(store.Doc)
		a := s.get("/data-manager/download-component?dataset=" + id + "&component=" + store.Text(c, "name"))
		if a.status != 200 || sum([]byte(a.text)) != c["checksum"] {
			s.t.Errorf("%s %v: %d", name, c, a.status)
		}
		if strings.HasSuffix(store.Text(c, "filename"), "json") && !json.Valid([]byte(a.text)) {
			s.t.Errorf("%s is no JSON: %s", name, a.text)
		}
		if name == "footprints" && strings.Count(a.text, `"Feature"`) != photos {
			s.t.Errorf("footprints: %s", a.text)
		}
		if store.Text(c, "name") == "csv" && strings.Count(a.text, "\n") != photos+1 {
			s.t.Errorf("csv: %s", a.text)
		}
	}
}

func TestArchive(t *testing.T) {
	s := start(t, Options{})
	project := s.project("p")
	mission, flight := s.survey(project, 1)
	for range 2 {
		id := s.dataset("image", store.Doc{"project": project, "flight": flight}, "image")
		s.upload(id, "image", "../same.png", photo(t, asPNG))
	}
	// One that fails again and again does not hold up the next.
	broken, flight := s.survey(project, 1)
	id := s.dataset("image", store.Doc{"project": project, "flight": flight}, "image")
	s.upload(id, "image", "lost.png", photo(t, asPNG))
	if err := s.p.read(t.Context(), func(t tx) {
		lost, _ := t.bytesOf(id, "image")
		s.p.blobs.Remove(lost.blob)
	}); err != nil {
		t.Fatal(err)
	}
	s.ok("project-manager/create-mission-archive", store.Doc{"mission": broken, "name": "broken"})

	doc := s.ok("project-manager/create-mission-archive", store.Doc{"mission": mission, "name": "all"})
	if doc["request"] != "accepted" {
		t.Fatalf("archive: %v", doc)
	}
	archive := s.until("data-manager/describe-dataset", store.Doc{"dataset": doc["dataset"]}, "ingestion.status", "completed")
	a := s.get("/data-manager/download-component?dataset=" + store.Text(archive, "_id") + "&component=archive")
	if !strings.HasPrefix(a.text, "PK") || !strings.Contains(a.text, "same_2.png") || strings.Contains(a.text, "..") {
		t.Errorf("archive of %d bytes", len(a.text))
	}
}

func TestShareTokens(t *testing.T) {
	s := start(t, Options{})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	body := store.Doc{"scope": store.Doc{"datasets": []any{id}}, "company": s.company, "duration": 60}
	doc := s.ok("dxauth/create-share-token", body)
	if store.Text(doc, "token") == "" || store.Text(doc, "expiration_date") == "" || store.Text(doc, "_id") == "" {
		t.Errorf("share token %v", doc)
	}
	if found := s.ok("dxauth/search-share-tokens", store.Doc{"page": 1}); len(found["results"].([]any)) != 1 {
		t.Errorf("found %v", found)
	}
	s.refused(404, "dataset", "dxauth/create-share-token", store.Doc{"scope": store.Doc{"datasets": []any{strings.Repeat("1", 24)}}, "company": s.company})
	s.ok("dxauth/revoke-share-token", store.Doc{"token": doc["token"]})
	s.refused(404, "", "dxauth/revoke-share-token", store.Doc{"token": doc["token"]})

	token := s.ok("dxauth/create-share-token", body)["token"]

	// Someone who is neither an administrator nor a manager may do none of it.
	if err := s.p.store.Write(t.Context(), func(tx *store.Tx) error {
		user, err := tx.Get(users.plural, s.p.secrets.UserID)
		if err != nil {
			return err
		}
		user["profile"], user["companyRole"] = "user", "member"
		return tx.Replace(users.plural, user)
	}); err != nil {
		t.Fatal(err)
	}
	s.refused(403, "manager", "dxauth/create-share-token", body)
	s.refused(403, "manager", "dxauth/search-share-tokens", store.Doc{"page": 1})
	s.refused(403, "manager", "dxauth/revoke-share-token", store.Doc{"token": token})
}
