package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"transect/client"
	"transect/client/human"
	"transect/runtime/web"
)

// Names that a browser would run if they reached it as they are.
var markup = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `javascript:alert(1)`, `</title><script>x</script>`, "a'b\"c&d<e>"}

// filled makes a page over a platform with a project, a mission and datasets of
// these names.
func filled(t *testing.T, change func(*web.Options), names ...string) (at string, browser *http.Client, c *client.Client, ids []string) {
	t.Helper()
	_, at, browser = page(t, func(o *web.Options) {
		c = o.Client
		if change != nil {
			change(o)
		}
	})
	company := one(t)(c.Companies.Search.Page(t.Context(), client.Query{}))
	project, err := c.Projects.Create(t.Context(), client.CreateProject{Name: names[0], Company: client.ID(company)})
	if err != nil {
		t.Fatal(err)
	}
	mission, err := c.Missions.CreateMission(t.Context(), client.CreateMission{Project: client.ID(project.ID), SurveyDate: "2026-05-31", Name: names[0]})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		d, err := c.Datasets.CreateFileDataset(t.Context(), client.CreateFileDataset{DatasetCommon: client.DatasetCommon{Name: name, Project: client.ID(project.ID), Mission: client.ID(mission.ID),
			Geometry: client.Geometry{"type": "Point", "coordinates": []any{i, 50}}, Properties: client.Object{"note": name, name: "key"}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	return at, browser, c, ids
}

func one(t *testing.T) func(client.Page[client.Company], error) string {
	return func(page client.Page[client.Company], err error) string {
		t.Helper()
		if err != nil || len(page.Results) == 0 {
			t.Fatal("no company", err)
		}
		return page.Results[0].ID
	}
}

// harmful is the first tag that a browser would run something for, besides the
// page's own modules.
func harmful(page string) string {
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		if z.Next() == html.ErrorToken {
			return ""
		}
		tag := z.Token()
		if tag.Type != html.StartTagToken && tag.Type != html.SelfClosingTagToken {
			continue
		}
		own := false
		for _, a := range tag.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			address := a.Key == "href" || a.Key == "src" || a.Key == "action"
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || address && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "?") && !strings.HasPrefix(value, "#") {
				return tag.String()
			}
			own = own || a.Key == "src" && strings.HasPrefix(value, "/static/")
		}
		if tag.Data == "script" && !own {
			return tag.String()
		}
	}
}

func TestMarkupInNamesStaysText(t *testing.T) {
	t.Parallel()
	at, browser, _, ids := filled(t, func(o *web.Options) { o.Actions = true }, markup...)
	paths := []string{"/", "/datasets", "/datasets?col=name&col=file&col=id&col=position", "/datasets?name=" + url.QueryEscape(markup[1]), "/products", "/products?state=" + url.QueryEscape(markup[1]),
		"/datasets?since=" + url.QueryEscape(markup[1]) + "&box=" + url.QueryEscape(markup[0]) + "&sort=" + url.QueryEscape(markup[0]), "/nothing" + url.PathEscape(markup[0]),
		"/actions/delete?dataset=" + ids[0] + "&dataset=" + ids[1], "/datasets/" + url.PathEscape(markup[1])}
	for _, id := range ids {
		paths = append(paths, "/datasets/"+id)
	}
	for _, path := range paths {
		status, body := get(t, browser, at+path)
		if found := harmful(body); found != "" || status >= 500 {
			t.Errorf("%s: %d, the browser would run %q", path, status, found)
		}
	}
	if _, body := get(t, browser, at+"/datasets"); strings.Count(body, "&lt;script&gt;alert(1)&lt;/script&gt;") < 2 {
		t.Error("the name is not on the page as text")
	}
}

// A name that turns what follows around is seen as such.
func TestHiddenCharactersInNamesAreShown(t *testing.T) {
	t.Parallel()
	at, browser, _, ids := filled(t, nil, "a\u202egpj.exe", `plain \u202e`)
	for _, path := range []string{"/datasets", "/datasets/" + ids[0], "/datasets?name=" + url.QueryEscape("x\u2066")} {
		_, body := get(t, browser, at+path)
		if at := strings.IndexFunc(body, func(c rune) bool { return human.Hidden(c) && !strings.ContainsRune("\n\t\r", c) }); at >= 0 {
			t.Errorf("%s holds %q", path, body[max(0, at-20):at+20])
		}
		if path != "/datasets?name=x%E2%81%A6" && !strings.Contains(body, `a\u202egpj.exe`) {
			t.Errorf("%s does not show the name", path)
		}
	}
	_, lines := get(t, browser, at+"/api/map")
	for line := range strings.Lines(lines) {
		if !json.Valid([]byte(line)) || strings.ContainsFunc(line, func(c rune) bool { return human.Hidden(c) && c != '\n' }) {
			t.Errorf("the map gets %q", line)
		}
	}
}

