package web_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client"
	"transect/platform"
	"transect/runtime/web"
)

// The table asks the platform: name, kind, project, date, box, order, pages.
func TestDatasetsAreSearchedOnThePlatform(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("file_%02d.txt", i)) // at longitude i, latitude 50
	}
	at, browser, _, ids := filled(t, nil, names...)
	listed := func(query string) (list []string, body string) {
		t.Helper()
		status, body := get(t, browser, at+"/datasets?"+query)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", query, status, body)
		}
		for i, name := range names {
			if strings.Contains(body, `"/datasets/`+ids[i]+`"`) {
				list = append(list, name)
			}
		}
		return list, body
	}
	for _, c := range []struct {
		query string
		want  int
	}{
		{"", 30}, {"limit=25", 25}, {"limit=25&page=2", 5}, {"limit=25&page=9", 0}, {"name=FILE_1", 10}, {"name=nothing", 0}, {"kind=file", 30}, {"kind=image", 0},
		{"state=pending", 30}, {"state=completed", 0}, {"box=9.5,49,12,51", 3}, {"box=28,49,1,51", 4}, {"box=9.5,51,12,52", 0},
		{"since=2000-01-01", 30}, {"until=2000-01-01", 0}, {"box=1,2,3", 30}, {"since=someday", 30}, {"since=yesterday", 30}, {"sort=nothing", 30}, {"kind=cake", 30}, {"page=-1", 30}, {"page=x", 30},
	} {
		if list, _ := listed(c.query); len(list) != c.want {
			t.Errorf("%s lists %d datasets, want %d: %v", c.query, len(list), c.want, list)
		}
	}
	for query, want := range map[string]string{"box=1,2,3": "west,south,east,north", "since=someday": "not a date", "kind=cake": "no kind", "sort=id": "cannot be sorted", "name=nothing": "No dataset matches"} {
		if _, body := listed(query); !strings.Contains(body, want) {
			t.Errorf("%s does not say %q", query, want)
		}
	}
	for sort, first := range map[string]string{"name": names[0], "-name": names[29]} {
		_, body := listed("sort=" + sort)
		if i, j := strings.Index(body, ">"+first+"</a></td><td>file"), strings.Index(body, names[15]); i < 0 || i > j {
			t.Errorf("sorted by %s, %s is not first", sort, first)
		}
	}
	if _, body := listed("col=name&col=id"); strings.Contains(body, "<th scope=\"col\">Project") || !strings.Contains(body, "ID") {
		t.Error("the columns are not those that were chosen")
	}
}

func TestCSVHasAllThatIsFound(t *testing.T) {
	t.Parallel()
	names := []string{"=1+2", "plain", "with, comma", `with "quotes"`, "two\nlines"}
	at, browser, _, ids := filled(t, nil, names...)
	status, body := get(t, browser, at+"/datasets.csv?sort=created")
	lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if status != http.StatusOK || err != nil || len(lines) != len(names)+1 {
		t.Fatalf("%d, %d lines, %v: %s", status, len(lines), err, body)
	}
	for i, line := range lines[1:] {
		want := names[i]
		if i == 0 {
			want = "'" + want // no formula
		}
		if line[0] != want || line[len(line)-1] != ids[i] || line[9] != fmt.Sprintf("%d.000000", i) {
			t.Errorf("line %d is %q", i, line)
		}
	}
	if _, body := get(t, browser, at+"/datasets.csv?name=nothing"); strings.Count(body, "\n") != 1 {
		t.Errorf("without datasets: %q", body)
	}
}

