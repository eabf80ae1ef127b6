package platform

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/platform/internal/store"
)

func TestFolderFaults(t *testing.T) {
	made := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "p")
		p, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	write := func(t *testing.T, dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		spoil         func(*testing.T, string)
		message, hint string
	}{
		"not a database": {func(t *testing.T, dir string) {
			write(t, dir, databaseFile, "this is no database, but it is long enough")
		}, "is damaged", "reset"},
		"broken pages":    {spoilPages, "is damaged", "reset"},
		"newer database":  {newerDatabase, "newer version", "upgrade"},
		"newer folder":    {func(t *testing.T, dir string) { write(t, dir, stampFile, `{"folder": "`+stampText+`", "version": 99}`) }, "newer version", "upgrade"},
		"broken stamp":    {func(t *testing.T, dir string) { write(t, dir, stampFile, "x") }, "is damaged", "reset"},
		"broken secrets":  {func(t *testing.T, dir string) { write(t, dir, secretsFile, "{}") }, "is damaged", "reset"},
		"missing secrets": {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, secretsFile)) }, "is damaged", "reset"},
		"other files":     {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, stampFile)) }, "is not empty", "new folder"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := made(t)
			c.spoil(t, dir)
			before := listing(t, dir)
			p, err := Open(t.Context(), Options{Dir: dir})
			var f *fault.PlatformError
			if !errors.As(err, &f) {
				if p != nil {
					p.Close()
				}
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(f.Message, c.message) || !strings.Contains(f.Hint, c.hint) {
				t.Errorf("%s (%s)", f.Message, f.Hint)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("the folder changed from %s to %s", before, after)
			}
		})
	}
}

func listing(t *testing.T, dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), databaseFile+"-") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

func spoilPages(t *testing.T, dir string) {
	f, err := os.OpenFile(databasePath(dir), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("garbage ", 500)), 100); err != nil {
		t.Fatal(err)
	}
}

func newerDatabase(t *testing.T, dir string) {
	f, err := os.OpenFile(databasePath(dir), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0, 0, 0, 99}, 60); err != nil { // where SQLite keeps user_version
		t.Fatal(err)
	}
}

func TestReset(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	if err := Reset(dir); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
	p, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := Reset(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var f *fault.PlatformError
	if err := Reset(other); !errors.As(err, &f) {
		t.Errorf("somebody's folder: %v", err)
	}
	if _, err := os.Stat(filepath.Join(other, "thesis.txt")); err != nil {
		t.Error(err)
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	s := start(t, Options{})
	for name, want := range map[string]os.FileMode{".": 0o700 | os.ModeDir, secretsFile: 0o600, "blobs": 0o700 | os.ModeDir} {
		info, err := os.Stat(filepath.Join(s.p.Dir(), name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

// TestSharedFolder lets two platforms use one folder, and a third find what
// they left.
func TestSharedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	one, two := start(t, Options{Dir: dir}), start(t, Options{Dir: dir})
	project := one.project("shared")
	two.ok("project-manager/describe-project", store.Doc{"project": project})
	two.token = one.token
	two.ok("dxauth/describe-user", store.Doc{})
	done := make(chan bool)
	for _, s := range []*site{one, two} {
		go func() {
			defer func() { done <- true }()
			for range 50 {
				s.dataset("file", store.Doc{"project": project}, "file")
			}
		}()
	}
	<-done
	<-done
	doc := start(t, Options{Dir: dir}).ok("data-manager/search-datasets", store.Doc{"limit": 1000})
	if n := len(doc["results"].([]any)); n != 100 {
		t.Errorf("%d datasets", n)
	}
}

// TestTakeover kills a process in the middle of a product and of an ingestion,
// and sees both through.
func TestTakeover(t *testing.T) {
	if dir := os.Getenv("TRANSECT_TEST_KILLED"); dir != "" {
		killed(dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "p")
	command := exec.Command(os.Args[0], "-test.run=^TestTakeover$")
	command.Env = append(os.Environ(), "TRANSECT_TEST_KILLED="+dir)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 24+1+24)
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	command.Process.Kill()
	command.Wait()
	product, dataset := string(line[:24]), string(line[25:])

	s := start(t, Options{Dir: dir})
	doc := s.ended(product)
	if doc["status"] != "available" {
		t.Errorf("product %v", doc)
	}
	again := 0
	for _, message := range s.logs(product) {
		if strings.HasPrefix(message, "started again") {
			again++
		}
	}
	if again != 1 {
		t.Errorf("logs %q", s.logs(product))
	}
	s.until("data-manager/describe-dataset", store.Doc{"dataset": dataset}, "ingestion.status", "completed")
}

// killed is the process that is killed, once it has said what it works on.
func killed(dir string) {
	p, err := Open(context.Background(), Options{Dir: dir, IngestDelay: time.Hour})
	if err != nil {
		panic(err)
	}
	t := &testing.T{}
	s := logIn(t, p, Address, newClient(p))
	product := s.order("rehearsal", "1.0.0", store.Doc{"parameters": store.Doc{"duration": 1, "log_lines": 20}})
	dataset := s.dataset("file", store.Doc{"company": s.company}, "file")
	s.upload(dataset, "file", "a", []byte("text"))
	s.until("data-manager/describe-dataset", store.Doc{"dataset": dataset}, "ingestion.status", "running")
	s.until("analytics-service/describe-product", store.Doc{"product": product}, "status", "running")
	os.Stdout.WriteString(product + " " + dataset)
	select {}
}

// TestOpenConcurrently opens a new folder several times concurrently.
func TestOpenConcurrently(t *testing.T) {
	for range 5 {
		dir := filepath.Join(t.TempDir(), "p")
		opened := make(chan *Platform)
		for range 6 {
			go func() {
				p, err := Open(t.Context(), Options{Dir: dir})
				if err != nil {
					t.Error(err)
				}
				opened <- p
			}()
		}
		var first *Platform
		for range 6 {
			p := <-opened
			if p == nil {
				continue
			}
			defer p.Close()
			if first == nil {
				first = p
			}
			if p.Credentials() != first.Credentials() {
				t.Error("the credentials differ")
			}
		}
	}
}

// A folder that is served is not emptied under its server.
func TestResetOfWhatIsServed(t *testing.T) {
	s := start(t, Options{})
	err := Reset(s.p.Dir())
	if _, locked := errors.AsType[*fault.LockedError](err); !locked {
		t.Fatalf("reset: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.p.Dir(), databaseFile)); err != nil {
		t.Error(err)
	}
}
