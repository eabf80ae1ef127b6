package runtime

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/fault"
	"transect/platform"
)

// yard is a platform served over HTTP behind an interceptor, and a folder with its
// state folder: what scripts do with files, as they do it.
type yard struct {
	*testing.T
	*httptest.Server
	platform  *platform.Platform
	dir       string
	intercept atomic.Pointer[interceptor]
	puts      atomic.Int64 // what reached the storage
	served    atomic.Int64 // bytes of downloads
	env       map[string]string
}

// interceptor may answer a request in the platform's place.
type interceptor func(w http.ResponseWriter, r *http.Request) (answered bool)

// intercepts sets the interceptor; nil takes it away.
func (y *yard) intercepts(f interceptor) { y.intercept.Store(&f) }

type servedWriter struct {
	http.ResponseWriter
	served *atomic.Int64
}

func (w servedWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.served.Add(int64(n))
	return n, err
}

func newYard(t *testing.T) *yard {
	p, err := platform.Open(t.Context(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	y := &yard{T: t, platform: p, dir: t.TempDir()}
	y.env = map[string]string{"TRANSECT_STATE_DIR": filepath.Join(y.dir, "state")}
	y.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := y.intercept.Load(); f != nil && *f != nil && (*f)(w, r) {
			return
		}
		if r.Method == http.MethodPut {
			y.puts.Add(1)
		}
		if strings.Contains(r.URL.Path, "/download-") {
			w = servedWriter{w, &y.served}
		}
		p.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(y.Server.Close)
	return y
}

// file writes a file that was not touched for a while.
func (y *yard) file(name string, size int, salt byte) []byte {
	y.Helper()
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i>>12) ^ byte(i*7) ^ salt
	}
	path := filepath.Join(y.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		y.Fatal(err)
	}
	old := time.Now().Add(-time.Hour - time.Duration(salt)*time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		y.Fatal(err)
	}
	return content
}

// run is a process of its own, but for the process.
func (y *yard) run(code string) (out, stderr string, err error) {
	m := newMemory(y.T, y.env)
	m.Dir, m.Now = y.dir, time.Now
	who := y.platform.Credentials()
	err = Run(y.Context(), &m.Process, Job{Code: code, Transfers: Transfers{Connections: 1, Stall: time.Second}, Connection: Connection{URL: y.URL, User: who.User,
		Password: who.Password, ClientID: who.ClientID, ClientSecret: who.ClientSecret}})
	return strings.TrimSpace(m.out.String()), m.err.String(), err
}

func (y *yard) must(code string) (out, stderr string) {
	y.Helper()
	out, stderr, err := y.run(code)
	if err != nil {
		y.Fatalf("%v\n%s", err, stderr)
	}
	return out, stderr
}

// dataset makes one for a file and gives its id.
func (y *yard) dataset() string {
	y.Helper()
	id, _ := y.must(`local sdk = require("sdk")
return sdk.datasets.create_file_dataset{ name = "mosaic", project = sdk.projects.create("p", sdk.users.describe().company) }.id`)
	return strings.Trim(id, `"`)
}

const partsOf5MiB = `require("sdk").datasets.upload_file{ dataset = %q, component = "file", file_path = %q, chunk_size = 5242880 }`

func (y *yard) upload(dataset, name string) (stderr string, err error) {
	_, stderr, err = y.run(fmt.Sprintf(partsOf5MiB, dataset, filepath.Join(y.dir, name)))
	return stderr, err
}

// holds checks what the platform has.
func (y *yard) holds(dataset string, content []byte) {
	y.Helper()
	got, _ := y.must(fmt.Sprintf(`local c = require("sdk").datasets.describe(%q).components[1] return c.checksum .. " " .. c.size .. " " .. c.status`, dataset))
	if want := fmt.Sprintf("%x %d completed", md5.Sum(content), len(content)); strings.Trim(got, `"`) != want {
		y.Errorf("the platform holds %s, want %s", got, want)
	}
}

// refuseFrom lets so many parts through to storage.
func (y *yard) refuseFrom(parts int64) {
	y.puts.Store(0)
	y.intercepts(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || y.puts.Load() < parts {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		return true
	})
}

func (y *yard) open() { y.intercepts(nil); y.puts.Store(0); y.served.Store(0) }

