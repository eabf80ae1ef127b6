package ledger

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/fault"
)

func open(t testing.TB, dir string) *Ledger {
	t.Helper()
	l, err := OpenRun(dir, "r", Start{At: time.Now(), PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func write(n byte) Write {
	return Write{Op: "things.create", Print: Fingerprint{n}, Since: time.UnixMilli(1000)}
}

func take(t testing.TB, l *Ledger, w Write) *Row {
	t.Helper()
	r, err := l.Take(w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func resolve(t testing.TB, r *Row, s State, answers ...string) {
	t.Helper()
	var list [][]byte
	for _, a := range answers {
		list = append(list, []byte(a))
	}
	if err := r.Resolve(s, []string{"id"}, list); err != nil {
		t.Fatal(err)
	}
}

// Equal writes are told apart by their number; a later start gets the results
// in the same order.
func TestWritesAreTakenInOrder(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for _, answer := range []string{"one", "two"} {
		r := take(t, l, write(1))
		if !r.New {
			t.Error("a row of this start was taken twice")
		}
		resolve(t, r, Done, answer)
	}
	l.Close()
	l = open(t, dir)
	defer l.Close()
	for _, answer := range []string{"one", "two"} {
		r := take(t, l, write(1))
		if r.New || r.State != Done || string(r.Result.Answers[0]) != answer || r.Result.IDs[0] != "id" {
			t.Errorf("%s: %+v", answer, r)
		}
	}
	if r := take(t, l, write(1)); !r.New || r.Seq != 3 {
		t.Errorf("a third of two: %+v", r)
	}
	if r := take(t, l, write(2)); !r.New {
		t.Errorf("another write: %+v", r)
	}
}

// A refused write takes no number; one whose outcome is unknown is taken before
// a new one is made, but not while a call works on it.
func TestOpenWritesComeFirst(t *testing.T) {
	l := open(t, t.TempDir())
	defer l.Close()
	resolve(t, take(t, l, write(1)), Refused)
	lost := take(t, l, write(1))
	if !lost.New || lost.Seq != 2 {
		t.Errorf("after a refusal: %+v", lost)
	}
	if r := take(t, l, write(1)); !r.New || r.Seq != 3 {
		t.Errorf("beside one in flight: %+v", r)
	}
	lost.Leave()
	if r := take(t, l, write(1)); r.New || r.Seq != 2 || r.State != Open {
		t.Errorf("after a lost answer: %+v", r)
	}
}

// A file cut at any byte keeps every whole record before the cut.
func TestCutAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	var ends []int64 // of each result
	for n := range byte(3) {
		resolve(t, take(t, l, write(n)), Done, "answer")
		ends = append(ends, l.size)
	}
	l.Close()
	whole, err := os.ReadFile(filepath.Join(dir, "r"+Suffix))
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "r"+Suffix), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir)
		for n := range byte(3) {
			if r := take(t, l, write(n)); (r.State == Done) != (int64(cut) >= ends[n]) {
				t.Errorf("cut at %d: write %d is %s", cut, n, r.State)
			}
		}
		l.Close()
	}
}

// What is damaged, or of another version, is refused, not read as an end.
func TestDamageIsRefused(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	first := l.size
	for n := range byte(3) {
		resolve(t, take(t, l, write(n)), Done, "answer")
	}
	last := l.size
	l.Close()
	path := filepath.Join(dir, "r"+Suffix)
	whole, _ := os.ReadFile(path)
	tryWith := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenRun(dir, "r", Start{})
		if err == nil {
			l.Close()
		}
		return err
	}
	lastRecord := int64(len(header))
	for at := lastRecord; at < last; {
		lastRecord = at
		at += frame + int64(binary.LittleEndian.Uint32(whole[at:]))
	}
	for at := first; at < lastRecord; at++ {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 0x10
		if err := tryWith(flipped); !errors.As(err, new(*fault.FileError)) {
			t.Fatalf("a flipped bit at %d: %v", at, err)
		}
	}
	if err := tryWith(append([]byte("transect ledger 2\n"), whole[len(header):]...)); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("another version: %v", err)
	}
	if err := tryWith(append(whole[:last:last], make([]byte, 4096)...)); err != nil {
		t.Errorf("zeros at the end: %v", err)
	}
}

// A run in progress is not started again.
func TestRunInProgress(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	defer l.Close()
	if _, err := OpenRun(dir, "r", Start{}); !errors.As(err, new(*fault.LockedError)) {
		t.Error(err)
	}
}

// What was kept under a name is made once.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	made := 0
	for range 2 {
		l := open(t, dir)
		for range 2 {
			if v, err := l.Keep("x", func() ([]byte, error) { made++; return []byte("v"), nil }); err != nil || string(v) != "v" {
				t.Error(v, err)
			}
		}
		l.Close()
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}