// A download passes through the page: its address names no storage, and parts of
// it can be asked for.
func TestDownloadsAndPicturesPassThroughThePage(t *testing.T) {
	t.Parallel()
	at, browser, c, _ := filled(t, nil, "x")
	photo := "../../testdata/flight/FLIGHT_0001.JPG"
	content, err := os.ReadFile(photo)
	if err != nil {
		t.Fatal(err)
	}
	project, err := c.Projects.Search.Page(t.Context(), client.Query{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.Datasets.CreateImageDataset(t.Context(), client.CreateImageDataset{DatasetCommon: client.DatasetCommon{Name: `<b>.jpg`, Project: client.ID(project.Results[0].ID)}})
	if err == nil {
		_, err = c.Datasets.UploadFile(t.Context(), client.UploadFile{Dataset: client.ID(d.ID), Component: "image", FilePath: client.Path(photo), Multipart: new(true)})
	}
	if err == nil {
		_, err = c.Datasets.Wait(t.Context(), client.WaitForDatasets{Datasets: client.IDs{d.ID}})
	}
	if err != nil {
		t.Fatal(err)
	}
	file := at + "/datasets/" + d.ID + "/files/image"
	if status, body := get(t, browser, file); status != http.StatusOK || body != string(content) {
		t.Errorf("the download is %d, %d bytes", status, len(body))
	}
	response := send(t, browser, http.MethodGet, file, map[string]string{"Range": "bytes=10-19"})
	if response.StatusCode != http.StatusPartialContent || response.Header.Get("Content-Range") != fmt.Sprintf("bytes 10-19/%d", len(content)) {
		t.Errorf("a part: %s %s", response.Status, response.Header.Get("Content-Range"))
	}
	for name, want := range map[string]string{"Content-Type": "application/octet-stream", "Content-Security-Policy": "default-src 'none'; sandbox", "Content-Disposition": "attachment; filename=FLIGHT_0001.JPG"} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for path, want := range map[string]int{"/datasets/" + d.ID + "/files/nothing": 404, "/datasets/nothing/files/image": 400, "/datasets/" + strings.Repeat("0", 24): 404,
		"/picture/nothing": 400, "/picture/" + d.ID + "?kind=huge": 404} {
		if status, _ := get(t, browser, at+path); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	for range 2 { // made, then from the cache
		response := send(t, browser, http.MethodGet, at+"/picture/"+d.ID+"?kind=tiny", nil)
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "image/jpeg" {
			t.Fatalf("the picture: %s %s", response.Status, response.Header.Get("Content-Type"))
		}
		again := send(t, browser, http.MethodGet, at+"/picture/"+d.ID+"?kind=tiny", map[string]string{"If-None-Match": response.Header.Get("ETag")})
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("the same picture again: %s", again.Status)
		}
	}
	_, body := get(t, browser, at+"/datasets/"+d.ID)
	for _, secret := range []string{"/storage", "signature", "access_token", platform.Address} {
		if strings.Contains(strings.ToLower(body), secret) {
			t.Errorf("the page of the dataset has %q", secret)
		}
	}
	for _, want := range []string{"4.6 kB", "320 × 240", "85438016fe06200c6b144688c9d208b6", "UTC", "/map?project="} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of the dataset lacks %q", want)
		}
	}
}

