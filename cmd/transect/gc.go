package main

import (
	"os"
	goruntime "runtime"
	"runtime/debug"
	"runtime/metrics"
)

// minHeap is the heap size in bytes below which garbage is not collected. Go's
// default, twice the live heap, collects every few megabytes in a program that
// holds little: a sixth of the CPU time when sending thousands of files. A larger
// heap costs more than it saves where the first use of memory is slow, as on
// virtual machines: with 48 MiB, task.map and iterations took 10 to 35 % more CPU
// time than with 16. From half of minHeap on, Go's default applies.
const minHeap = 16 << 20

// tuneGC sets GOGC by that rule, unless the environment sets it.
func tuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const defaultMinHeap = 4 << 20 // at which Go collects with GOGC=100
	debug.SetGCPercent(100 * minHeap / defaultMinHeap)
	tuneAfterGC()
}

// tuneAfterGC adapts GOGC to the live heap after each collection.
func tuneAfterGC() {
	goruntime.SetFinalizer(new(sentinel), func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		alive := max(live[0].Value.Uint64(), 1<<20)
		debug.SetGCPercent(max(100, 100*(minHeap-int(min(alive, minHeap)))/int(alive)))
		tuneAfterGC()
	})
}

// sentinel is garbage from the start, so that the next collection finds it. The
// pointer keeps it out of the tiny allocator, which would combine it with other
// objects.
type sentinel struct{ _ *byte }