// A thing is adopted by one write alone, and what a write owns is known in each start.
func TestAdopt(t *testing.T) {
	const id, mine = "6b033c5f8716b6a0412e808d", "not of the usual form"
	dir := t.TempDir()
	l := open(t, dir)
	resolve(t, take(t, l, write(1)), Done, "answer")
	first, second := take(t, l, write(2)), take(t, l, write(3))
	for _, c := range []struct {
		row  *Row
		ids  []string
		want bool
	}{{first, []string{id}, true}, {second, []string{mine, id}, false}, {second, []string{mine}, true}} {
		if adopted, err := c.row.Adopt(c.ids, nil); err != nil || adopted != c.want {
			t.Errorf("%v: %v %v", c.ids, adopted, err)
		}
	}
	if err := l.Doubled(first.Seq, []string{"other"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, want := range map[string]bool{id: true, mine: true, "other": true, strings.ToUpper(id): false, "": false} {
			if owned, err := l.Owns(name); err != nil || owned != want {
				t.Errorf("%q: %v %v", name, owned, err)
			}
		}
		l.Close()
		l = open(t, dir)
	}
	l.Close()
}

// 10,000 tasks that write at the same time each get a row of their own, and a later
// start finds all of them.
func TestManyTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it notes 10,000 writes")
	}
	const n = 10_000
	dir := t.TempDir()
	for start := range 2 {
		l := open(t, dir)
		var taken [n + 1]atomic.Bool
		var tasks sync.WaitGroup
		for i := range n {
			tasks.Go(func() {
				w := write(byte(i % 7)) // many say the same
				w.Task = uint64(i)
				row, err := l.Take(w)
				if err == nil && row.New {
					err = row.Resolve(Done, []string{"id"}, [][]byte{[]byte("answer")})
				}
				if err != nil || row.New != (start == 0) || taken[row.Seq].Swap(true) {
					t.Errorf("start %d, task %d: %+v, %v", start, i, row, err)
				}
			})
		}
		tasks.Wait()
		if unused, open := l.Unclaimed(); unused != 0 || open != 0 {
			t.Errorf("start %d: %d unused, %d open", start, unused, open)
		}
		l.Close()
	}
}

// FuzzScan gives the reader any file: it never panics, and never reads a record
// that was not written.
func FuzzScan(f *testing.F) {
	dir := f.TempDir()
	l := open(f, dir)
	resolve(f, take(f, l, write(1)), Done, "answer")
	l.Close()
	whole, _ := os.ReadFile(filepath.Join(dir, "r"+Suffix))
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < len(header) {
			return
		}
		l := &Ledger{kept: map[string][]byte{}}
		l.starts = []Start{{}}
		_, _ = scan(strings.NewReader(string(text)), int64(len(text)), l.apply)
	})
}

func BenchmarkWrite(b *testing.B) {
	l := open(b, b.TempDir())
	defer l.Close()
	answer := [][]byte{make([]byte, 300)}
	w := write(0)
	for i := 0; b.Loop(); i++ {
		binary.LittleEndian.PutUint64(w.Print[:], uint64(i))
		r, err := l.Take(w)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Resolve(Done, []string{"6b033c5f8716b6a0412e808d"}, answer); err != nil {
			b.Fatal(err)
		}
	}
}

// fill notes n writes that were answered.
func fill(tb testing.TB, dir string, n int) {
	l := open(tb, dir)
	defer l.Close()
	answer := [][]byte{make([]byte, 300)}
	w := write(0)
	for i := range n {
		binary.LittleEndian.PutUint64(w.Print[:], uint64(i)*0x9e3779b97f4a7c15)
		r, err := l.Take(w)
		if err != nil {
			tb.Fatal(err)
		}
		if err := r.Resolve(Done, []string{"6b033c5f8716b6a0412e808d"}, answer); err != nil {
			tb.Fatal(err)
		}
	}
}

// A row takes less than 80 bytes of memory: a million of them 80 MB.
func TestMemoryOfRows(t *testing.T) {
	const n = 20_000
	dir := t.TempDir()
	fill(t, dir, n)
	before := heap()
	l := open(t, dir)
	defer l.Close()
	if a := (heap() - before) / n; a > 80 {
		t.Errorf("%d bytes a row", a)
	}
	if unused, _ := l.Unclaimed(); unused != n {
		t.Errorf("%d rows", unused)
	}
}

// heap is the memory in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkOpen opens a ledger of a million writes. "most_MB" is the most memory
// that takes, as the garbage collector leaves it.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	fill(b, dir, 1_000_000)
	before, most := heap(), int64(0)
	for b.Loop() {
		done := make(chan bool)
		watched := make(chan bool)
		go func() {
			defer close(watched)
			var m runtime.MemStats
			for tick := time.NewTicker(5 * time.Millisecond); ; {
				select {
				case <-done:
					tick.Stop()
					return
				case <-tick.C:
					runtime.ReadMemStats(&m)
					most = max(most, int64(m.HeapInuse+m.StackInuse))
				}
			}
		}()
		open(b, dir).Close()
		close(done)
		<-watched
	}
	b.ReportMetric(float64(most-before)/1e6, "most_MB")
}
