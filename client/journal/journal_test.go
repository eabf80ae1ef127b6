package journal

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"transect/client/transfer"
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

func fileOf(name string, parts int64) transfer.File {
	return transfer.File{Path: "/flights/" + name, Size: parts * chunk, ModTime: time.Unix(1_700_000_000, 12345)}
}

func to(name string) transfer.Destination {
	return transfer.Destination{Platform: "https://platform.example", Dataset: name, Component: "image"}
}

// begun is an upload of a file whose checksum is md5.
func begun(f transfer.File, md5 string) transfer.BegunUpload {
	return transfer.BegunUpload{Size: f.Size, Chunk: chunk, MD5: md5, Unchanged: true}
}

// begin begins an upload to a destination called like the file.
func begin(j *Journal, name string, parts int64) (id int64) {
	f := fileOf(name, parts)
	return j.Begin(to(name), f, begun(f, whole))
}

// done lists the confirmed parts.
func done(j *Journal, name string) (parts []int) {
	if b := j.Find(to(name), transfer.File{}); b != nil {
		parts = slices.Sorted(maps.Keys(b.Done))
	}
	return parts
}

func open(t testing.TB, dir string, log *slog.Logger) *Journal {
	t.Helper()
	j := New(dir, log)
	t.Cleanup(func() { _ = j.Close() })
	return j
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
	j := open(t, dir, nil)
	if j.Find(to("a"), f) != nil {
		t.Fatal("a new journal knows an upload")
	}
	b.ID = j.Begin(to("a"), f, b)
	for _, n := range []int{3, 20, 21, 0} { // the last two do not exist
		j.Confirm(to("a"), b.ID, n)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, File)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Error(info.Mode())
	}

	j = open(t, dir, nil)
	b.SamePath, b.Done = true, map[int]bool{3: true, 20: true}
	if got := j.Find(to("a"), f); got == nil || !reflect.DeepEqual(*got, b) {
		t.Errorf("%+v", got)
	}
	if j.Find(to("b"), f) != nil {
		t.Error("another destination knows it")
	}
	for name, c := range map[string]struct {
		change              func(*transfer.File)
		samePath, unchanged bool
	}{
		"time": {func(f *transfer.File) { f.ModTime = f.ModTime.Add(1) }, true, false},
		"size": {func(f *transfer.File) { f.Size++ }, true, false},
		"path": {func(f *transfer.File) { f.Path += "x" }, false, false},
	} {
		changed := f
		c.change(&changed)
		if got := j.Find(to("a"), changed); got == nil || got.SamePath != c.samePath || got.Unchanged != c.unchanged {
			t.Errorf("%s: %+v", name, got)
		}
	}
	j.Forget(to("a"), b.ID+1)
	if j.Find(to("a"), f) == nil {
		t.Error("forgotten by another upload")
	}
	j.Forget(to("a"), b.ID)
	if j.Find(to("a"), f) != nil {
		t.Error("not forgotten")
	}
	begin(j, "a", 20)
	j.Forget(to("a"), 0)
	if j.Find(to("a"), f) != nil {
		t.Error("not forgotten")
	}
}

// TestNewUploadReplacesTheOld: late parts of the old one do not count.
func TestNewUploadReplacesTheOld(t *testing.T) {
	j := open(t, t.TempDir(), nil)
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
	j := open(t, t.TempDir(), nil)
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
	shared := begin(open(t, dir, nil), "shared", 400)
	var wg sync.WaitGroup
	for n := range 4 { // four connections are as good as four processes to SQLite
		wg.Go(func() {
			j := New(dir, nil)
			defer func() { _ = j.Close() }()
			for i := range 50 {
				name := fmt.Sprint(n, "-", i)
				j.Confirm(to(name), begin(j, name, 4), 1+i%4)
				j.Confirm(to("shared"), shared, 1+n+4*i) // one upload resumed by all
			}
		})
	}
	wg.Wait()
	j := open(t, dir, nil)
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
	j := open(t, dir, log)
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
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if len(confirmed) < 6 || text.Len() > 0 {
		t.Errorf("%d files, %s", len(confirmed), text)
	}
}

