package journal

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

func placeNamed(name string) transfer.Place {
	return transfer.Place{Platform: "https://platform.example", Dataset: name, Component: "image"}
}

func open(t testing.TB, dir string, log *slog.Logger) *Journal {
	t.Helper()
	j := New(dir, Limits{}, log)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

func TestWhatIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "state")
	f, p := fileOf("a", 20), placeNamed("a")
	parts := make([]string, 20)
	for i := range parts {
		parts[i] = fmt.Sprintf("%032x", i)
	}
	j := open(t, dir, nil)
	e := j.Open(f, p, chunk)
	if w, ps := e.Sums(); w != "" || ps != nil || e.Started(whole) || e.Done(1) || e.Finished() != "" || e.Changed() {
		t.Fatal("a new journal knows something")
	}
	e.Hashed(whole, parts)
	e.Forget()
	e.Start(whole)
	e.Confirm(3)
	e.Confirm(20)
	e.Confirm(21) // there is no such part
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
	e = j.Open(f, p, chunk)
	if w, ps := e.Sums(); w != whole || fmt.Sprint(ps) != fmt.Sprint(parts) {
		t.Errorf("%s %v", w, ps)
	}
	for n := range 25 {
		if e.Done(n) != (n == 3 || n == 20) {
			t.Errorf("part %d: %v", n, e.Done(n))
		}
	}
	if !e.Started(whole) || e.Started(other) || e.Finished() != "" || e.Changed() {
		t.Error("the start")
	}
	touched := f
	touched.ModTime = f.ModTime.Add(1)
	c := j.Open(touched, p, chunk)
	if w, _ := c.Sums(); w != "" || !c.Changed() || !c.Started(whole) || c.Started(other) || !c.Done(3) || c.Finished() != "" {
		t.Error("only a file with the same checksum goes on")
	}
	c.Confirm(4)
	if c = j.Open(touched, p, chunk); !c.Done(4) || !c.Done(3) {
		t.Error("what is confirmed of a touched file is lost")
	}
	e.Confirm(4)
	longer := touched
	longer.Size++
	if c := j.Open(longer, p, chunk); !c.Changed() || c.Started(whole) || c.Done(3) {
		t.Error("a file of another size goes on")
	}
	if c := j.Open(f, placeNamed("b"), chunk); c.Changed() || c.Started(whole) {
		t.Error("another place knows of it")
	}
	if c := j.Open(f, p, 2*chunk); c.Started(whole) || c.Done(3) {
		t.Error("cut otherwise, it goes on")
	}
	e.Finish(whole)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	j = open(t, dir, nil)
	e = j.Open(f, p, chunk)
	if e.Finished() != whole || e.Started(whole) || e.Done(3) {
		t.Error("not finished")
	}
	if w, _ := j.Open(f, p, 0).Sums(); w != whole {
		t.Error("the checksum is forgotten")
	}
	e.Forget()
	if e := j.Open(f, p, chunk); e.Finished() != "" {
		t.Error("not forgotten")
	}
}

func TestAnotherFileTakesThePlace(t *testing.T) {
	j := open(t, t.TempDir(), nil)
	p := placeNamed("a")
	a := j.Open(fileOf("a", 3), p, chunk)
	a.Start(whole)
	a.Confirm(1)
	b := j.Open(fileOf("b", 3), p, chunk)
	b.Forget()
	b.Start(other)
	a.Confirm(2) // of an upload that is none any more
	b.Confirm(3)
	again := j.Open(fileOf("a", 3), p, chunk)
	if again.Started(whole) || again.Done(1) || again.Done(2) {
		t.Error("the first goes on")
	}
	again = j.Open(fileOf("b", 3), p, chunk)
	if !again.Started(other) || again.Done(1) || again.Done(2) || !again.Done(3) {
		t.Error("the second does not")
	}
}

func TestFreshFilesAreHashedAgain(t *testing.T) {
	j := open(t, t.TempDir(), nil)
	f := fileOf("a", 1)
	f.ModTime = time.Now()
	e := j.Open(f, placeNamed("a"), 0)
	e.Hashed(whole, nil)
	e.Finish(whole)
	e.Forget()
	e.Finish(whole)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, j.dir, nil).Open(f, placeNamed("a"), 0)
	if w, _ := e.Sums(); w != "" || e.Finished() != whole {
		t.Errorf("%q %q", w, e.Finished())
	}
}