// A product's page shows its log while it is written.
func TestLogOfAProductComesLive(t *testing.T) {
	t.Parallel()
	at, browser, c, _ := filled(t, func(o *web.Options) { o.Actions = true }, "x")
	missions, err := c.Missions.Search.Page(t.Context(), client.Query{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Analytics.DescribeByName(t.Context(), client.AnalyticByName{Name: "flight_report"})
	if err != nil {
		t.Fatal(err)
	}
	m := missions.Results[0]
	_, body := get(t, browser, at+"/actions/order?mission="+m.ID)
	if !strings.Contains(body, found.ID) {
		t.Fatalf("the analytic is not offered: %s", body)
	}
	if _, body = get(t, browser, at+"/actions/order?mission="+m.ID+"&analytic="+found.ID); !strings.Contains(body, `name="input.mission" value="`+m.ID+`"`) {
		t.Fatalf("the mission is not filled in: %s", body)
	}
	response, err := browser.PostForm(at+"/actions/order", url.Values{"form": {formToken(t, browser, at)}, "mission": {m.ID}, "project": {m.Project}, "analytic": {found.ID}, "input.mission": {m.ID}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	product := strings.TrimPrefix(response.Request.URL.Path, "/products/")
	if product == "" || response.StatusCode != http.StatusOK {
		t.Fatalf("the order leads to %s: %s", response.Request.URL, response.Status)
	}
	events := follow(t, browser, at+"/events?topic=log:"+product, "")
	text := events.until(t, "event: end")
	for _, want := range []string{`"text":"started"`, `"ended":`} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s: %s", want, text)
		}
	}
	again := follow(t, browser, at+"/events?topic=log:"+product, events.lastID).until(t, "event: end")
	if strings.Contains(again, `"text"`) {
		t.Errorf("a browser that comes back gets lines twice: %s", again)
	}
	if _, body = get(t, browser, at+"/products/"+product); !strings.Contains(body, "started") {
		t.Errorf("the page without JavaScript has no log: %s", body)
	}
	if _, body = get(t, browser, at+"/products"); !strings.Contains(body, "/products/"+product) {
		t.Error("the list of products lacks it")
	}
}

// events is a stream that a browser reads.
type events struct {
	lines  *bufio.Scanner
	lastID string
}

func follow(t *testing.T, browser *http.Client, address, after string) *events {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	response, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("%s is %s %s", address, response.Status, kind)
	}
	e := &events{lines: bufio.NewScanner(response.Body)}
	e.lines.Buffer(nil, 1<<20)
	return e
}

// until reads up to a line, or the end of the stream.
func (e *events) until(t *testing.T, line string) string {
	t.Helper()
	var b strings.Builder
	for e.lines.Scan() {
		if id, ok := strings.CutPrefix(e.lines.Text(), "id: "); ok && id != "" {
			e.lastID = id
		}
		b.WriteString(e.lines.Text() + "\n")
		if strings.HasPrefix(e.lines.Text(), line) {
			break
		}
	}
	return b.String()
}

// Fifty pages of one browser, each with its stream, leave it a connection for
// everything else; other browsers are not in their way.
func TestFiftyPagesAtOnce(t *testing.T) {
	t.Parallel()
	s, at, browser := page(t, nil)
	six := &http.Transport{MaxConnsPerHost: 6} // as browsers do
	t.Cleanup(six.CloseIdleConnections)
	browser.Transport = six
	var open, answered atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var streams sync.WaitGroup
	for range 50 {
		streams.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, at+"/events?topic=platform", nil)
			response, err := browser.Do(r)
			if err != nil {
				return
			}
			defer response.Body.Close()
			if open.Add(1) == 50 {
				cancel() // all have been answered
			}
			if text, _ := io.ReadAll(response.Body); strings.Contains(string(text), `"away":false`) {
				answered.Add(1)
			}
		})
	}
	if status, _ := get(t, browser, at+"/runs"); status != http.StatusOK {
		t.Errorf("a page beside 50 streams: %d", status)
	}
	other := follow(t, enter(t, s), at+"/events?topic=platform", "")
	if text := other.until(t, "data:"); !strings.Contains(text, "false") {
		t.Errorf("another browser reads %q", text)
	}
	streams.Wait()
	if open.Load() != 50 || answered.Load() < 47 {
		t.Errorf("%d of 50 streams were opened, %d had news", open.Load(), answered.Load())
	}
}