// Whatever an address holds, it is answered, and not by a failure of the page.
func TestHostileAddressesAreNoFailures(t *testing.T) {
	t.Parallel()
	at, browser, _, ids := filled(t, nil, "a.txt")
	values := []string{ids[0], "x", "-1", "0", "1e309", "99999999999999999999", "%00", "..%2f..%2fetc", "%ff%fe", "%E2%80%AE", "NaN",
		"2026-13-45", "1,2,3,4", "a/b", "{}", "[", strings.Repeat("9", 3000)}
	keys := []string{"mission", "project", "dataset", "name", "since", "until", "box", "sort", "col", "state", "page", "limit", "kind",
		"else", "after", "run", "job", "file", "q", "type", "analytic", "size"}
	paths := []string{"/", "/map", "/api/map", "/datasets", "/datasets.csv", "/report", "/products", "/runs", "/jobs", "/schedules",
		"/night", "/folder", "/api/folder", "/another", "/plans", "/plans/V", "/api/plans/V", "/products/V", "/products/V/log", "/datasets/V", "/datasets/V/files/V",
		"/picture/V", "/tiles/V/V/V/V", "/folder/picture/V", "/runs/V", "/runs/V/output", "/jobs/V", "/jobs/V/log", "/jobs/V/result",
		"/schedules/V", "/static/V"}
	for i, path := range paths {
		for j, value := range values {
			address := strings.ReplaceAll(path, "V", strings.ReplaceAll(value, "/", "%2f"))
			if j > 0 {
				address += "?" + keys[(i+j)%len(keys)] + "=" + value + "&" + keys[(i*j+7)%len(keys)] + "=" + values[(i+j)%len(values)]
			}
			address = strings.NewReplacer("{", "%7b", "}", "%7d", "[", "%5b").Replace(address)
			response, err := browser.Get(at + address)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
			response.Body.Close()
			if response.StatusCode == http.StatusInternalServerError {
				t.Errorf("%.200s: %.300s", address, body)
			}
		}
	}
}

func TestActionsNeedPermissionAndToken(t *testing.T) {
	t.Parallel()
	at, browser, c, ids := filled(t, nil, "a.txt")
	for _, name := range []string{"delete", "restore", "cancel", "order-again", "order"} {
		for _, do := range []func() (*http.Response, error){
			func() (*http.Response, error) { return browser.Get(at + "/actions/" + name + "?dataset=" + ids[0]) },
			func() (*http.Response, error) {
				return browser.PostForm(at+"/actions/"+name, url.Values{"dataset": ids, "form": {formToken(t, browser, at)}})
			},
		} {
			response, err := do()
			if err != nil {
				t.Fatal(err)
			}
			if response.Body.Close(); response.StatusCode != http.StatusForbidden {
				t.Errorf("%s on a page that only reads: %s", name, response.Status)
			}
		}
	}
	if _, body := get(t, browser, at+"/datasets/"+ids[0]); strings.Contains(body, "/actions/") {
		t.Error("a page that only reads offers actions")
	}
	if n := datasetCount(t, c); n != 1 {
		t.Errorf("%d datasets are left", n)
	}
}

// formToken is the token of a form of the page.
func formToken(t *testing.T, browser *http.Client, at string) string {
	t.Helper()
	_, body := get(t, browser, at+"/another")
	found := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("no token in %s", body)
	}
	return found[1]
}

func datasetCount(t *testing.T, c *client.Client) int64 {
	t.Helper()
	found, err := c.Datasets.Search.Page(t.Context(), client.DatasetQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return found.Total
}

func TestDeleteAndRestoreAfterAConfirmation(t *testing.T) {
	t.Parallel()
	at, browser, c, ids := filled(t, func(o *web.Options) { o.Actions = true }, "a.txt", "b.txt", "c.txt")
	post := func(name string, values url.Values) (int, string) {
		t.Helper()
		response, err := browser.PostForm(at+"/actions/"+name, values)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode, response.Request.URL.RequestURI()
	}
	for name, token := range map[string]string{"no token": "", "a made up one": "x"} {
		if status, _ := post("delete", url.Values{"dataset": ids, "form": {token}}); status != http.StatusForbidden {
			t.Errorf("with %s: %d", name, status)
		}
	}
	if _, body := get(t, browser, at+"/actions/delete?dataset="+ids[0]+"&dataset="+ids[1]); !strings.Contains(body, "a.txt") || !strings.Contains(body, "b.txt") || strings.Contains(body, "c.txt") {
		t.Errorf("the confirmation does not name what is deleted: %s", body)
	}
	if n := datasetCount(t, c); n != 3 {
		t.Fatalf("%d datasets are left before the confirmation", n)
	}
	token := formToken(t, browser, at)
	if status, to := post("delete", url.Values{"dataset": ids[:2], "form": {token}}); status != http.StatusOK || to != "/datasets?deleted=1" {
		t.Errorf("delete: %d %s", status, to)
	}
	if n := datasetCount(t, c); n != 1 {
		t.Errorf("%d datasets are left", n)
	}
	if _, body := get(t, browser, at+"/datasets/"+ids[0]); !strings.Contains(body, "Deleted") || !strings.Contains(body, "/actions/restore") {
		t.Errorf("the page of a deleted dataset: %s", body)
	}
	if status, to := post("restore", url.Values{"dataset": ids[:1], "form": {token}}); status != http.StatusOK || to != "/datasets/"+ids[0] {
		t.Errorf("restore: %d %s", status, to)
	}
	if n := datasetCount(t, c); n != 2 {
		t.Errorf("%d datasets are there after one was restored", n)
	}
}
