package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// roomyHeap is how large the heap grows, in bytes, before its garbage is
// collected. Go's own rule, twice what is alive, is a collection every few
// megabytes for a program that holds little: a sixth of the processor's time
// when thousands of files are sent. From half of this on its rule holds.
const roomyHeap = 48 << 20

// collectLess has garbage collected by that rule, unless the environment says
// how.
func collectLess() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const leastHeap = 4 << 20 // that Go collects at 100 %
	debug.SetGCPercent(100 * roomyHeap / leastHeap)
	followHeap()
}

// followHeap sets the share after each collection.
func followHeap() {
	runtime.SetFinalizer(new(tick), func(*tick) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		alive := max(live[0].Value.Uint64(), 1<<20)
		debug.SetGCPercent(max(100, 100*(roomyHeap-int(min(alive, roomyHeap)))/int(alive)))
		followHeap()
	})
}

// tick is garbage from the beginning, so that the next collection finds it. A
// pointer keeps it from being put together with other small things.
type tick struct{ _ *byte }
