//go:build unix

package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/runtime"
	"transect/runtime/jobs"
	"transect/testdata/flightgen"
	"transect/testdata/jobstest"
)

// databaseCommand is a use of a command and its exit codes: in an empty database, and in one of jobstest.Fill.
type databaseCommand struct {
	args          string
	empty, filled int
}

// looksAtJobs leave the database as it is.
var looksAtJobs = []databaseCommand{
	{"jobs", 0, 0},
	{"jobs --jobs", 0, 0}, // its value follows
	{"jobs --json", 0, 0},
	{"jobs --failed", 0, 0},
	{"jobs --failed --json --limit 3", 0, 0},
	{"jobs --state waiting,scheduled,running,retrying --limit 0", 0, 0},
	{"jobs --state needs-decision", 2, 2},
	{"jobs --state needs-a-decision,done-with-failures,stopped,cancelled", 0, 0},
	{"jobs --since 12h", 0, 0},
	{"jobs --since 7d --failed", 0, 0},
	{"jobs --queue default", 0, 0},
	{"jobs --key field-7", 0, 0},
	{"jobs --schedule nightly", 0, 0},
	{"jobs --parent 5 --failed", 0, 0},
	{"jobs --worker alpha", 0, 0},
	{"jobs --script field-7", 0, 0},
	{"jobs --script 100%_\\'", 0, 0},
	{"jobs --script \xff --queue \xff --worker \xff", 0, 0},
	{"jobs --key \xff", 0, 0},
	{"jobs --schedule \xff", 0, 0},
	{"schedule show \xff", 1, 1},
	{"jobs --limit 1", 0, 0},
	{"jobs --limit 0 --json", 0, 0},
	{"jobs --queue default --key field-7 --schedule nightly --parent 5 --worker alpha --script x --since 1h --failed", 0, 0},
	{"jobs show 2", 1, 0},
	{"jobs show 5", 1, 0},
	{"jobs show 41", 1, 0},
	{"jobs show 42", 1, 0},
	{"jobs show 51", 1, 0},
	{"jobs show 61", 1, 0},
	{"jobs show 71", 1, 0},
	{"jobs show 100", 1, 0},
	{"jobs show --json 2", 1, 0},
	{"jobs show --json 61", 1, 0},
	{"jobs show 9223372036854775807", 1, 1},
	{"jobs show 9223372036854775808", 2, 2},
	{"jobs logs 2", 1, 0},
	{"jobs logs 41", 1, 0},
	{"jobs logs --times 2", 1, 0},
	{"jobs logs --lines 1 2", 1, 0},
	{"jobs logs --lines 1 --times 61", 1, 0},
	{"jobs logs --follow 2", 1, 0},
	{"jobs logs -f --lines 2 10", 1, 0},
	{"jobs stats", 0, 0},
	{"jobs stats --json", 0, 0},
	{"jobs stats --within 12h", 0, 0},
	{"jobs roles", 0, 0},
	{"workers", 0, 0},
	{"workers --json", 0, 0},
	{"workers --all", 0, 0},
	{"workers --all --json", 0, 0},
	{"schedule list", 0, 0},
	{"schedule list --json", 0, 0},
	{"schedule show nightly", 1, 0},
	{"schedule show --next 50 weekly", 1, 0},
	{"schedule show hourly", 1, 0},
	{"schedule show nightli", 1, 1},
	{"schedule history nightly", 1, 0},
	{"schedule history --json --limit 0 nightly", 1, 0},
	{"schedule history weekly", 1, 0},
	{"schedule backfill --dry-run --from 2d nightly", 1, 0},
	{"schedule import --dry-run", 0, 0},
	{"runs", 0, 0},
	{"runs show job-2", 1, 0},
	{"runs show --json job-2", 1, 0},
	{"runs show job-10", 1, 0},
	{"runs show job-41", 1, 1}, // it has not started
	{"runs show job-61", 1, 0},
	{"runs show job-100", 1, 0},
	{"runs verify --local job-100", 1, 0},
	{"runs undo --local --dry-run job-100", 1, 0},
	{"runs settle job-2 1 --send", 1, 2},
	{"runs forget job-2", 2, 2},
}

