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

	// Exceeded is told of the LimitError as well: it can end what the
	// interpreter cannot, a run that hangs in Go. Optional.
	Exceeded func(error)
}

// exceed ends all runs of the interpreter.
func (in *Interp) exceed(err error) {
	in.cancel(err)
	if in.opt.Limits.Exceeded != nil {
		in.opt.Limits.Exceeded(err)
	}
}

const (
	memoryCheck = 5 * time.Millisecond
	heapNow     = "/memory/classes/heap/objects:bytes" // with what nobody uses any more
	heapLive    = "/gc/heap/live:bytes"                // what the last collection found in use
)

// watchMemory measures the heap of the process until the interpreter closes.
// The interpreter has no allocator of its own that could be asked. What is over
// the limit is collected before anybody is accused; when much of it is in use,
// collections are kept apart so that they do not take all the time.
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
					"keep less at a time, or allow it more with --max-memory"))
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
// value at a high index would else allocate all places before it, a gigabyte
// in one instruction. It holds for the process; call it before there is an
// interpreter.
func BoundArrays(limit int64) {
	const place = 16 // bytes of one
	lua.MaxArrayIndex = int(min(int64(lua.MaxArrayIndex), max(limit/place, 1<<16)))
}
