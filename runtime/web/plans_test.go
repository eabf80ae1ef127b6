package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/client"
	"transect/client/ledger"
	"transect/platform"
	"transect/runtime/jobs"
	"transect/runtime/plan"
	"transect/runtime/sandbox"
	"transect/runtime/unattended/history"
	"transect/runtime/web"
	"transect/testdata/jobstest"
)

const planID = "plan-20260501-100000-0a1b2c"

// planned keeps a plan that creates a mission, two photos and an annotation with a name.
func planned(t *testing.T, path, name string, key []byte, change func(*plan.Plan)) {
	t.Helper()
	p := &plan.Plan{Head: plan.Head{ID: planID, Made: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), Version: "1.0",
		Folder: filepath.Dir(path), Script: "survey.lua", Arguments: []string{name}, Guess: "survey.lua:9",
		Platforms: []plan.Login{{URL: platform.Address}}}}
	add := func(things string, fields map[string]any) {
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		p.Writes = append(p.Writes, &plan.Write{Number: len(p.Writes) + 1, Operation: creates[things], Kind: plan.Create,
			Things: things, Name: name, In: name, Platform: platform.Address, Position: "survey.lua:3", Arguments: text,
			Key: fmt.Sprintf("%024x", len(p.Writes))})
	}
	photo := func(lon float64) map[string]any {
		return map[string]any{"datasets": map[string]any{"type": "image", "name": name, "acquisition_date": "2026-05-01T10:00:00Z",
			"geometry": map[string]any{"type": "Point", "coordinates": []any{lon, 50.7, 120}}}}
	}
	add("missions", map[string]any{"name": name, "coordinates": []any{[]any{4.0, 50}, []any{4.1, 50}, []any{4.1, 50.1}, []any{4.0, 50}}})
	add("datasets", photo(4.91))
	add("datasets", photo(4.92))
	add("annotations", map[string]any{"geometry": map[string]any{"type": "Point", "coordinates": []any{4, 51}}})
	add("annotations", map[string]any{"geometry": map[string]any{"type": "Point", "coordinates": "nowhere"}})
	if p.Totals.Create = len(p.Writes); change != nil {
		change(p)
	}
	if err := p.Save(path, key); err != nil {
		t.Fatal(err)
	}
}

var creates = map[string]string{"missions": "missions.create_mission", "datasets": "datasets.create_datasets",
	"annotations": "annotations.create"}

// planPage is a page with the plan of a folder.
func planPage(t *testing.T, name string, change func(*web.Options), alter func(*plan.Plan)) (o web.Options, at string, browser *http.Client) {
	t.Helper()
	folder := t.TempDir()
	_, at, browser = page(t, func(options *web.Options) {
		key, err := ledger.Key(options.History.Dir)
		if err != nil {
			t.Fatal(err)
		}
		planned(t, filepath.Join(folder, "night.plan"), name, key, alter)
		options.Plans = []string{folder, folder}
		if change != nil {
			change(options)
		}
		o = *options
	})
	return o, at, browser
}

