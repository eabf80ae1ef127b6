package history_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/runtime/unattended/history"
)

var started = time.Date(2026, 7, 1, 6, 0, 0, 0, time.UTC)

func TestReport(t *testing.T) {
	run := &history.Summary{ID: "1", State: history.Ended, Script: "/s/x.lua", Arguments: []string{"a"}, Version: "v", PID: 7, Started: started,
		End: &history.End{At: started.Add(90 * time.Second), Seconds: 90, ExitCode: 3, Outcome: history.Outcome(3), Sent: 1 << 40, ItemsDone: 11, ItemsFailed: 1,
			Operations: map[string]history.Calls{"datasets.create": {Count: 12, Failed: 1}},
			Error:      &history.Failure{Name: "UploadError", Message: "line 1\nline 2", File: "x.lua", Line: 4}}}
	var got map[string]any
	if err := json.Unmarshal(run.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	end := got["end"].(map[string]any)
	for name, pair := range map[string][2]any{"exit_code": {end["exit_code"], 3.0}, "outcome": {end["outcome"], "partial"}, "bytes_sent": {end["bytes_sent"], float64(1 << 40)},
		"items_failed": {end["items_failed"], 1.0}, "operations": {fmt.Sprint(end["operations"]), "map[datasets.create:map[count:12 failed:1]]"},
		"error": {end["error"].(map[string]any)["line"], 4.0}, "started": {got["started"], "2026-07-01T06:00:00Z"}, "script": {got["script"], "/s/x.lua"}} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	if run.End = nil; bytes.Contains(run.JSON(), []byte(`"end"`)) || run.Duration(started.Add(time.Minute)) != time.Minute {
		t.Errorf("a run under way: %s", run.JSON())
	}
	for code, want := range map[int]string{0: "success", 1: "failed", 2: "usage", 6: "locked", 10: "timeout", 77: "failed", 130: "interrupted", 143: "terminated"} {
		if got := history.Outcome(code); got != want {
			t.Errorf("%d is %s", code, got)
		}
	}
}

// sample is a line of Prometheus' text format.
var sample = regexp.MustCompile(`^([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (-?[0-9.]+)$`)

// Whatever a script is called, the metrics can be read, each family is named
// once before its samples, and they tell the truth.
func TestMetrics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := &history.Summary{Script: rapid.String().Draw(t, "script"), Started: started}
		code := rapid.SampledFrom([]int{0, 1, 3, 143}).Draw(t, "code")
		before := []byte(rapid.SampledFrom([]string{"", "# nonsense", `transect_run_last_success_timestamp_seconds{script="x"} 1000.5` + "\n", "transect_run_last_success_timestamp_seconds{} x\n"}).Draw(t, "before"))
		ended := rapid.Bool().Draw(t, "ended")
		if ended {
			run.End = &history.End{At: started.Add(time.Second), Seconds: 1, ExitCode: code, ItemsDone: 5, ItemsFailed: 2,
				Operations: map[string]history.Calls{rapid.String().Draw(t, "operation"): {Count: 3, Failed: 1}, "b": {Count: 1}}}
		}
		text := string(run.Metrics(before))
		values, types := map[string]float64{}, map[string]int{}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if name, is := strings.CutPrefix(line, "# TYPE "); is {
				types[strings.Fields(name)[0]]++
				continue
			}
			if strings.HasPrefix(line, "# HELP ") {
				continue
			}
			m := sample.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("cannot be read: %q\n%s", line, text)
			}
			if types[m[1]] != 1 {
				t.Fatalf("%s is of %d types", m[1], types[m[1]])
			}
			values[m[1]], _ = strconv.ParseFloat(m[3], 64)
		}
		want := map[string]float64{"transect_run_running": 1, "transect_run_start_timestamp_seconds": float64(started.Unix())}
		if strings.Contains(string(before), "1000.5") {
			want["transect_run_last_success_timestamp_seconds"] = 1000.5
		}
		if ended {
			want["transect_run_running"], want["transect_run_exit_code"], want["transect_run_success"] = 0, float64(code), 0
			if code == 0 {
				want["transect_run_success"], want["transect_run_last_success_timestamp_seconds"] = 1, float64(started.Unix()+1)
			}
		}
		for name, v := range want {
			if got, there := values[name]; !there || got != v {
				t.Fatalf("%s is %v (%t), want %v\n%s", name, got, there, v, text)
			}
		}
		if _, there := values["transect_run_last_success_timestamp_seconds"]; there != (want["transect_run_last_success_timestamp_seconds"] != 0) {
			t.Fatalf("a success that never was:\n%s", text)
		}
	})
}