func TestUploadGoesOnInTheNextRun(t *testing.T) {
	t.Parallel()
	const size = 23 << 20 // five parts
	t.Run("at the next part", func(t *testing.T) {
		y := newYard(t)
		content, id := y.file("mosaic.tif", size, 0), y.dataset()
		y.refuseFrom(2)
		if _, err := y.upload(id, "mosaic.tif"); fault.Find(err) == nil || ExitCode(err) != ExitRaised {
			t.Fatalf("%v", err)
		}
		y.open()
		if stderr, err := y.upload(id, "mosaic.tif"); err != nil || y.puts.Load() != 3 {
			t.Errorf("%v, %d parts were sent\n%s", err, y.puts.Load(), stderr)
		}
		y.holds(id, content)
	})
	t.Run("anew when the file changed, and says so", func(t *testing.T) {
		y := newYard(t)
		y.file("mosaic.tif", size, 0)
		id := y.dataset()
		y.refuseFrom(2)
		if _, err := y.upload(id, "mosaic.tif"); err == nil {
			t.Fatal("nothing was refused")
		}
		y.open()
		content := y.file("mosaic.tif", size, 1)
		stderr, err := y.upload(id, "mosaic.tif")
		if err != nil || y.puts.Load() != 5 || !strings.Contains(stderr, "the file changed since its upload began; the upload starts over") {
			t.Errorf("%v, %d parts were sent\n%s", err, y.puts.Load(), stderr)
		}
		y.holds(id, content)
	})
	t.Run("anew when the journal is damaged, and says so", func(t *testing.T) {
		y := newYard(t)
		content, id := y.file("mosaic.tif", size, 0), y.dataset()
		y.refuseFrom(2)
		if _, err := y.upload(id, "mosaic.tif"); err == nil {
			t.Fatal("nothing was refused")
		}
		y.open()
		journals, _ := filepath.Glob(filepath.Join(y.dir, "state", "uploads", "*"))
		if len(journals) != 1 {
			t.Fatal(journals)
		}
		if err := os.WriteFile(journals[0], bytes.Repeat([]byte("rubbish "), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		stderr, err := y.upload(id, "mosaic.tif")
		if err != nil || y.puts.Load() != 5 || !strings.Contains(stderr, "is damaged; the upload starts over") {
			t.Errorf("%v, %d parts were sent\n%s", err, y.puts.Load(), stderr)
		}
		y.holds(id, content)
	})
	t.Run("not when the file changes meanwhile", func(t *testing.T) {
		y := newYard(t)
		y.file("mosaic.tif", size, 0)
		id := y.dataset()
		y.intercepts(func(w http.ResponseWriter, r *http.Request) bool {
			if y.puts.Load() == 1 {
				y.file("mosaic.tif", size, 2)
			}
			return false
		})
		_, err := y.upload(id, "mosaic.tif")
		f, ok := fault.Find(err).(*fault.UploadError)
		if !ok || !strings.Contains(f.Error(), "changed while it was uploaded") || ExitCode(err) != ExitRaised {
			t.Fatalf("%v", err)
		}
		y.open()
		if got, _ := y.must(fmt.Sprintf(`return require("sdk").datasets.describe(%q).components[1].status`, id)); strings.Contains(got, "completed") {
			t.Errorf("it is %s", got)
		}
	})
}

// TestStalledUploadIsSentAgain: storage that takes a part of the bytes and
// then nothing is left, and the bytes sent again.
func TestStalledUploadIsSentAgain(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	content, id := y.file("photo.jpg", 8<<20, 0), y.dataset()
	var stalls atomic.Int64
	again := make(chan struct{})
	y.intercepts(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		if stalls.Add(1) > 1 {
			close(again)
			return false
		}
		_, _ = r.Body.Read(make([]byte, 64<<10))
		select {
		case <-again:
		case <-time.After(30 * time.Second): // it is not given up
		}
		return true
	})
	_, stderr := y.must(fmt.Sprintf(`require("sdk").datasets.upload_file{ dataset = %q, component = "file", file_path = %q }`, id, filepath.Join(y.dir, "photo.jpg")))
	if stalls.Load() != 2 {
		t.Errorf("sent %d times\n%s", stalls.Load(), stderr)
	}
	y.holds(id, content)
}

// download is the code that fetches a file into the folder "in".
func (y *yard) download(dataset, arguments string) string {
	return fmt.Sprintf(`return require("sdk").datasets.download_component{ dataset = %q, component = "file", target_path = %q, %s }`,
		dataset, filepath.Join(y.dir, "in"), arguments)
}

// stored is a dataset that holds a file.
func (y *yard) stored(size int) (id string, content []byte) {
	y.Helper()
	content, id = y.file("stored.tif", size, 9), y.dataset()
	if _, err := y.upload(id, "stored.tif"); err != nil {
		y.Fatal(err)
	}
	return id, content
}

func (y *yard) read(name string) string {
	b, err := os.ReadFile(filepath.Join(y.dir, name))
	if err != nil {
		y.Error(err)
	}
	return string(b)
}

func (y *yard) list(folder string) string {
	entries, err := os.ReadDir(filepath.Join(y.dir, folder))
	if err != nil {
		y.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestHostileNames: whatever a server suggests, one plain file appears in the
// folder that was asked for.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id, content := y.stored(1000)
	for header, want := range map[string]string{
		`attachment; filename="../../outside.sh"`:                      "outside.sh",
		`attachment; filename="/etc/cron.d/evil"`:                      "evil",
		`attachment; filename="..\\..\\evil.bat"`:                      "evil.bat",
		`attachment; filename="C:\Windows\win.ini"`:                    "win.ini",
		`attachment; filename*=UTF-8''%2e%2e%2F..%2fup.sh`:             "up.sh",
		`attachment; filename*=UTF-8''..; filename="plain.tif"`:        "plain.tif",
		`attachment; filename="NUL.tif"`:                               "_NUL.tif",
		`attachment; filename*=UTF-8''a%09b%1B%5B2J%00.tif`:            "ab[2J.tif",
		`attachment; filename=".."`:                                    "unknown",
		`attachment; filename="` + strings.Repeat("x", 4000) + `.tif"`: strings.Repeat("x", 196) + ".tif",
		`attachment; filename*=UTF-8''na%C3%AFve.tif`:                  "naïve.tif",
	} {
		y.intercepts(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/download-") {
				return false
			}
			w.Header().Set("Content-Disposition", header)
			_, _ = w.Write(content)
			return true
		})
		got, stderr, err := y.run(y.download(id, ""))
		if err != nil {
			t.Errorf("%s: %v\n%s", header, err, stderr)
			continue
		}
		if filepath.Base(got) != want || y.list("in") != want || y.read(filepath.Join("in", want)) != string(content) {
			t.Errorf("%.80s gave %.80q; in the folder: %.80s", header, got, y.list("in"))
		}
		_ = os.Remove(filepath.Join(y.dir, "in", want))
	}
	if now := y.list("."); now != "in stored.tif" {
		t.Errorf("beside the folder: %s", now)
	}
}

