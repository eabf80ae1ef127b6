package worker

import (
	"os"
	"regexp"
	"testing"
)

// pilot.go uses parts of River that may change in any version. Before another version:
//   - read riverpilot.Pilot, riverpilot.StandardPilot and the changelog again: does
//     River fetch jobs, or set states of running ones, by other ways than those that
//     pilot overrides (producer.go, job_completer.go, job_executor.go, job_rescuer.go)?
//   - does every field of riverdriver.JobSetStateIfRunningManyParams go through
//     pilot.withoutAttempt, and does NotifyNonTxJobInsert wake a producer still?
//   - do the columns and states of river_job stay as SetStateTx, wake.go and reap.go
//     have them, on both databases?
//   - run the tests of this package, with those that kill workers and cut lines.
func TestVersionOfRiver(t *testing.T) {
	const read = "v0.49.0"
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`github\.com/riverqueue/river\S* (v\S+)`).FindAllStringSubmatch(string(text), -1) {
		if found++; m[1] != read {
			t.Errorf("%s: pilot.go was written for %s; check what is listed above", m[0], read)
		}
	}
	if found < 3 {
		t.Error("River is not in go.mod")
	}
}
