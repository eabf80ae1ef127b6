package journal

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("TRANSECT_TEST_CONFIRM"); dir != "" {
		confirmForever(dir)
	}
	goleak.VerifyTestMain(m)
}

const chunk = 5 << 20

var (
	whole = strings.Repeat("ab", 16)
	other = strings.Repeat("cd", 16)
)

func fileOf(name string, parts int64) File {
	return File{Path: "/flights/" + name, Size: parts * chunk, ModTime: time.Unix(1_700_000_000, 12345)}
}

func to(name string) Destination {
	return Destination{Platform: "https://platform.example", Dataset: name, Component: "image"}
}

// begun is an upload of a file whose checksum is md5.
func begun(f File, md5 string) Upload {
	return Upload{Size: f.Size, Chunk: chunk, MD5: md5, Unchanged: true}
}

// begin begins an upload to a destination called like the file.
func begin(j *Journal, name string, parts int64) (id string) {
	f := fileOf(name, parts)
	return j.Begin(to(name), f, begun(f, whole))
}

// done lists the confirmed parts.
func done(j *Journal, name string) (parts []int) {
	if b := j.Find(to(name), File{}); b != nil {
		parts = slices.Sorted(maps.Keys(b.Done))
	}
	return parts
}

func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

func TestUploadIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "state")
	f := fileOf("a", 20)
	b := begun(f, whole)
	for i := range 20 {
		b.Parts = append(b.Parts, fmt.Sprintf("%032x", i))
	}
	j := New(dir, nil)
	if j.Find(to("a"), f) != nil {
		t.Fatal("a new journal knows an upload")
	}
	b.ID = j.Begin(to("a"), f, b)
	for _, n := range []int{3, 20, 21, 0} { // the last two do not exist
		j.Confirm(to("a"), b.ID, n)
	}
	if info, err := os.Stat(fileIn(t, dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if info, _ := os.Stat(filepath.Join(dir, "uploads")); info.Mode().Perm() != 0o700 {
		t.Error(info.Mode())
	}

	j = New(dir, nil)
	b.SamePath, b.Done = true, map[int]bool{3: true, 20: true}
	if got := j.Find(to("a"), f); got == nil || !reflect.DeepEqual(*got, b) {
		t.Errorf("%+v", got)
	}
	if j.Find(to("b"), f) != nil {
		t.Error("another destination knows it")
	}
	for name, c := range map[string]struct {
		change              func(*File)
		samePath, unchanged bool
	}{
		"time": {func(f *File) { f.ModTime = f.ModTime.Add(1) }, true, false},
		"size": {func(f *File) { f.Size++ }, true, false},
		"path": {func(f *File) { f.Path += "x" }, false, false},
	} {
		changed := f
		c.change(&changed)
		if got := j.Find(to("a"), changed); got == nil || got.SamePath != c.samePath || got.Unchanged != c.unchanged {
			t.Errorf("%s: %+v", name, got)
		}
	}
	j.Forget(to("a"), b.ID[1:]+"x")
	if j.Find(to("a"), f) == nil {
		t.Error("forgotten by another upload")
	}
	j.Forget(to("a"), b.ID)
	if j.Find(to("a"), f) != nil {
		t.Error("not forgotten")
	}
	begin(j, "a", 20)
	j.Forget(to("a"), "")
	if j.Find(to("a"), f) != nil {
		t.Error("not forgotten")
	}
}

// TestNewUploadReplacesTheOld: late parts of the old one do not count.
func TestNewUploadReplacesTheOld(t *testing.T) {
	j := New(t.TempDir(), nil)
	first := begin(j, "a", 3)
	j.Confirm(to("a"), first, 1)
	f := fileOf("b", 3)
	second := j.Begin(to("a"), f, begun(f, other))
	j.Confirm(to("a"), first, 2)
	j.Confirm(to("a"), second, 3)
	if b := j.Find(to("a"), f); b == nil || b.MD5 != other || fmt.Sprint(b.Done) != "map[3:true]" {
		t.Errorf("%+v", b)
	}
}

// TestChecksumsThatAreNotReused: those of a file that was just written, and
// those that were not computed from it.
func TestChecksumsThatAreNotReused(t *testing.T) {
	j := New(t.TempDir(), nil)
	f := fileOf("a", 1)
	b := begun(f, whole)
	b.Unchanged = false
	j.Begin(to("a"), f, b)
	if got := j.Find(to("a"), f); got.Unchanged || got.MD5 != whole {
		t.Errorf("%+v", got)
	}
	f.ModTime = time.Now()
	j.Begin(to("a"), f, begun(f, whole))
	if got := j.Find(to("a"), f); got.Unchanged || got.MD5 != whole {
		t.Errorf("%+v", got)
	}
}

func TestManyProcesses(t *testing.T) {
	dir := t.TempDir()
	shared := begin(New(dir, nil), "shared", 400)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			j := New(dir, nil)
			for i := range 50 {
				name := fmt.Sprint(n, "-", i)
				j.Confirm(to(name), begin(j, name, 4), 1+i%4)
				j.Confirm(to("shared"), shared, 1+n+4*i) // one upload resumed by all
			}
		})
	}
	wg.Wait()
	j := New(dir, nil)
	for n := range 4 {
		for i := range 50 {
			if got := done(j, fmt.Sprint(n, "-", i)); fmt.Sprint(got) != fmt.Sprint([]int{1 + i%4}) {
				t.Fatalf("%d-%d: %v", n, i, got)
			}
		}
	}
	if got := done(j, "shared"); len(got) != 200 || got[199] != 200 {
		t.Errorf("%d parts: %v", len(got), got)
	}
}