// A platform that goes away is named as the cause, and is back by itself.
func TestPlatformThatGoesAway(t *testing.T) {
	t.Parallel()
	p, err := platform.Open(t.Context(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	var away atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		p.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	made := p.Credentials()
	c, err := client.New(t.Context(), client.Settings{URL: server.URL, User: made.User, Password: made.Password}, client.Options{MaxOutage: new(2 * time.Second)}) // bounds slow answers, too
	if err != nil {
		t.Fatal(err)
	}
	_, at, browser := page(t, func(o *web.Options) { o.Client, o.Poll = c, 20*time.Millisecond })
	stream := follow(t, browser, at+"/events?topic=platform", "")
	stream.until(t, `data: {"data":{"away":false}`)
	away.Store(true)
	response, err := browser.Get(at + "/datasets")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if response.StatusCode != http.StatusBadGateway || response.Header.Get("Refresh") == "" || !strings.Contains(string(body), "cannot be reached") {
		t.Errorf("without the platform: %s, Refresh %q, %s", response.Status, response.Header.Get("Refresh"), body)
	}
	if status, _ := get(t, browser, at+"/runs"); status != http.StatusOK {
		t.Errorf("the runs need no platform: %d", status)
	}
	stream.until(t, `data: {"data":{"away":true`)
	away.Store(false)
	stream.until(t, `data: {"data":{"away":false}`)
	if status, _ := get(t, browser, at+"/datasets"); status != http.StatusOK {
		t.Errorf("when the platform is back: %d", status)
	}
}

func TestEmptyStatesSayWhatToDo(t *testing.T) {
	t.Parallel()
	_, at, browser := page(t, nil)
	for path, want := range map[string]string{"/": "transect put", "/datasets": "transect put", "/products": "transect order", "/runs": "transect run"} {
		if status, body := get(t, browser, at+path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s (%d) does not say %s: %s", path, status, want, body)
		}
	}
	_, at, browser = page(t, func(o *web.Options) { o.Client = nil; o.Folder = filepath.Join("..", "..", "testdata", "flight") })
	for path, want := range map[string]int{"/": 200, "/runs": 200, "/folder": 200, "/datasets": 503} {
		if status, _ := get(t, browser, at+path); status != want {
			t.Errorf("without a platform %s: %d, want %d", path, status, want)
		}
	}
}

// The page of a vector lists its features with their properties, and the steps of
// its ingestion with what the platform said.
func TestVectorsAreListed(t *testing.T) {
	t.Parallel()
	at, browser, c, _ := filled(t, nil, "x")
	project, err := c.Projects.Search.Page(t.Context(), client.Query{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	vector := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := c.Datasets.CreateVectorDataset(t.Context(), client.CreateVectorDataset{DatasetCommon: client.DatasetCommon{Name: name, Project: client.ID(project.Results[0].ID)}})
		if err == nil {
			_, err = c.Datasets.UploadFile(t.Context(), client.UploadFile{Dataset: client.ID(d.ID), Component: "vector", FilePath: client.Path(path)})
		}
		if err == nil {
			_, err = c.Datasets.Wait(t.Context(), client.WaitForDatasets{Datasets: client.IDs{d.ID}})
		}
		if err != nil {
			t.Fatal(err)
		}
		_, body := get(t, browser, at+"/datasets/"+d.ID)
		return strings.ReplaceAll(body, d.ID, "ID")
	}
	placemarks := strings.Repeat(`<Placemark><name>peg</name></Placemark>`, 60)
	body := vector("places.kml", `<kml><Placemark><name>&lt;b&gt;Gate</name><Point><coordinates>5,50</coordinates></Point></Placemark>
<Placemark><ExtendedData><Data name="depth"><value>3</value></Data></ExtendedData></Placemark>`+placemarks+`</kml>`)
	for _, want := range []string{`#18/50.000000/5.000000/ID%2F1" title="on the map">1</a></td><td class="cell">&lt;b&gt;Gate</td><td class="cell"></td>`,
		`<td class="num">2</td><td class="cell"></td><td class="cell">3</td>`, "The first 50 are listed", "<td>Ingestion</td>", "1 of 1 uploaded"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of a vector does not contain %s\n%s", want, body)
		}
	}
	if body := vector("bad.kml", "<kml><Placemark>"); !strings.Contains(body, "They cannot be read: it is cut short") {
		t.Errorf("of a file cut short the page says %s", body)
	}
}

// manyFailed is a platform with more failed datasets than one page has, most of them of other projects.
type manyFailed struct{ http.RoundTripper }

func (m manyFailed) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(request.URL.Path, "/search-datasets") {
		return m.RoundTripper.RoundTrip(request)
	}
	asked, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	body := `{"total": 0, "results": []}`
	switch failed := strings.Contains(string(asked), `"failed"`); {
	case failed && strings.Contains(string(asked), `"project"`) && strings.Contains(string(asked), `"$eq":"`):
		if body = `{"total": 1234, "results": [{"_id": "0"}]}`; strings.Contains(string(asked), `"limit":1000`) {
			body = `{"total": 5678, "results": [` + strings.TrimSuffix(strings.Repeat(`{"_id": "1", "project": "other"},`, 1000), ",") + `]}`
		}
	case failed:
		body = `{"total": 5678, "results": []}`
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
		Request: request, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

// More failed datasets than are read at once are counted by the platform.
func TestManyFailedDatasets(t *testing.T) {
	t.Parallel()
	id := ""
	_, at, browser := page(t, func(o *web.Options) {
		p, err := platform.Open(t.Context(), platform.Options{Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		made := p.Credentials()
		o.Client, err = client.New(t.Context(), client.Settings{URL: platform.Address, User: made.User, Password: made.Password}, client.Options{RoundTripper: manyFailed{p.RoundTripper()}})
		if err != nil {
			t.Fatal(err)
		}
		user, err := o.Client.Users.Describe(t.Context(), client.UserRef{})
		if err != nil {
			t.Fatal(err)
		}
		project, err := o.Client.Projects.Create(t.Context(), client.CreateProject{Name: "North", Company: client.ID(user.Company)})
		if err != nil {
			t.Fatal(err)
		}
		id = project.ID
	})
	for path, wanted := range map[string][]string{"/": {"could not read 5678 datasets", `state=failed">1234</a>`}, "/projects/" + id: {"1234 failed"}} {
		_, body := get(t, browser, at+path)
		body = strings.NewReplacer("\u202f", "", "\u00a0", "", ",", "").Replace(body)
		for _, want := range wanted {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not say %q: %s", path, want, plainText(body))
			}
		}
	}
}
