package faulttest

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	clientfault "transect/client/fault"
)

// How a case ended.
const (
	well     = "well"
	bad      = "FAILED"
	unmet    = "unmet"    // the workflow was done before its request
	asked    = "asked"    // it ended with the documented UnknownOutcomeError
	admitted = "admitted" // something was done twice, after the settling time, and the run said so
)

// record notes how cases ended: for the summary, and in the file that
// TRANSECT_FAULTS_RECORD names, a line each as they end. Those which ended well
// by that file are not run again, so that a long run can be stopped at any time.
type record struct {
	test    string
	mu      sync.Mutex
	file    *os.File
	ended   map[string]bool
	number  map[string]int // by how they ended
	stopped map[string]int // by the name of the error of the first run
}

func newRecord(t *testing.T) *record {
	r := &record{test: t.Name(), ended: map[string]bool{}, number: map[string]int{}, stopped: map[string]int{}}
	path := os.Getenv("TRANSECT_FAULTS_RECORD")
	if path == "" {
		return r
	}
	var err error
	if r.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.file.Close() })
	for lines := bufio.NewScanner(r.file); lines.Scan(); {
		if f := strings.Split(lines.Text(), "\t"); len(f) == 4 && f[0] == r.test && f[2] != bad {
			r.count(f[1], f[2], f[3])
		}
	}
	return r
}

// done reports whether a case has ended well before.
func (r *record) done(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended[name]
}

func (r *record) count(name, end, stopped string) {
	r.ended[name] = true
	r.number[end]++
	if stopped != "" && end != bad {
		r.stopped[stopped]++
	}
}

// note takes down how a case ended, and what its first run stopped with.
func (r *record) note(name, end string, err error) {
	stopped := ""
	if item := (itemError{}); errors.As(err, &item) {
		stopped = "one file"
	} else if f := clientfault.Find(err); f != nil {
		stopped = f.Name()
	} else if err != nil {
		stopped = "no name"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(name, end, stopped)
	if r.file != nil {
		fmt.Fprintf(r.file, "%s\t%s\t%s\t%s\n", r.test, name, end, stopped)
	}
}

// stops is how many cases were stopped by their fault.
func (r *record) stops() (n int) {
	for _, times := range r.stopped {
		n += times
	}
	return n
}

// String is the summary.
func (r *record) String() string {
	var names []string
	again := 0
	for _, name := range slices.Sorted(maps.Keys(r.stopped)) {
		again += r.stopped[name]
		names = append(names, fmt.Sprint(name, " ", r.stopped[name]))
	}
	text := fmt.Sprintf("%d cases, %d failed; %d went through, %d stopped with a named error and ended well when run again (%s)",
		r.number[well]+r.number[bad]+r.number[asked]+r.number[admitted], r.number[bad], r.number[well]+r.number[asked]+r.number[admitted]-again, again-r.number[asked], strings.Join(names, ", "))
	if n := r.number[asked]; n > 0 {
		text += fmt.Sprintf("; %d ended with the documented UnknownOutcomeError", n)
	}
	if n := r.number[admitted]; n > 0 {
		text += fmt.Sprintf("; %d were done twice by a request that came after the settling time, and were told", n)
	}
	return text
}