// changesToJobs change the database, each where those before have left it.
var changesToJobs = []databaseCommand{
	{"runs settle job-61 1 --send", 1, 2},
	{"runs settle job-100 1 --adopt 6b0203ac9f8e4d1c2b3a4958", 1, 0},
	{"runs settle job-100 1 --send", 1, 2}, // nothing to decide any more
	{"jobs retry 10", 1, 0},
	{"jobs retry 71 100", 1, 0},
	{"jobs retry 2", 1, 1},
	{"jobs retry 61", 1, 1},
	{"jobs cancel 41", 1, 0},
	{"jobs cancel 41", 1, 1},
	{"jobs cancel 42 51", 1, 0},
	{"jobs cancel 61", 1, 0}, // its worker would do it
	{"jobs show 61", 1, 0},
	{"jobs rm 61", 1, 1},
	{"jobs rm 41", 1, 0},
	{"jobs rm 20 5 100", 1, 0},
	{"jobs show 81", 1, 0}, // its parent is gone
	{"jobs rm --older-than 27h45m", 0, 0},
	{"submit mine.lua", 0, 0},
	{"submit --json --in 90m --key field-7 --queue ortho --priority 1 --retries 0 --timeout 1h mine.lua a b", 0, 0},
	{"submit --at 02:30 --on beta --on-failure env:OPS --late 1h --ping env:OPS mine.lua", 0, 0},
	{"submit mine.lua d\xff", 2, 2}, // JSON would replace it
	{"submit --key \xff mine.lua", 2, 2},
	{"schedule add other @daily mine.lua d\xff", 2, 2},
	{"jobs --queue ortho", 0, 0},
	{"schedule add mine @daily --zone Europe/Paris --catch-up all --overlap queue --on-failure env:OPS mine.lua {slot_date}", 0, 0},
	{"schedule add mine @daily mine.lua", 2, 2},
	{"schedule add --replace mine @hourly mine.lua", 0, 0},
	{"schedule edit mine --when @weekly --queue ortho", 0, 0},
	{"schedule edit mine mine.lua other", 0, 0},
	{"schedule run mine", 0, 0},
	{"schedule run mine", 0, 0}, // waits for the first
	{"schedule backfill --from 20d --to 2d mine", 0, 0},
	{"schedule pause mine", 0, 0},
	{"schedule list", 0, 0},
	{"schedule show mine", 0, 0},
	{"schedule history mine", 0, 0},
	{"schedule resume mine", 0, 0},
	{"schedule run nightly", 1, 0},
	{"schedule edit nightly --late 2h --on-failure env:OTHER", 1, 0},
	{"schedule remove mine", 0, 0},
	{"schedule remove mine", 1, 1},
	{"schedule import --queue beta --zone UTC --keep", 0, 0},
	{"schedule import cronjob", 2, 2}, // the table has none
	{"jobs", 0, 0},
	{"jobs stats", 0, 0},
	{"runs prune", 0, 0},
}

// lazily compiles a pattern when it is first used.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// databaseErrors are words of databases that nobody should read who uses jobs.
var databaseErrors = lazily(`SQLSTATE|SQL logic error|: syntax error|syntax error at|no such (column|table|function)|` +
	`constraint failed|violates|does not exist|driver:|\bsql: |Scan error|panic|goroutine \d`)

// Every command and every page of jobs works on both databases: empty, with some jobs, and with 100,000.
func TestEveryCommandAndPageOnBothDatabases(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		t.Parallel()
		for _, size := range []int{0, 300, 100_000} {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				if size > 1000 && testing.Short() {
					t.Skip("left out by -short: it makes 100,000 jobs")
				}
				c.StateDir = t.TempDir()
				if c.URL != "" {
					c.URL = jobstest.Database(t)
				}
				onDatabase(t, c, size)
			})
		}
	})
}