func TestPlanIsShownAsInTheTerminal(t *testing.T) {
	t.Parallel()
	o, at, browser := planPage(t, "North", nil, func(p *plan.Plan) {
		p.Effects = []plan.Effect{{Kind: sandbox.RunProgram, What: "touch made", Position: "survey.lua:12"}}
	})
	other := filepath.Join(o.Plans[0], "other.plan")
	if err := os.WriteFile(other, []byte("no plan\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, list := get(t, browser, at+"/plans")
	for _, want := range []string{"/plans/" + planID, "transect run survey.lua North", "other.plan", "unusable", o.Plans[0]} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q: %s", want, list)
		}
	}
	_, body := get(t, browser, at+"/plans/"+planID)
	key, err := ledger.Key(o.History.Dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Load(filepath.Join(o.Plans[0], "night.plan"), key)
	if err != nil {
		t.Fatal(err)
	}
	var terminal strings.Builder
	p.Print(&terminal)
	text := plainText(body)
	for line := range strings.Lines(terminal.String()) {
		separator := "  " // between text and position
		if strings.HasPrefix(line, "    ") {
			separator = ", " // between names, which the page lists
		}
		for part := range strings.SplitSeq(line, separator) {
			if !strings.Contains(text, strings.TrimSpace(part)) {
				t.Errorf("the page lacks %q:\n%s", part, text)
			}
		}
	}
	if strings.Contains(body, "<form") {
		t.Error("a page that only reads offers to carry the plan out")
	}
	for _, path := range []string{"/plans/nothing", "/plans/..%2f..", "/api/plans/nothing"} {
		if status, _ := get(t, browser, at+path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// plainText is what a page reads like.
func plainText(page string) string {
	text := strings.NewReplacer("&#34;", `"`, "&#43;", "+").Replace(tags.ReplaceAllString(page, " "))
	return strings.Join(strings.Fields(text), " ")
}

func TestMapOfWhatAPlanCreates(t *testing.T) {
	t.Parallel()
	_, at, browser := planPage(t, "North", nil, nil)
	_, body := get(t, browser, at+"/api/plans/"+planID)
	all := lines(t, body)
	if n := len(all["shape"]); n != 2 {
		t.Errorf("%d shapes, not those of the mission and one annotation: %s", n, body)
	}
	if len(all["photos"]) != 1 || len(all["photos"][0]["id"].([]any)) != 2 {
		t.Errorf("the photos are not on the map: %s", body)
	}
	if len(all["survey"]) != 1 || all["survey"][0]["text"] != "2 photos, 2 shapes" {
		t.Errorf("the end: %s", body)
	}
}

func TestMarkupInPlansStaysText(t *testing.T) {
	t.Parallel()
	for _, name := range append(markup, "a\u202egpj.exe", "\x1b[2J\nname") {
		_, at, browser := planPage(t, name, func(o *web.Options) {
			o.Actions, o.Again = true, func(string, []string) error { return nil }
		}, func(p *plan.Plan) {
			p.Version, p.By, p.Platforms = name, name, []plan.Login{{URL: name}}
			p.Guess, p.Effects = name, []plan.Effect{{Kind: sandbox.RunProgram, What: name, Position: name}}
			p.Writes[0].Position = name
		})
		for _, path := range []string{"/plans", "/plans/" + planID, "/plans/" + planID + "?compare=1"} {
			status, body := get(t, browser, at+path)
			if found := harmful(body); found != "" || status != http.StatusOK {
				t.Errorf("%q %s: %d, the browser would run %q", name, path, status, found)
			}
			if strings.ContainsAny(body, "\u202e\x1b") {
				t.Errorf("%q %s: hidden characters reach the browser", name, path)
			}
		}
		_, body := get(t, browser, at+"/api/plans/"+planID)
		if strings.ContainsAny(body, "\u202e\x1b") {
			t.Errorf("%q: hidden characters reach the map", name)
		}
		lines(t, body)
	}
}

// What has changed since is told before anybody carries the plan out.
func TestPlanThatNoLongerHolds(t *testing.T) {
	t.Parallel()
	var c *client.Client
	o, at, browser := planPage(t, "North", func(o *web.Options) { c = o.Client }, func(p *plan.Plan) {
		p.Reads = []*plan.Read{{Operation: "projects.search", Platform: platform.Address,
			Arguments: []byte(`{"filter":{"name":{"$eq":"North"}},"limit":5}`), Found: []string{},
			Position: "survey.lua:2"}}
		file := filepath.Join(p.Folder, "a.txt")
		if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		p.Files = []plan.File{{Path: "a.txt", Size: 1, Modified: info.ModTime(), MD5: "0cc175b9c0f1b6a831c399e269772661"}}
		p.Writes = append(p.Writes, &plan.Write{Number: len(p.Writes) + 1, Operation: "datasets.upload_file", Kind: plan.Send,
			Platform: platform.Address, File: "a.txt", Things: "datasets", Arguments: []byte(`{}`), Key: strings.Repeat("0", 24)})
	})
	expect := func(want ...string) {
		t.Helper()
		_, body := get(t, browser, at+"/plans/"+planID)
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("the page lacks %q: %s", text, plainText(body))
			}
		}
	}
	expect("Script, files and platform are as they were")
	if _, err := c.Projects.FindOrCreate(t.Context(), client.FindOrCreateProject{Name: "North"}); err != nil {
		t.Fatal(err)
	}
	expect("no longer holds", "projects.search (survey.lua:2) finds", "transect apply --refresh")
	if err := os.WriteFile(filepath.Join(o.Plans[0], "a.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("a.txt was changed")
}

func TestPlanIsCarriedOut(t *testing.T) {
	t.Parallel()
	type start struct {
		folder string
		words  []string
	}
	var started []start
	o, at, browser := planPage(t, "North", func(o *web.Options) {
		o.Login, o.Actions, o.Again = []string{"--config=far.json"}, true, func(folder string, words []string) error {
			started = append(started, start{folder, words})
			return nil
		}
	}, func(p *plan.Plan) { p.Effects = []plan.Effect{{Kind: sandbox.RunProgram, What: "touch made"}} })
	_, body := get(t, browser, at+"/plans/"+planID)
	checksum := regexp.MustCompile(`name="checksum" value="([0-9a-f]+)"`).FindStringSubmatch(body)
	if checksum == nil {
		t.Fatalf("no button: %s", body)
	}
	post := func(values url.Values) int {
		t.Helper()
		response, err := browser.PostForm(at+"/plans/"+planID+"/apply", values)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	token := formToken(t, browser, at)
	for name, values := range map[string]url.Values{
		"no token": {"checksum": checksum[1:]}, "a made up token": {"form": {"x"}, "checksum": checksum[1:]},
		"no checksum": {"form": {token}}, "another plan": {"form": {token}, "checksum": {strings.Repeat("0", 64)}},
	} {
		if status := post(values); status != http.StatusForbidden || len(started) > 0 {
			t.Errorf("%s: %d, %v", name, status, started)
		}
	}
	good := url.Values{"form": {token}, "checksum": checksum[1:]}
	if status := post(good); status != http.StatusOK || len(started) != 1 {
		t.Fatalf("%d, %v", status, started)
	}
	file := filepath.Join(o.Plans[0], "night.plan")
	if started[0].folder != o.Plans[0] || !slices.Equal(started[0].words, []string{"apply", "--config=far.json", file}) {
		t.Errorf("started %v", started[0])
	}
	good.Set("effects", "1")
	if post(good); len(started) != 2 || !slices.Equal(started[1].words, []string{"apply", "--allow-effects", "--config=far.json", file}) {
		t.Errorf("with effects: %v", started)
	}

	// Its run is shown, and what it has done so far; meanwhile it is not started again.
	run := &history.Summary{ID: history.NewID(time.Now()), Run: planID, State: history.Running, Script: "survey.lua", Started: time.Now(), PID: os.Getpid(),
		Plan: checksum[1], AgreedBy: "ada@desk"}
	entry, err := o.History.Begin(run)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := ledger.OpenRun(o.History.Dir, planID, ledger.Start{At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"plan 0 start": checksum[1], "plan 0 1": "{}", "plan 0 2": "sent"} {
		if err := notes.Put(name, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := notes.Sync(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond) // the list of runs is kept for a moment
	_, body = get(t, browser, at+"/plans/"+planID)
	for _, want := range []string{"/runs/" + run.ID, "running", "agreed to by ada@desk", "applied: 1 of 5 planned writes", "write 3:"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, plainText(body))
		}
	}
	if err := entry.WriteProgress([]byte(`{"findings":"  warning: a.jpg: no position\n"}`)); err != nil {
		t.Fatal(err)
	}
	if _, body := get(t, browser, at+"/runs/"+run.ID); !strings.Contains(body, "What the check found") || !strings.Contains(body, "a.jpg: no position") ||
		!strings.Contains(body, "ada@desk") || !strings.Contains(body, checksum[1]) {
		t.Errorf("the run lacks what the check found, or its plan: %s", plainText(body))
	}
	if status := post(good); status != http.StatusForbidden || len(started) != 2 {
		t.Errorf("a second start at the same time: %d, %v", status, started)
	}
	if err := notes.Close(); err != nil {
		t.Fatal(err)
	}
	run.State, run.End = history.Ended, &history.End{At: time.Now(), ExitCode: 3, Outcome: history.Outcome(3)}
	if err := entry.End(run); err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond)
	if _, body = get(t, browser, at+"/plans"); !strings.Contains(body, "partial") || !strings.Contains(body, "by ada@desk") {
		t.Errorf("the list does not say how the run ended: %s", plainText(body))
	}
}

// A stranger's plan is shown as such: no platform is asked about it, and the page does not
// carry it out.
func TestPlanOfAnother(t *testing.T) {
	t.Parallel()
	o, at, browser := planPage(t, "North", func(o *web.Options) {
		o.Actions, o.Again = true, func(string, []string) error { t.Error("it was started"); return nil }
	}, nil)
	file := filepath.Join(o.Plans[0], "night.plan")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	theirs := &plan.Plan{Head: plan.Head{ID: planID, Folder: o.Plans[0], Script: "s.lua", By: "eve@far"},
		Code:  []plan.Code{{File: "s.lua", Sum: strings.Repeat("0", 64)}},
		Reads: []*plan.Read{{Operation: "users.describe", Platform: platform.Address, Arguments: []byte(`{}`)}}}
	if err := theirs.Save(file, []byte("another key")); err != nil {
		t.Fatal(err)
	}
	if _, list := get(t, browser, at+"/plans"); !strings.Contains(list, "not yours") {
		t.Errorf("the list: %s", plainText(list))
	}
	_, body := get(t, browser, at+"/plans/"+planID+"?compare=1")
	for _, text := range []string{"was not made by you on this machine", "transect plan show " + file} {
		if !strings.Contains(body, text) {
			t.Errorf("the page lacks %q: %s", text, plainText(body))
		}
	}
	if strings.Contains(body, "<form") || strings.Contains(body, "as they were when") {
		t.Errorf("the page compares it, or offers to carry it out: %s", plainText(body))
	}
	response, err := browser.PostForm(at+"/plans/"+planID+"/apply", url.Values{"form": {formToken(t, browser, at)}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Error(response.Status)
	}
}

// A page that only reads has no address that carries a plan out.
func TestPlanNeedsPermission(t *testing.T) {
	t.Parallel()
	_, at, browser := planPage(t, "North", func(o *web.Options) {
		o.Again = func(string, []string) error { t.Error("it was started"); return nil }
	}, nil)
	response, err := browser.PostForm(at+"/plans/"+planID+"/apply", url.Values{"form": {formToken(t, browser, at)}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode < 400 {
		t.Error(response.Status)
	}
}

// A plan that a job carries out is not open to be carried out again.
func TestPlanOfAJob(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, store *jobs.Store) {
		sum := ""
		_, at, browser := planPage(t, "North", func(o *web.Options) {
			o.JobStore, o.Actions = store, true
			o.Again = func(string, []string) error { t.Error("it was carried out again"); return nil }
			key, err := ledger.FindKey(o.History.Dir)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Load(filepath.Join(o.Plans[0], "night.plan"), key)
			if err != nil {
				t.Fatal(err)
			}
			sum = p.Sum
			for _, run := range [][]string{{"--local=true", "--apply=" + p.Sum + ":/a/night.plan"}, {"--apply=00:/a/other.plan"}, {"--apply"}} {
				if _, err := store.Submit(t.Context(), jobs.Spec{Script: "survey.lua", Run: run, User: "ada@desk"}); err != nil {
					t.Fatal(err)
				}
			}
		}, nil)
		for _, path := range []string{"/plans", "/plans/" + planID} {
			if _, body := get(t, browser, at+path); !strings.Contains(body, `href="/jobs/1">waiting</a>`) || !strings.Contains(body, "ada@desk") {
				t.Errorf("%s does not show the job and its submitter:\n%s", path, plainText(body))
			}
		}
		_, body := get(t, browser, at+"/plans/"+planID)
		checksum := regexp.MustCompile(`name="checksum" value="([0-9a-f]+)"`).FindStringSubmatch(body)
		if checksum != nil {
			t.Error("there is a button")
		}
		answer, err := browser.PostForm(at+"/plans/"+planID+"/apply", url.Values{"form": {formToken(t, browser, at)}, "checksum": {sum}})
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Error(answer.Status)
		}
	})
}
