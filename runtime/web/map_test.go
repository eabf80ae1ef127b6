package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"transect/client"
	"transect/platform"
	"transect/runtime/web"
)

// lines reads what the map streams, by kind.
func lines(t *testing.T, body string) map[string][]map[string]any {
	t.Helper()
	all := map[string][]map[string]any{}
	for line := range strings.Lines(body) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		kind := v["kind"].(string)
		all[kind] = append(all[kind], v)
	}
	return all
}

// site is a project with a mission on the platform.
type site struct {
	c                *client.Client
	project, mission string
}

func newSite(t *testing.T, c *client.Client) site {
	t.Helper()
	p, err := c.Projects.FindOrCreate(t.Context(), client.FindOrCreateProject{Name: "North quarry"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Missions.FindOrCreate(t.Context(), client.FindOrCreateMission{Project: client.ID(p.Resource.ID), Name: "May <b>survey</b>"})
	if err != nil {
		t.Fatal(err)
	}
	return site{c, p.Resource.ID, m.Resource.ID}
}

// photos creates image datasets at positions, two seconds apart.
func (s site) photos(t *testing.T, at ...[2]float64) {
	t.Helper()
	var list []client.Object
	for i, p := range at {
		list = append(list, client.Object{"name": fmt.Sprintf("P%03d.JPG", i), "type": "image", "project": s.project, "mission": s.mission,
			"components": []any{map[string]any{"name": "image"}}, "geometry": map[string]any{"type": "Point", "coordinates": []any{p[0], p[1], 120.5}},
			"acquisition_date": time.Date(2026, 5, 1, 10, 0, 2*i, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")})
	}
	if _, err := s.c.Datasets.CreateDatasets(t.Context(), client.CreateDatasets{Datasets: list}); err != nil {
		t.Fatal(err)
	}
}

func TestMapStreamsPhotosLinesGapsAndDrawings(t *testing.T) {
	t.Parallel()
	var s site
	_, at, browser := page(t, func(o *web.Options) { s = newSite(t, o.Client) })
	var flown [][2]float64
	for i := range 14 {
		if i != 6 { // a photo is missing
			flown = append(flown, [2]float64{179.9995 + float64(i)*0.0002 - map[bool]float64{true: 360}[i >= 3], -17})
		}
	}
	s.photos(t, flown...)
	name := `<img src=x onerror="alert(1)">`
	if _, err := s.c.Annotations.Create(t.Context(), client.CreateAnnotation{Project: client.ID(s.project), Mission: client.ID(s.mission), Name: &name, Stroke: []int{255, 0, 16},
		Geometry: client.Drawing{"type": "Point", "coordinates": []any{180.0, -17.0}}}); err != nil {
		t.Fatal(err)
	}
	status, body := get(t, browser, at+"/api/map?mission="+s.mission)
	all := lines(t, body)
	if status != http.StatusOK || len(all["survey"]) != 1 || len(all["problem"]) > 0 {
		t.Fatalf("%d %s", status, body)
	}
	photos, survey := all["photos"][0], all["survey"][0]
	if n := len(photos["id"].([]any)); n != 13 || photos["altitude"].([]any)[0] != 120.5 {
		t.Errorf("%d photos: %v", n, photos)
	}
	if line := survey["lines"].([]any); len(line) != 1 || len(line[0].([]any)) != 13 {
		t.Errorf("lines: %v", line)
	}
	if gaps := survey["gaps"].([]any); len(gaps) != 1 || !strings.Contains(fmt.Sprint(gaps[0]), "a photo is missing between P005.JPG and P006.JPG") {
		t.Errorf("gaps: %v", gaps)
	}
	drawn := map[string]map[string]any{}
	for _, shape := range all["shape"] {
		drawn[shape["of"].(string)] = shape
	}
	if a := drawn["annotation"]; a == nil || a["name"] != name || a["color"] != "#ff0010" {
		t.Errorf("annotation: %v", a)
	}
	_, html := get(t, browser, at+"/map?mission="+s.mission)
	if strings.Contains(html, "<b>survey") || !strings.Contains(html, "May &lt;b&gt;survey") {
		t.Error("a name of a mission is markup on the page")
	}
	status, report := get(t, browser, at+"/report?mission="+s.mission)
	for _, want := range []string{"Flight report: May &lt;b&gt;survey", `<svg class="plan`, "a photo is missing between", "<dd>13</dd>"} {
		if !strings.Contains(report, want) {
			t.Errorf("%d: the report lacks %s", status, want)
		}
	}
}

// What is in no mission is on the map of its project.
func TestMapShowsDatasetsInNoMission(t *testing.T) {
	t.Parallel()
	var s site
	_, at, browser := page(t, func(o *web.Options) { s = newSite(t, o.Client) })
	if _, err := s.c.Datasets.CreateDatasets(t.Context(), client.CreateDatasets{Datasets: []client.Object{{"name": "lone.jpg", "type": "image",
		"project": s.project, "components": []any{map[string]any{"name": "image"}},
		"geometry": map[string]any{"type": "Point", "coordinates": []any{4.9, 50.7}}}}}); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"", "?project=" + s.project} {
		_, body := get(t, browser, at+"/api/map"+of)
		if photos := lines(t, body)["photos"]; len(photos) != 1 || fmt.Sprint(photos[0]["name"]) != "[lone.jpg]" {
			t.Errorf("%s: %s", of, body)
		}
	}
}

func TestMapOfNothing(t *testing.T) {
	t.Parallel()
	_, at, browser := page(t, func(o *web.Options) { o.Tiles = "https://tiles.example/{z}/{x}/{y}.png" })
	if _, html := get(t, browser, at+"/map"); !strings.Contains(html, `="https://tiles.example/{z}/{x}/{y}.png"`) {
		t.Error("the template of the background tiles does not reach the map")
	}
	_, body := get(t, browser, at+"/api/map")
	if all := lines(t, body); len(all) != 1 || len(all["survey"]) != 1 {
		t.Errorf("%s", body)
	}
	if status, body := get(t, browser, at+"/api/map?mission=000000000000000000000000"); status != http.StatusOK || len(lines(t, body)["problem"]) != 1 {
		t.Errorf("a mission that does not exist: %d %s", status, body)
	}
}

// tokenTiles is a platform with one raster, whose tiles want a share token.
type tokenTiles struct {
	http.RoundTripper
	asked []string
}

const raster = "0123456789abcdef01234567"

func (r *tokenTiles) RoundTrip(request *http.Request) (*http.Response, error) {
	status, kind, body := http.StatusOK, "application/json", ""
	switch path := request.URL.Path; {
	case strings.HasSuffix(path, "/describe-dataset"):
		body = `{"_id": "` + raster + `", "type": "raster", "company": "c1", "ingestion": {"status": "completed"}}`
	case strings.HasSuffix(path, "/describe-datasets"):
		body = `[{"_id": "` + raster + `", "type": "raster", "company": "c1", "ingestion": {"status": "completed"}}]`
	case strings.HasSuffix(path, "/create-share-token"):
		body = `{"_id": "t1", "token": "a secret"}`
	case !strings.HasPrefix(path, "/tileserver/"):
		return r.RoundTripper.RoundTrip(request)
	default:
		r.asked = append(r.asked, request.URL.RequestURI())
		if status, body = http.StatusForbidden, "{}"; request.URL.Query().Get("access_token") == "a secret" {
			status, kind, body = http.StatusOK, "image/png", "\x89PNG\r\n\x1a\n"
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)),
		Request: request, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

func TestTilesComeThroughTheServer(t *testing.T) {
	t.Parallel()
	tiles := &tokenTiles{}
	_, at, browser := page(t, func(o *web.Options) {
		p, err := platform.Open(t.Context(), platform.Options{Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		tiles.RoundTripper = p.RoundTripper()
		made := p.Credentials()
		o.Client, err = client.New(t.Context(), client.Settings{URL: platform.Address, User: made.User, Password: made.Password}, client.Options{RoundTripper: tiles})
		if err != nil {
			t.Fatal(err)
		}
	})
	for _, path := range []string{"/3/4/2", "/3/4/3"} {
		if status, body := get(t, browser, at+"/tiles/"+raster+path); status != http.StatusOK || !strings.HasPrefix(body, "\x89PNG") {
			t.Errorf("tile %s: %d %s", path, status, body)
		}
	}
	if want := 3; len(tiles.asked) != want { // without a token, with one, with the same one
		t.Errorf("the platform was asked %d times for 2 tiles: %v", len(tiles.asked), tiles.asked)
	}
	for _, path := range []string{"/3/8/0", "/-1/0/0", "/x/0/0", "/27/0/0"} {
		if status, body := get(t, browser, at+"/tiles/"+raster+path); status != http.StatusNotFound || strings.Contains(body, "a secret") {
			t.Errorf("tile %s: %d %s", path, status, body)
		}
	}
}

// The missions to choose from are all there, under the names of their projects, which tell those of one name apart.
func TestMapListsAllMissionsByProject(t *testing.T) {
	t.Parallel()
	const each = 700
	var c *client.Client
	_, at, browser := page(t, func(o *web.Options) { c = o.Client })
	for _, name := range []string{"North", "South"} {
		p, err := c.Projects.FindOrCreate(t.Context(), client.FindOrCreateProject{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		for i := range each {
			if _, err := c.Missions.CreateMission(t.Context(), client.CreateMission{Project: client.ID(p.Resource.ID),
				SurveyDate: "2026-05-31", Name: fmt.Sprintf("M%03d", i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, text := get(t, browser, at+"/map")
	_, list, _ := strings.Cut(text, "<datalist")
	list, _, _ = strings.Cut(list, "</datalist>")
	if n := strings.Count(list, "/M699\""); n != 2 || strings.Count(list, "<option") != 2*each {
		t.Errorf("%d options, M699 %d times", strings.Count(list, "<option"), n)
	}
	for _, name := range []string{"North/M000", "South/M000"} {
		if !strings.Contains(list, `value="`+name+`"`) {
			t.Errorf("%s is not in the list", name)
		}
	}
	for find, want := range map[string]string{
		"North/M007": `value="M007"`, "th/m008": "2 missions have “th/m008” in their names", "North/M69": "10 missions have",
		"outh/m009": `value="M009"`, "M999": "No mission here has “M999” in its name: "} {
		if _, text := get(t, browser, at+"/map?find="+url.QueryEscape(find)); !strings.Contains(text, want) {
			t.Errorf("searching %s does not lead to %s", find, want)
		}
	}
}