func onDatabase(t *testing.T, c jobs.Config, size int) {
	began := time.Now()
	h := newHome(t, 0, flightgen.Options{})
	h.settings = []string{"TRANSECT_STATE_DIR=" + c.StateDir, "TRANSECT_CRONTAB=" + filepath.Join(h.dir, "crontab.sh"), "TZ=UTC"}
	address := "sqlite is in the state folder"
	if c.URL != "" {
		h.settings, address = append(h.settings, "TRANSECT_JOBS="+c.URL), c.URL
	}
	h.file("mine.lua", "print(1)\n")
	h.file("crontab.sh", "#!/bin/sh\necho 'no crontab for me' >&2\nexit 1\n")
	if err := os.Chmod(filepath.Join(h.dir, "crontab.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if size > 0 {
		store, err := jobs.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		jobstest.Fill(t, store, size, 1)
		store.Close()
	}
	filled := time.Now()
	use := func(uses []databaseCommand) {
		for _, u := range uses {
			args, want := strings.Fields(u.args), u.empty
			if args[len(args)-1] == "--jobs" {
				if c.URL == "" {
					continue
				}
				args = append(args, address)
			}
			if size > 0 {
				want = u.filled
			}
			start := time.Now()
			stdout, stderr, code := h.run(args...)
			if took := time.Since(start); took > time.Second {
				t.Logf("%s took %s", u.args, took.Round(10*time.Millisecond))
			}
			if code != want {
				t.Errorf("transect %s: exit code %d, want %d\n%.2000s%.2000s", u.args, code, want, stdout, stderr)
			}
			if what := databaseErrors().FindString(stderr); what != "" {
				t.Errorf("transect %s says %q:\n%.2000s", u.args, what, stderr)
			}
			if strings.Contains(u.args, "--json") && want == 0 && stdout != "" && !strings.HasPrefix(stdout, "{") {
				t.Errorf("transect %s prints no JSON: %.200s", u.args, stdout)
			}
		}
	}
	use(looksAtJobs)
	looked := time.Now()
	pages := crawlJobs(t, h, size)
	crawled := time.Now()
	use(changesToJobs)
	changed := time.Now()
	workOnce(t, h)
	t.Logf("filled in %s, %d looks in %s, %d pages in %s, %d changes in %s", filled.Sub(began).Round(time.Millisecond),
		len(looksAtJobs), looked.Sub(filled).Round(time.Millisecond), pages, crawled.Sub(looked).Round(time.Millisecond),
		len(changesToJobs), changed.Sub(crawled).Round(time.Millisecond))
}

// workOnce starts a worker without jobs, and interrupts it.
func workOnce(t *testing.T, h *home) {
	p := start(t, h.dir, h.settings, "worker", "--name", "idle", "--queues", "nothing", "--listen", "127.0.0.1:0")
	p.waitForStderr("worker idle: up to")
	for began := time.Now(); !strings.Contains(h.must("workers"), "idle"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > testTimeout {
			t.Fatal("the worker is not listed\n" + p.stderr.String())
		}
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, code := p.end(); code != 0 || databaseErrors().MatchString(p.stderr.String()) {
		t.Errorf("the worker ended with exit code %d\n%s", code, p.stderr.String())
	}
}

const (
	mostPages = 150
	mostAlike = 5 // pages whose addresses differ in numbers only
	fewAlike  = 1 // of many jobs
)

var (
	hrefs   = lazily(`href="([^"]*)"`)
	numbers = lazily(`\d+`)
	topics  = lazily(`data-topics="([^"]+)"`)
	forms   = lazily(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	selects = lazily(`(?s)<select name="([^"]*)">(.*?)</select>`)
	options = lazily(`<option(?: selected)?(?: value="([^"]*)">|>([^<]*))`)
	inputs  = regexp.MustCompile(`<input name="([^"]*)"`)
)

// crawlJobs follows the links, filters and live updates of the page of jobs, and returns how many it has read.
func crawlJobs(t *testing.T, h *home, size int) int {
	cmd := h.command("ui", "--jobs", "--local")
	var stderr stderrBuffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the page does not start: %v\n%s", err, stderr.String())
	}
	browser, at := browse(t, strings.TrimSpace(line))
	site, err := url.Parse(at + "/")
	if err != nil {
		t.Fatal(err)
	}
	queue := []*url.URL{site, site.JoinPath("jobs"), site.JoinPath("schedules/\x00"), site.JoinPath("schedules/\xff")}
	seen, alike, followed := map[string]bool{}, map[string]int{}, map[string]bool{} // addresses, without numbers
	read, most := 0, mostAlike
	if size > 1000 {
		most = fewAlike
	}
	for ; len(queue) > 0 && read < mostPages; queue = queue[1:] {
		path := queue[0].RequestURI()
		like := numbers().ReplaceAllString(path, "N")
		if seen[path] || alike[like] == most {
			continue
		}
		seen[path] = true
		alike[like]++
		read++
		began := time.Now()
		response, err := browser.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if took := time.Since(began); took > time.Second {
			t.Logf("%s took %s", path, took.Round(10*time.Millisecond))
		}
		body, kind := string(text), response.Header.Get("Content-Type")
		_, shown, _ := strings.Cut(body, "<main")
		wrong := strings.Contains(path, "%00") || strings.Contains(path, "%FF") ||
			size == 0 && path == "/jobs/5" // of the filter by parent
		if err != nil || response.StatusCode != http.StatusOK && (!wrong || response.StatusCode >= 500) {
			t.Errorf("%s answers %d, %v: %.1000s", path, response.StatusCode, err, shown)
		}
		if what := databaseErrors().FindString(body); what != "" && !strings.HasPrefix(path, "/static/") {
			t.Errorf("%s says %q: %.3000s", path, what, shown)
		}
		if !strings.HasPrefix(kind, "text/html") {
			continue
		}
		for _, link := range linksOf(body) {
			if to, err := queue[0].Parse(link); err != nil {
				t.Errorf("%s has the link %q: %v", path, link, err)
			} else if to.Host == site.Host {
				queue = append(queue, to)
			}
		}
		kindOfPage := numbers().ReplaceAllString(queue[0].Path, "N")
		if len(queue[0].Query()["state"]) > 0 {
			kindOfPage += "?state"
		}
		if m := topics().FindStringSubmatch(body); m != nil && !followed[kindOfPage] {
			followed[kindOfPage] = true
			followJobs(t, browser, at, path, strings.Fields(html.UnescapeString(m[1])))
		}
	}
	for _, path := range []string{"/jobs", "/runs"} {
		if !seen[path] {
			t.Errorf("no link leads to %s", path)
		}
	}
	if what := databaseErrors().FindString(stderr.String()); what != "" {
		t.Errorf("the page says %q:\n%s", what, stderr.String())
	}
	return read
}

// linksOf are the addresses in a page, and those that its filters lead to.
func linksOf(page string) (all []string) {
	for _, m := range hrefs().FindAllStringSubmatch(page, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	for _, form := range forms().FindAllStringSubmatch(page, -1) {
		to, _, _ := strings.Cut(html.UnescapeString(form[1]), "#")
		with := func(name, value string) { all = append(all, to+"?"+url.Values{name: {value}}.Encode()) }
		for _, s := range selects().FindAllStringSubmatch(form[2], -1) {
			for _, o := range options().FindAllStringSubmatch(s[2], -1) {
				with(s[1], html.UnescapeString(o[1]+o[2])) // its value, or else its text
			}
		}
		for _, i := range inputs.FindAllStringSubmatch(form[2], -1) {
			for _, value := range []string{"5", "alpha", `%_\'`, "\x00", "\xff"} {
				with(i[1], value)
			}
		}
	}
	return all
}

// followJobs reads the first news of what a page follows.
func followJobs(t *testing.T, browser *http.Client, at, path string, names []string) {
	response, err := browser.Get(at + "/events?" + url.Values{"topic": names}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the stream of %s answers %d", path, response.StatusCode)
		return
	}
	defer time.AfterFunc(500*time.Millisecond, func() { _ = response.Body.Close() }).Stop()
	news := 0
	for lines := bufio.NewScanner(response.Body); news < len(names) && lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "event: problem"), databaseErrors().MatchString(line):
			lines.Scan()
			lines.Scan()
			t.Errorf("the stream of %s %v: %s %s", path, names, line, lines.Text())
			return
		case strings.HasPrefix(line, "data: "):
			news++
		}
	}
}

