package monitor_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/jobs/worker"
	"transect/runtime/jobs/worker/monitor"
	"transect/testdata/jobstest"
)

func start(t *testing.T) *monitor.Monitor {
	t.Helper()
	m, err := monitor.Start(t.Context(), "127.0.0.1:0", monitor.Options{Counters: &worker.Counters{}, Name: "here", Version: "v1",
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func get(t *testing.T, m *monitor.Monitor, path string) (int, string) {
	t.Helper()
	answer, err := http.Get("http://" + m.Address() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// Before a worker has its database it lives, takes no jobs, and says so.
func TestBeforeTheDatabase(t *testing.T) {
	t.Parallel()
	m := start(t)
	for path, want := range map[string]string{
		"/healthz": "200 ok\n", "/readyz": "503 it waits for the database\n", "/": "404 404 page not found\n",
		"/metrics/": "404 404 page not found\n", "/debug/pprof/": "404 404 page not found\n",
	} {
		if code, text := get(t, m, path); fmt.Sprint(code, " ", text) != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	_, text := get(t, m, "/metrics")
	for _, line := range []string{`transect_worker_info{name="here",version="v1"} 1`, "transect_worker_ready 0", "transect_database_up 0",
		`transect_attempts_total{outcome="needs a decision"} 0`} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}

// What Prometheus says of names, help and types.
func TestMetricsAreAsPrometheusWantsThem(t *testing.T) {
	t.Parallel()
	m := start(t)
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	if _, err := store.Submit(t.Context(), jobs.Spec{Script: "a.lua"}); err != nil {
		t.Fatal(err)
	}
	m.Use(store)
	_, text := get(t, m, "/metrics")
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The queues are those of the database; what it answered holds for some seconds, whoever asks.
func TestQueues(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		store := jobstest.Open(t, c)
		for _, spec := range []jobs.Spec{{Script: "a.lua"}, {Script: "secret.lua", Args: []string{"secret"}}, {Script: "late.lua", In: time.Hour}} {
			if _, err := store.Submit(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
		}
		m := start(t)
		m.Use(store)
		_, text := get(t, m, "/metrics")
		for _, line := range []string{"transect_database_up 1", `transect_jobs{queue="default",state="waiting"} 2`,
			`transect_jobs{queue="default",state="scheduled"} 1`} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("no %s in\n%s", line, text)
			}
		}
		if !regexp.MustCompile(`\ntransect_jobs_oldest_due_seconds{queue="default"} [0-9.e-]+\n`).MatchString(text) {
			t.Errorf("no age in\n%s", text)
		}
		if strings.Contains(text, "secret") {
			t.Error("the content of a job is shown")
		}
		if _, err := store.Submit(t.Context(), jobs.Spec{Script: "a.lua"}); err != nil {
			t.Fatal(err)
		}
		if _, text = get(t, m, "/metrics"); !strings.Contains(text, `state="waiting"} 2`) {
			t.Error("each scrape asks the database")
		}
	})
}

// A database that does not answer delays a scrape for some seconds, and the next one for none.
func TestTheDatabaseDoesNotAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes seconds")
	}
	t.Parallel()
	store := jobstest.Open(t, jobs.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "jobs.db")})
	m := start(t)
	m.Use(store)
	err := store.Tx(t.Context(), func(*jobs.Tx) error { // it has the only connection
		for _, most := range []time.Duration{30 * time.Second, 4 * time.Second} {
			began := time.Now()
			if _, text := get(t, m, "/metrics"); !strings.Contains(text, "\ntransect_database_up 0\n") || !strings.Contains(text, "transect_worker_slots 0") {
				t.Errorf("%s", text)
			}
			if took := time.Since(began); took > most {
				t.Errorf("a scrape took %s", took)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	m := start(t)
	for _, c := range []struct {
		method, header string
		want           int
	}{{"POST", "", 405}, {"DELETE", "", 405}, {"HEAD", "", 200}, {"GET", strings.Repeat("x", 20<<10), 431}} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+m.Address()+"/healthz", bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Long", c.header)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != c.want {
			t.Errorf("%s: %s", c.method, answer.Status)
		}
	}
}

func TestAddressesThatCannotBe(t *testing.T) {
	t.Parallel()
	m := start(t)
	for _, address := range []string{m.Address(), "here", "127.0.0.1:x", "127.0.0.1:99999"} {
		_, err := monitor.Start(context.Background(), address, monitor.Options{Counters: &worker.Counters{}, Log: slog.New(slog.DiscardHandler)})
		if _, usage := fault.Find(err).(*fault.UsageError); !usage {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// The page for operators has all metrics of ours, and no others.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	m, store := start(t), jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	if _, err := store.Submit(t.Context(), jobs.Spec{Script: "a.lua"}); err != nil {
		t.Fatal(err)
	}
	m.Use(store)
	_, text := get(t, m, "/metrics")
	names := func(text, pattern string) (all []string) {
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			all = append(all, found[1])
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	_, table, _ := strings.Cut(string(page), "| metric |")
	table, _, _ = strings.Cut(table, "\n\n")
	ours := names(text, `# HELP (transect_\w+)`)
	if told := names(table, "`(transect_\\w+)`"); !slices.Equal(told, ours) {
		t.Errorf("docs/deploy.md has %q, /metrics %q", told, ours)
	}
	_, alarms, _ := strings.Cut(string(page), "| alarm |")
	alarms, _, _ = strings.Cut(alarms, "\n\n")
	rules, err := os.ReadFile("../../../../docs/deploy/alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names(alarms+string(rules), `(transect_\w+)`) {
		if !slices.Contains(ours, name) {
			t.Errorf("docs/deploy has an alarm for %s", name)
		}
	}
}