// TestTargetIsWholeOrAsItWas: nothing that goes wrong touches a file that is
// there already.
func TestTargetIsWholeOrAsItWas(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id, content := y.stored(6 << 20)
	for name, c := range map[string]struct {
		arguments string
		intercept func(w http.ResponseWriter, r *http.Request) bool
		want      string
		code      int
	}{
		"another checksum":   {`md5hash = "` + strings.Repeat("0", 32) + `", `, nil, "has the MD5", ExitRaised},
		"not to be replaced": {`overwrite = false, `, nil, "exists already", ExitRaised},
		"refused": {"", func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, "403", ExitRaised},
		"a smaller file than announced, compressed in an unknown way": {"", func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write(content[:100])
			return true
		}, "unsupported encoding", ExitRaised},
	} {
		if err := os.MkdirAll(filepath.Join(y.dir, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(y.dir, "in", "stored.tif"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		y.intercepts(func(w http.ResponseWriter, r *http.Request) bool {
			return c.intercept != nil && strings.Contains(r.URL.Path, "/download-") && c.intercept(w, r)
		})
		arguments := c.arguments
		if !strings.Contains(arguments, "overwrite") {
			arguments += "overwrite = true, "
		}
		_, stderr, err := y.run(y.download(id, arguments))
		if err == nil || ExitCode(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit code %d, %v\n%s", name, ExitCode(err), err, stderr)
		}
		if y.read("in/stored.tif") != "mine" || y.list("in") != "stored.tif" {
			t.Errorf("%s: the file is not as it was; in the folder: %s", name, y.list("in"))
		}
	}
	y.open()
	y.must(y.download(id, fmt.Sprintf("overwrite = true, md5hash = \"%x\"", md5.Sum(content))))
	if y.read("in/stored.tif") != string(content) {
		t.Error("the file was not replaced")
	}
}

// TestDownloadGoesOnInTheNextRun: a run that is ended in the middle leaves what
// came, and the next one fetches the rest.
func TestDownloadGoesOnInTheNextRun(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	const size, first = 24 << 20, 16 << 20
	id, content := y.stored(size)
	var ended atomic.Bool
	y.intercepts(func(w http.ResponseWriter, r *http.Request) bool {
		if ended.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		if !strings.Contains(r.URL.Path, "/download-") {
			return false
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(content)))
		w.Header().Set("Content-Length", fmt.Sprint(size))
		w.Header().Set("Content-Disposition", "attachment; filename=stored.tif")
		_, _ = w.Write(content[:first])
		_ = http.NewResponseController(w).Flush()
		time.Sleep(200 * time.Millisecond) // it comes
		ended.Store(true)
		panic(http.ErrAbortHandler)
	})
	_, stderr, err := y.run(y.download(id, ""))
	if err == nil || ExitCode(err) != ExitCredentials {
		t.Fatalf("exit code %d, %v\n%s", ExitCode(err), err, stderr)
	}
	if strings.Contains(y.list("in"), "stored.tif") {
		t.Errorf("in the folder: %s", y.list("in"))
	}
	y.open()
	y.must(y.download(id, ""))
	if y.read("in/stored.tif") != string(content) || y.list("in") != "stored.tif" {
		t.Errorf("%d bytes; in the folder: %s", len(y.read("in/stored.tif")), y.list("in"))
	}
	// The first answer begins the file anew until it is known what is there: by
	// then the connection's buffers, of some MiB, are full of it.
	if n := y.served.Load(); n > size-first/2 {
		t.Errorf("%d bytes were served, %d were missing", n, size-first)
	}
}
