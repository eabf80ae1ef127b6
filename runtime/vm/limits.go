package vm

import (
	"runtime"
	"runtime/metrics"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/sandbox"
)

// Limits bound what the scripts of an interpreter may use, all runs together.
// Zero values are no limits. A script cannot catch what happens when it goes
// past one: its run ends with a LimitError.
type Limits struct {
	Instructions int64 // of the interpreter; a step of matching a pattern counts as one
	Memory       int64 // bytes on the heap beyond what the program had at the start

	// Exceeded is called with the LimitError: it can end a run that hangs in Go.
	// Optional.
	Exceeded func(error)
}

// exceed ends all runs of the interpreter.
func (in *Interp) exceed(err error) {
	in.exceeded.Store(true)
	in.cancel(err)
	if in.opt.Limits.Exceeded != nil {
		in.opt.Limits.Exceeded(err)
	}
}

const (
	memoryCheck = 5 * time.Millisecond
	heapNow     = "/memory/classes/heap/objects:bytes" // garbage included
	heapLive    = "/gc/heap/live:bytes"                // in use at the last collection
)

// watchMemory measures the heap of the process until the interpreter closes.
// gopher-lua has no allocator of its own. Above the limit it collects garbage
// before it fails the run; collections are spaced out so that they do not take
// all the time.
func (in *Interp) watchMemory() {
	most := uint64(in.opt.Limits.Memory)
	runtime.GC()
	most += measure(heapLive)
	go func() {
		check := time.NewTicker(memoryCheck)
		defer check.Stop()
		var last time.Time
		var pause time.Duration
		for {
			select {
			case <-in.ctx.Done():
				return
			case <-check.C:
			}
			now := measure(heapNow)
			if now <= most || now < most+most/2 && time.Since(last) < pause {
				continue
			}
			start := time.Now()
			runtime.GC()
			last = time.Now()
			pause = 3 * last.Sub(start)
			if measure(heapLive) > most {
				in.exceed(fault.Hinted(fault.Of(&fault.LimitError{}, "the script uses more than %s of memory", sandbox.Size(in.opt.Limits.Memory)),
					"keep less at a time, or allow more with --max-memory"))
				return
			}
		}
	}()
}

func measure(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// BoundArrays makes tables use no array larger than limit bytes: storing one
// value at a high index would otherwise allocate all slots before it, a gigabyte
// in one instruction. It holds for the process; call it before there is an
// interpreter.
func BoundArrays(limit int64) {
	const slot = 16 // bytes
	lua.MaxArrayIndex = int(min(int64(lua.MaxArrayIndex), max(limit/slot, 1<<16)))
}
