package vm

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// itemCounter counts the items of a run, for its report. Safe for concurrent use.
type itemCounter struct {
	mu          sync.Mutex
	items       Items
	fixed       bool  // by SetItems
	unaccounted int64 // by FailItems, before SetItems
	temporary   int64 // failed items that may succeed later
	ingests     []string
	found       string
	displays    []*func() any
}

// Items are how many pieces of work a run has done, as far as it reports them.
type Items struct {
	Done   int64 // finished, without the failed ones
	Failed int64
	// Verdicts counts files by an ingest's verdict.
	Verdicts map[string]int64
}

// CountItems adds to the items of the run.
func (in *Interp) CountItems(done, failed int64) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	if !in.items.fixed {
		in.items.items.Done += done
		in.items.items.Failed += failed
	}
}

// FailItems adds failed items that make the run a partial failure, unless the
// script accounts for them with SetItems.
func (in *Interp) FailItems(failed int64) {
	in.CountItems(0, failed)
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	in.items.unaccounted += failed
}

// Unaccounted returns how many items failed without the script accounting for them.
func (in *Interp) Unaccounted() int64 {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	return in.items.unaccounted
}

// CountTemporary counts failed items that may succeed later.
func (in *Interp) CountTemporary(failed int64) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	in.items.temporary += failed
}

// FailedItems returns the exit of a run with failed items: 5 when all may
// succeed later, else 3.
func (in *Interp) FailedItems(failed int64) *Exit {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	if failed == in.items.temporary {
		return &Exit{Code: 5}
	}
	return &Exit{Code: 3}
}

// CountVerdict adds files that have a verdict.
func (in *Interp) CountVerdict(verdict string, files int64) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	if files == 0 {
		return
	}
	if in.items.items.Verdicts == nil {
		in.items.items.Verdicts = map[string]int64{}
	}
	in.items.items.Verdicts[verdict] += files
}

// SetItems overrides what was counted, and will be.
func (in *Interp) SetItems(items Items) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	items.Verdicts = in.items.items.Verdicts
	in.items.items, in.items.fixed, in.items.unaccounted = items, true, 0
}

// Items returns what was counted so far.
func (in *Interp) Items() Items {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	items := in.items.items
	items.Verdicts = maps.Clone(items.Verdicts)
	return items
}

// Transferred reports bytes that a transfer moved; negative when they must be
// sent again.
func (in *Interp) Transferred(delta int64) {
	in.transfers.Range(func(watch, _ any) bool {
		(*watch.(*func(int64)))(delta)
		return true
	})
}

// WatchTransfers calls watch, from any goroutine, with what transfers report,
// until stop is called.
func (in *Interp) WatchTransfers(watch func(delta int64)) (stop func()) {
	in.transfers.Store(&watch, nil)
	return func() { in.transfers.Delete(&watch) }
}

// AddIngest adds the ID of an ingest that starts.
func (in *Interp) AddIngest(id string) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	in.items.ingests = append(in.items.ingests, id)
}

// Ingests returns the IDs of the ingests so far.
func (in *Interp) Ingests() []string {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	return slices.Clone(in.items.ingests)
}

// maxFound bounds what is kept of the findings of checks.
const maxFound = 16 << 10

// AddFindings keeps what a check has found about files, lines for people.
func (in *Interp) AddFindings(lines string) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	if room := maxFound - len(in.items.found); len(lines) > room {
		lines = lines[:strings.LastIndexByte(lines[:room], '\n')+1]
	}
	in.items.found += lines
}

// Findings returns what checks have found so far.
func (in *Interp) Findings() string {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	return in.items.found
}

// AddDisplay adds a display of progress until remove is called. read returns what
// it shows, as a value for JSON; any goroutine may call it.
func (in *Interp) AddDisplay(read func() any) (remove func()) {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	key := &read
	in.items.displays = append(in.items.displays, key)
	return func() {
		in.items.mu.Lock()
		defer in.items.mu.Unlock()
		in.items.displays = slices.DeleteFunc(in.items.displays, func(d *func() any) bool { return d == key })
	}
}

// OpenDisplays returns the number of displays.
func (in *Interp) OpenDisplays() int {
	in.items.mu.Lock()
	defer in.items.mu.Unlock()
	return len(in.items.displays)
}

// Displays returns what the displays of progress show, the oldest first.
func (in *Interp) Displays() []any {
	in.items.mu.Lock()
	displays := slices.Clone(in.items.displays)
	in.items.mu.Unlock()
	var shown []any
	for _, read := range displays {
		shown = append(shown, (*read)())
	}
	return shown
}