// Every command of jobs is used on both databases, and every flag but those of scripts and those that wait for a worker.
func TestEveryCommandOfJobsIsUsedOnBothDatabases(t *testing.T) {
	root := func() *cobra.Command { return newCommandLine(&runtime.Process{Now: time.Now}).Root(nil) }
	used := map[string]map[string]bool{"worker": {}} // flags, by command; workOnce uses worker
	name := func(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "transect ") }
	takesAll := []string{"submit", "schedule add", "schedule edit", "worker"} // any flag of a script
	for _, u := range slices.Concat(looksAtJobs, changesToJobs) {
		cmd, rest, err := root().Find(strings.Fields(u.args))
		if err != nil {
			t.Errorf("%s: %v", u.args, err)
			continue
		}
		if used[name(cmd)] == nil {
			used[name(cmd)] = map[string]bool{}
		}
		if slices.Contains(takesAll, name(cmd)) {
			continue
		}
		if strings.HasSuffix(u.args, "--jobs") {
			rest = append(rest, "postgres:///x")
		}
		_ = cmd.ParseFlags(rest) // wrong ones are among them
		cmd.Flags().Visit(func(f *pflag.Flag) { used[name(cmd)][f.Name] = true })
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		flags := used[name(cmd)]
		if cmd.Runnable() && flags == nil && name(cmd) != "schedule" {
			t.Errorf("transect %s is not among looksAtJobs or changesToJobs", name(cmd))
		}
		if flags != nil && !slices.Contains(takesAll, name(cmd)) {
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if !flags[f.Name] && f.Name != "help" && f.Name != "jobs" && f.Name != "wait" && f.Name != "follow" {
					t.Errorf("transect %s --%s is not among looksAtJobs or changesToJobs", name(cmd), f.Name)
				}
			})
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	for _, c := range []string{"jobs", "schedule", "workers", "worker", "submit"} {
		cmd, _, err := root().Find([]string{c})
		if err != nil {
			t.Fatal(err)
		}
		walk(cmd)
	}
}
