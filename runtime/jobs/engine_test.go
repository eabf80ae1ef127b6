package jobs

import (
	"os"
	"regexp"
	"testing"
)

// engine.go uses parts of River that may change in any version. Before another version:
//   - does riverdriver.Executor.JobGetAvailable still take the first jobs that are due,
//     and append the worker to attempted_by?
//   - do the columns and states of river_job stay as SetStateTx, worker/fetch.go and
//     worker/reap.go have them, on both databases?
//   - is river_insert still the channel of inserted jobs?
//   - run the tests of worker, with those that kill workers and cut lines.
func TestVersionOfRiver(t *testing.T) {
	const read = "v0.49.0"
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`github\.com/riverqueue/river\S* (v\S+)`).FindAllStringSubmatch(string(text), -1) {
		if found++; m[1] != read {
			t.Errorf("%s: engine.go was written for %s; check what is listed above", m[0], read)
		}
	}
	if found < 3 {
		t.Error("River is not in go.mod")
	}
}
