package vm

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"transect/client/human"
	"transect/runtime/sandbox"
)

const (
	memoryCheck = 5 * time.Millisecond
	heapNow     = "/memory/classes/heap/objects:bytes" // garbage included
	heapLive    = "/gc/heap/live:bytes"                // in use at the last collection
	stacks      = "/memory/classes/heap/stacks:bytes"  // of tasks and other goroutines
)

// memory measures heap and stacks of the process against a limit: gopher-lua has no
// allocator of its own. It is measured every few milliseconds, at the end of each
// time slice, and before something large is built. Where interpreters live side by side,
// what the scripts of one can reach is measured once the process is past the limit.
type memory struct {
	most, slack uint64 // bytes on the heap; no limit when most is 0

	in      *Interp // whose values are measured, where others live beside it; else nil
	sized   uint64  // what they took when last measured
	granted uint64  // what it was granted since

	mu    sync.Mutex // one large allocation or collection at a time
	last  time.Time
	pause time.Duration
}

func newMemory(limit int64, in *Interp) *memory {
	if limit <= 0 {
		return &memory{}
	}
	if in != nil {
		return &memory{most: uint64(limit), in: in}
	}
	runtime.GC()
	return &memory{most: uint64(limit) + measure(heapLive, stacks), slack: uint64(limit) / 8}
}

// fits reports whether n more bytes are within the limit. It collects garbage
// before it refuses; collections are spaced out so that they do not take all
// the time. locked says that the caller has the interpreter's lock.
func (m *memory) fits(n uint64, locked bool) bool {
	if m.most == 0 || measure(heapNow, stacks)+n <= m.most {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.room(n, locked)
}

// buffer allocates room for n bytes, in place of a buffer of another capacity; nil when they are not within the
// limit. One goroutine at a time: several do not get the same room.
func (m *memory) buffer(n, instead uint64) []byte {
	if m.most > 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.room(n, false) {
			return nil
		}
		m.granted -= min(m.granted, instead)
	}
	return make([]byte, 0, n)
}

// room is fits for a caller that holds mu.
func (m *memory) room(n uint64, locked bool) bool {
	if m.in != nil {
		return m.own(n, locked)
	}
	now := measure(heapNow, stacks) + n
	if now <= m.most || now <= m.most+m.slack && time.Since(m.last) < m.pause {
		return true
	}
	start := time.Now()
	runtime.GC()
	m.last = time.Now()
	m.pause = 3 * m.last.Sub(start)
	return measure(heapLive, stacks)+n <= m.most
}

// own is room for one interpreter among others. Where its values cannot be gone through, since Go code that runs for
// it has the lock, what it was granted counts as kept.
func (m *memory) own(n uint64, locked bool) bool {
	m.granted += n
	if measure(heapNow, stacks)+n <= m.most || m.sized+m.granted <= m.most && time.Since(m.last) < m.pause {
		return true
	}
	start := time.Now()
	if locked || m.in.lock.try() {
		m.sized, m.granted = m.in.opt.Size(m.in.reached(), m.most), n
		if !locked {
			m.in.release()
		}
		m.last = time.Now()
		m.pause = max(memoryCheck, 3*m.last.Sub(start))
	}
	return m.sized+m.granted <= m.most
}

// Fits fails, and ends the runs of the interpreter, when n more bytes would
// exceed the memory limit. Any goroutine may call it before it allocates much
// for a script.
func (in *Interp) Fits(n int) error { return in.fits(n, false) }

// fits is Fits; locked says that the caller has the lock.
func (in *Interp) fits(n int, locked bool) error {
	if in.memory.fits(uint64(max(n, 0)), locked) {
		return nil
	}
	return in.exhausted()
}

func (in *Interp) exhausted() error {
	err := in.overLimit("keep less at a time, or ", "--max-memory", "the script uses more than %s of memory",
		human.Limit(in.opt.Limits.Memory))
	in.exceed(err)
	return err
}