func TestManyProcesses(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for n := range 4 { // four pools of connections are as good as four processes to SQLite
		wg.Go(func() {
			j := New(dir, Limits{}, nil)
			defer func() { _ = j.Close() }()
			if n == 0 {
				j.Open(fileOf("shared", 400), placeNamed("shared"), chunk).Start(whole)
			}
			for i := range 50 {
				name := fmt.Sprint(n, "-", i)
				e := j.Open(fileOf(name, 4), placeNamed(name), chunk)
				e.Forget()
				e.Start(whole)
				e.Confirm(1 + i%4)
			}
		})
	}
	wg.Wait()
	j := open(t, dir, nil)
	for n := range 4 {
		for i := range 50 {
			name := fmt.Sprint(n, "-", i)
			if e := j.Open(fileOf(name, 4), placeNamed(name), chunk); !e.Started(whole) || !e.Done(1+i%4) {
				t.Fatalf("%s is lost", name)
			}
		}
	}
	// One file sent by two at once: what each confirmed counts.
	a, b := New(dir, Limits{}, nil), New(dir, Limits{}, nil)
	for k, j := range []*Journal{a, b} {
		wg.Go(func() {
			e := j.Open(fileOf("shared", 400), placeNamed("shared"), chunk)
			for n := 1 + k; n <= 100; n += 2 {
				e.Confirm(n)
			}
			_ = j.Close()
		})
	}
	wg.Wait()
	e := j.Open(fileOf("shared", 400), placeNamed("shared"), chunk)
	for n := 1; n <= 101; n++ {
		if e.Done(n) != (n <= 100) {
			t.Fatalf("part %d: %v", n, e.Done(n))
		}
	}
}

// confirmForever confirms parts of random files and says so, until it is killed.
func confirmForever(dir string) {
	j := New(dir, Limits{}, nil)
	for file := 0; ; file++ {
		name := fmt.Sprint(os.Getpid(), "-", file)
		e := j.Open(fileOf(name, 100), placeNamed(name), chunk)
		e.Forget()
		e.Start(whole)
		for range 5 {
			n := 1 + rand.IntN(100)
			e.Confirm(n)
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
		e := j.Open(fileOf(name, 100), placeNamed(name), chunk)
		for _, n := range parts {
			if !e.Done(n) {
				t.Fatalf("part %d of %s was confirmed and is lost", n, name)
			}
		}
		done := 0
		for n := range 101 {
			if e.Done(n) {
				done++
			}
		}
		if done > len(parts)+1 { // the last may have been told to nobody
			t.Errorf("%d parts of %s, %d were confirmed", done, name, len(parts))
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, File+receiptsName+"*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if len(confirmed) < 6 || text.Len() > 0 {
		t.Errorf("%d files, %s", len(confirmed), text)
	}
}

// flush waits until the database has what was confirmed.
func flush(j *Journal) { j.queue.put(func(*writing) error { return nil }, true) }

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

func TestLogCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	e := j.Open(fileOf("a", 30), placeNamed("a"), chunk)
	e.Start(whole)
	for n := 1; n <= 30; n++ {
		e.Confirm(n)
	}
	flush(j)
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
		k := New(crashed, Limits{}, nil)
		e := k.Open(fileOf("a", 30), placeNamed("a"), chunk)
		n := 0
		for e.Done(n + 1) {
			n++
		}
		for rest := n + 1; rest <= 30; rest++ {
			if e.Done(rest) {
				t.Fatalf("cut at %d: part %d without %d", cut, rest, n+1)
			}
		}
		if n > last {
			t.Fatalf("cut at %d: %d parts, before %d", cut, n, last)
		}
		last = n
		e.Forget()
		e.Start(whole)
		e.Confirm(7)
		if e := k.Open(fileOf("a", 30), placeNamed("a"), chunk); !e.Done(7) || e.Done(6) {
			t.Fatalf("cut at %d: it cannot be written", cut)
		}
		_ = k.Close()
	}
	if last != 0 {
		t.Errorf("%d parts without a log", last)
	}
}