// confirmForever confirms parts of random files and prints them, until it is
// killed.
func confirmForever(dir string) {
	j := New(dir, nil)
	for file := 0; ; file++ {
		name := fmt.Sprint(os.Getpid(), "-", file)
		id := begin(j, name, 100)
		for range 5 {
			n := 1 + rand.IntN(100)
			j.Confirm(to(name), id, n)
			fmt.Println(name, n)
		}
	}
}

func TestKilledInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	confirmed := map[string][]int{}
	for range 3 {
		var commands []*exec.Cmd
		var outputs []*bufio.Scanner
		for range 2 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "TRANSECT_TEST_CONFIRM="+dir)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			commands, outputs = append(commands, c), append(outputs, bufio.NewScanner(out))
		}
		for i, c := range commands {
			for n := 0; outputs[i].Scan(); n++ {
				if n == 40 {
					_ = c.Process.Kill()
				}
				var name string
				var part int
				if k, _ := fmt.Sscan(outputs[i].Text(), &name, &part); k == 2 {
					confirmed[name] = append(confirmed[name], part)
				}
			}
			_ = c.Wait() // killed
		}
	}
	log, text := logged()
	j := New(dir, log)
	for name, parts := range confirmed {
		known := done(j, name)
		for _, n := range parts {
			if !slices.Contains(known, n) {
				t.Fatalf("part %d of %s was confirmed and is lost", n, name)
			}
		}
		if len(known) > len(parts)+1 { // the last one may not have been printed
			t.Errorf("%d parts of %s, %d were confirmed", len(known), name, len(parts))
		}
	}
	if len(confirmed) < 6 || text.Len() > 0 {
		t.Errorf("%d files, %s", len(confirmed), text)
	}
}

// fileIn is the only file of a journal.
func fileIn(t testing.TB, dir string) string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "uploads", "*"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	return files[0]
}

// TestCutAnywhere: after a power cut, the parts are those up to some moment, and
// the next one is not lost.
func TestCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	j := New(dir, nil)
	id := begin(j, "a", 30)
	path := fileIn(t, dir)
	begun, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 29; n++ {
		j.Confirm(to("a"), id, n)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := 30
	for cut := len(content); cut >= int(begun.Size()); cut-- {
		if err := os.WriteFile(path, content[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		parts := done(j, "a")
		for i, n := range parts {
			if n != i+1 {
				t.Fatalf("cut at %d: %v", cut, parts)
			}
		}
		if len(parts) > last {
			t.Fatalf("cut at %d: %d parts, before %d", cut, len(parts), last)
		}
		last = len(parts)
		j.Confirm(to("a"), id, 30)
		if got := done(j, "a"); len(got) != last+1 || got[last] != 30 {
			t.Fatalf("cut at %d: %v after writing", cut, got)
		}
	}
	if last != 0 {
		t.Errorf("%d parts without a line", last)
	}
}

// TestDamaged: an upload whose file is damaged starts over, and says so.
func TestDamaged(t *testing.T) {
	for name, spoil := range map[string]func(b []byte) []byte{
		"empty":  func([]byte) []byte { return nil },
		"text":   func([]byte) []byte { return []byte("this is no journal\n") },
		"zeroes": func(b []byte) []byte { clear(b); return b },
		"cut":    func(b []byte) []byte { return b[:60] },
		"ID":     func(b []byte) []byte { b[0]++; return b },
		"begun":  func(b []byte) []byte { b[70]++; return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := New(dir, nil)
			j.Confirm(to("a"), begin(j, "a", 3), 1)
			path := fileIn(t, dir)
			b, _ := os.ReadFile(path)
			if err := os.WriteFile(path, spoil(b), 0o600); err != nil {
				t.Fatal(err)
			}
			log, text := logged()
			j = New(dir, log)
			if u := j.Find(to("a"), fileOf("a", 3)); u != nil || strings.Count(text.String(), "is damaged; the upload starts over") != 1 {
				t.Errorf("%+v, log: %s", u, text)
			}
			j.Confirm(to("a"), begin(j, "a", 3), 2)
			if got := fmt.Sprint(done(j, "a")); got != "[2]" || strings.Count(text.String(), "\n") != 1 {
				t.Errorf("%s, log: %s", got, text)
			}
		})
	}
}

func TestNoJournalIsNoFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log, text := logged()
	j := New(filepath.Join(file, "below"), log)
	for range 3 {
		j.Confirm(to("a"), begin(j, "a", 3), 1)
		if j.Find(to("a"), fileOf("a", 3)) != nil {
			t.Error("remembered nowhere")
		}
		j.Forget(to("a"), "")
	}
	if strings.Count(text.String(), "level=WARN") != 1 {
		t.Errorf("log: %s", text)
	}
}

func TestOldUploadsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	at := func(after time.Duration) *Journal {
		j := New(dir, nil)
		j.now = func() time.Time { return start.Add(after) }
		return j
	}
	const day = 24 * time.Hour
	j := at(0)
	begin(j, "old", 3)
	old := fileIn(t, dir)
	j = at(59 * day)
	if j.Find(to("old"), File{}) == nil {
		t.Error("forgotten too early")
	}
	begin(j, "continued", 3) // the modification time counts, which a part renews
	if err := os.Chtimes(old, start, start.Add(-2*day)); err != nil {
		t.Fatal(err)
	}
	j = at(59 * day)
	if j.Find(to("old"), File{}) != nil || j.Find(to("continued"), File{}) == nil {
		t.Error("the wrong one is forgotten")
	}
}

// BenchmarkConfirm is how long a part that the platform has confirmed is only
// in memory.
func BenchmarkConfirm(b *testing.B) {
	j := New(b.TempDir(), nil)
	id := begin(j, "a", 10_000)
	for n := 0; b.Loop(); n++ {
		j.Confirm(to("a"), id, 1+n%10_000)
	}
}