// watchMemory measures until the interpreter closes, also while Go code runs.
func (in *Interp) watchMemory() {
	check := time.NewTicker(memoryCheck)
	defer check.Stop()
	for {
		select {
		case <-in.ctx.Done():
			return
		case <-check.C:
		}
		if in.Fits(0) != nil {
			return
		}
	}
}

func measure(names ...string) (sum uint64) {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

const (
	small      = 512 // bytes that are not accounted for one by one
	perWork    = 64  // bytes that are copied in the time of an instruction
	unmeasured = 16  // part of the limit that may be built between two measurements
)

// Grow is called before a function builds n bytes for a script: it counts the
// work and raises what goes past a limit.
func Grow(L *lua.LState, n int) {
	if n < small {
		return
	}
	Work(L, n/perWork) // other tasks may run here, before memory is measured
	in := Of(L)
	in.note(n)
	if most := in.opt.Limits.Memory; most > 0 {
		if in.built += int64(n); in.built > most/unmeasured {
			in.built = 0
			if err := in.fits(n, true); err != nil {
				Raise(L, err)
			}
		}
	}
}

// Text builds a text for a script in pieces, within the limits of length and
// memory. The zero value has no limits.
type Text struct {
	in       *Interp
	function string // named when the text becomes too long
	b        []byte
}

// NewText begins the text that a function returns.
func (in *Interp) NewText(function string) *Text { return &Text{in: in, function: function} }

// Len returns the length so far, in bytes.
func (t *Text) Len() int { return len(t.b) }

// String returns the text.
func (t *Text) String() string { return unsafe.String(unsafe.SliceData(t.b), len(t.b)) }

// grow makes room for n more bytes.
func (t *Text) grow(n int) error {
	need := len(t.b) + n
	if need <= cap(t.b) {
		return nil
	}
	size := max(need+need/4, 64)
	if t.in != nil {
		if most := t.in.MaxText(); need > most {
			return sandbox.TooLong(t.function, float64(need), most)
		}
		if need >= small {
			b := t.in.memory.buffer(uint64(size), uint64(cap(t.b)))
			if b == nil {
				return t.in.exhausted()
			}
			t.b = append(b, t.b...)
			return nil
		}
	}
	t.b = append(make([]byte, 0, size), t.b...)
	return nil
}

// Write appends a piece.
func (t *Text) Write(piece []byte) (int, error) {
	if err := t.grow(len(piece)); err != nil {
		return 0, err
	}
	t.b = append(t.b, piece...)
	return len(piece), nil
}

// WriteString appends a piece.
func (t *Text) WriteString(piece string) (int, error) {
	if err := t.grow(len(piece)); err != nil {
		return 0, err
	}
	t.b = append(t.b, piece...)
	return len(piece), nil
}

// BoundMemory prepares the process for a memory limit; call it before there is an
// interpreter. The Go runtime keeps little more than the limit for garbage, and tables
// use no array larger than it.
func BoundMemory(limit int64) {
	const slot = 16 // bytes
	lua.MaxArrayIndex = int(min(int64(lua.MaxArrayIndex), max(limit/slot, 1<<16)))
	used := measure("/memory/classes/total:bytes") - measure("/memory/classes/heap/released:bytes")
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), int64(used)+limit+limit/4))
}

const perCompare = 16 // bytes that are compared by < in the time of an instruction

// Compared counts the comparison of two values by a Go function, which matters for
// long texts.
func Compared(L *lua.LState, a, b lua.LValue) {
	x, ok := a.(lua.LString)
	if y, both := b.(lua.LString); ok && both && min(len(x), len(y)) >= small {
		Work(L, min(len(x), len(y))/perCompare)
	}
}

// Key counts what a table does with a key for a Go function.
func Key(L *lua.LState, key lua.LValue) {
	if text, ok := key.(lua.LString); ok && len(text) >= small {
		Work(L, len(text)/perWork)
	}
}