func TestSetAside(t *testing.T) {
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
		"newer":   valid(t, "PRAGMA user_version = 2", "INSERT INTO care VALUES (77)"),
		"foreign": valid(t, "PRAGMA application_id = 5"),
		"tables":  valid(t, "DROP TABLE uploads"),
		"columns": valid(t, "ALTER TABLE sums DROP COLUMN parts"),
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
				j := New(dir, Limits{}, log)
				for i := range 12 {
					e := j.Open(fileOf(fmt.Sprint(i), 3), placeNamed(fmt.Sprint(i)), chunk)
					e.Start(whole)
					e.Confirm(2)
					if i == 11 && (!j.Open(fileOf("11", 3), placeNamed("11"), chunk).Done(2) || j.off) {
						t.Error("it cannot be used")
					}
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}
			use(nil)
			spoil(filepath.Join(dir, File))
			log, text := logged()
			use(log)
			if strings.Count(text.String(), "set aside") != 1 || strings.Count(text.String(), "\n") != 1 {
				t.Errorf("told: %s", text)
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
				t.Errorf("told: %s", text)
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
				if err := db.QueryRow("SELECT pruned FROM care WHERE pruned = 77").Scan(&n); err != nil {
					t.Errorf("it is not kept as it was: %v", err)
				}
			}
			for range 4 {
				_ = os.WriteFile(filepath.Join(dir, File), []byte("not again, please: this is no journal"), 0o600)
				use(nil)
			}
			if kept, _ := filepath.Glob(filepath.Join(dir, "journal.db.corrupt-*Z")); len(kept) != keptAside {
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
		e := j.Open(fileOf("a", 3), placeNamed("a"), chunk)
		e.Hashed(whole, nil)
		e.Forget()
		e.Start(whole)
		e.Confirm(1)
		if !e.Started(whole) || !e.Done(1) || e.Done(2) {
			t.Error("even this run forgets")
		}
		e.Finish(whole)
	}
	if strings.Count(text.String(), "level=WARN") != 1 {
		t.Errorf("told: %s", text)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	at := func(after time.Duration, limits Limits, do func(*Journal)) {
		j := New(dir, limits, nil)
		j.now = func() time.Time { return start.Add(after) }
		j.database()
		do(j)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	known := func(j *Journal, name string) bool {
		e := j.Open(fileOf(name, 3), placeNamed(name), chunk)
		return e.Finished() != "" || e.Started(whole)
	}
	at(0, Limits{}, func(j *Journal) {
		j.Open(fileOf("finished", 3), placeNamed("finished"), chunk).Finish(whole)
		j.Open(fileOf("half", 3), placeNamed("half"), chunk).Start(whole)
	})
	at(29*day, Limits{}, func(*Journal) {})
	at(31*day, Limits{}, func(j *Journal) {
		if !known(j, "finished") {
			t.Error("forgotten too early")
		}
	})
	at(59*day, Limits{}, func(j *Journal) {
		if known(j, "finished") || !known(j, "half") {
			t.Error("finished for ever, or half-sent forgotten")
		}
	})
	at(61*day, Limits{}, func(*Journal) {})
	at(62*day, Limits{Files: 10}, func(j *Journal) {
		if known(j, "half") {
			t.Error("half-sent for ever")
		}
		var n int
		_ = j.db.QueryRow("SELECT count(*) FROM uploads").Scan(&n)
		if n != 0 {
			t.Errorf("%d uploads left", n)
		}
	})
	for i := range 30 {
		at(63*day+time.Duration(i)*time.Second, Limits{}, func(j *Journal) {
			j.Open(fileOf(fmt.Sprint(i), 3), placeNamed(fmt.Sprint(i)), chunk).Finish(whole)
		})
	}
	at(65*day, Limits{Files: 10}, func(*Journal) {})
	at(66*day, Limits{}, func(j *Journal) {
		n := 0
		for i := range 30 {
			if known(j, fmt.Sprint(i)) {
				n++
			}
		}
		if n != 10 || !known(j, "29") {
			t.Errorf("%d are left", n)
		}
	})
}

// The measured size: go test -run BytesAFile -v.
func TestBytesAFile(t *testing.T) {
	n := 20_000
	if os.Getenv("TRANSECT_TEST_LONG") != "" {
		n = 1_000_000
	}
	if testing.Short() {
		n = 5_000
	}
	dir := t.TempDir()
	j := open(t, dir, nil)
	began := time.Now()
	for i := range n {
		name := fmt.Sprint(i)
		e := j.Open(fileOf(name, 1), placeNamed(name), 0)
		e.Hashed(whole, nil)
		e.Finish(whole)
	}
	took := time.Since(began)
	began = time.Now()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	each := info.Size() / int64(n)
	t.Logf("%d bytes a file, %v a file, closing %v", each, took/time.Duration(n), time.Since(began))
	if each > 150 {
		t.Errorf("%d bytes a file", each)
	}
}