// copyJournal copies the files of an open journal, as a crash would leave them.
func copyJournal(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(filepath.Join(from, File+end))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, File+end), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestLogCutAnywhere: after a power cut, the parts are those up to some moment.
func TestLogCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	id := begin(j, "a", 30)
	for n := 1; n <= 30; n++ {
		j.Confirm(to("a"), id, n)
	}
	info, err := os.Stat(filepath.Join(dir, File+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	last := 31
	for cut := info.Size(); cut >= 0; cut -= 1 + info.Size()/40 {
		crashed := copyJournal(t, dir)
		if err := os.Truncate(filepath.Join(crashed, File+"-wal"), cut); err != nil {
			t.Fatal(err)
		}
		k := New(crashed, nil)
		parts := done(k, "a")
		for i, n := range parts {
			if n != i+1 {
				t.Fatalf("cut at %d: %v", cut, parts)
			}
		}
		if len(parts) > last {
			t.Fatalf("cut at %d: %d parts, before %d", cut, len(parts), last)
		}
		last = len(parts)
		k.Confirm(to("a"), begin(k, "a", 30), 7)
		if got := fmt.Sprint(done(k, "a")); got != "[7]" {
			t.Fatalf("cut at %d: %s after writing", cut, got)
		}
		_ = k.Close()
	}
	if last != 0 {
		t.Errorf("%d parts without a log", last)
	}
}

func TestRotated(t *testing.T) {
	valid := func(t *testing.T, statements ...string) func(path string) {
		return func(path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range statements {
				if _, err := db.Exec(s); err != nil {
					t.Fatal(err)
				}
			}
			_ = db.Close()
		}
	}
	for name, spoil := range map[string]func(path string){
		"text":    func(p string) { _ = os.WriteFile(p, []byte("this is no journal\n"), 0o600) },
		"random":  func(p string) { b := make([]byte, 9000); fill(b); _ = os.WriteFile(p, b, 0o600) },
		"cut":     func(p string) { _ = os.Truncate(p, 5000) },
		"folder":  func(p string) { _ = os.Remove(p); _ = os.MkdirAll(filepath.Join(p, "x"), 0o700) },
		"newer":   valid(t, "PRAGMA user_version = 3", "CREATE TABLE more (n)", "INSERT INTO more VALUES (77)"),
		"foreign": valid(t, "PRAGMA application_id = 5"),
		"tables":  valid(t, "DROP TABLE uploads"),
		"columns": valid(t, "ALTER TABLE uploads DROP COLUMN parts"),
		"zeroes": func(p string) {
			b, _ := os.ReadFile(p)
			clear(b[4096:])
			_ = os.WriteFile(p, b, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			use := func(log *slog.Logger) {
				j := New(dir, log)
				for i := range 60 {
					name := fmt.Sprint(i)
					j.Confirm(to(name), begin(j, name, 3), 2)
				}
				if got := fmt.Sprint(done(j, "59")); got != "[2]" || j.off {
					t.Error("it cannot be used", got)
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}
			use(nil)
			spoil(filepath.Join(dir, File))
			log, text := logged()
			use(log)
			if strings.Count(text.String(), "moved away") != 1 || strings.Count(text.String(), "\n") != 1 {
				t.Errorf("log: %s", text)
			}
			kind := "corrupt"
			if name == "newer" {
				kind = "newer"
			}
			kept, _ := filepath.Glob(filepath.Join(dir, "journal.db.*Z"))
			if len(kept) != 1 || !strings.HasPrefix(filepath.Base(kept[0]), "journal.db."+kind+"-") {
				t.Error(kept)
			}
			if newer := strings.Contains(text.String(), "made by a newer version"); newer != (name == "newer") || newer && strings.Contains(text.String(), "cannot be read") {
				t.Errorf("log: %s", text)
			}
			if code := regexp.MustCompile(`\(\d+\)`).FindString(text.String()); code != "" {
				t.Errorf("a bare code %s in %s", code, text)
			}
			if name == "newer" {
				db, err := sql.Open("sqlite", kept[0])
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = db.Close() }()
				var n int
				if err := db.QueryRow("SELECT n FROM more WHERE n = 77").Scan(&n); err != nil {
					t.Errorf("it is not kept as it was: %v", err)
				}
			}
			for range 4 {
				_ = os.WriteFile(filepath.Join(dir, File), []byte("not again, please: this is no journal"), 0o600)
				use(nil)
			}
			if kept, _ := filepath.Glob(filepath.Join(dir, "journal.db.corrupt-*Z")); len(kept) != keptRotated {
				t.Error(kept)
			}
		})
	}
}

func fill(b []byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
}

func TestNoJournalIsNoFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log, text := logged()
	j := open(t, filepath.Join(file, "below"), log)
	for range 3 {
		j.Confirm(to("a"), begin(j, "a", 3), 1)
		if j.Find(to("a"), fileOf("a", 3)) != nil {
			t.Error("remembered nowhere")
		}
		j.Forget(to("a"), 0)
	}
	if strings.Count(text.String(), "level=WARN") != 1 {
		t.Errorf("log: %s", text)
	}
}

func TestOldUploadsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	at := func(after time.Duration) *Journal {
		j := open(t, dir, nil)
		j.now = func() time.Time { return start.Add(after) }
		return j
	}
	const day = 24 * time.Hour
	j := at(0)
	id := begin(j, "continued", 3)
	begin(j, "old", 3)
	j = at(59 * day)
	if done(j, "old"); j.Find(to("old"), transfer.File{}) == nil {
		t.Error("forgotten too early")
	}
	j.Confirm(to("continued"), id, 1)
	j = at(61 * day)
	if j.Find(to("old"), transfer.File{}) != nil || j.Find(to("continued"), transfer.File{}) == nil {
		t.Error("the wrong one is forgotten")
	}
}

// TestVersion1 gives up what version 1 has begun, and removes its files.
func TestVersion1(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"CREATE TABLE files (place BLOB PRIMARY KEY, path INTEGER) WITHOUT ROWID", "CREATE TABLE uploads (place BLOB PRIMARY KEY) WITHOUT ROWID",
		"CREATE TABLE sums (place BLOB PRIMARY KEY) WITHOUT ROWID", "CREATE TABLE care (pruned INTEGER)", "INSERT INTO uploads VALUES (x'00')",
		fmt.Sprint("PRAGMA application_id = ", applicationID), "PRAGMA user_version = 1",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	_ = db.Close()
	receipts := filepath.Join(dir, File+".receipts-0badcafe")
	if err := os.WriteFile(receipts, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log, text := logged()
	for range 2 {
		j := open(t, dir, log)
		j.Confirm(to("a"), begin(j, "a", 3), 1)
		if got := fmt.Sprint(done(j, "a")); got != "[1]" {
			t.Error(got)
		}
	}
	if _, err := os.Stat(receipts); err == nil || text.Len() > 0 {
		t.Errorf("%v, log: %s", err, text)
	}
}

// BenchmarkConfirm is how long a part that the platform has confirmed is only
// in memory.
func BenchmarkConfirm(b *testing.B) {
	j := open(b, b.TempDir(), nil)
	id := begin(j, "a", 10_000)
	for n := 0; b.Loop(); n++ {
		j.Confirm(to("a"), id, 1+n%10_000)
	}
}
