package transfer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/fault"
)

func TestUpload(t *testing.T) {
	for _, c := range []struct {
		name      string
		size      int
		mode      UploadMode
		multipart bool
		parts     int
		calls     string
	}{
		{"whole", 3 * MiB, ToStorage, true, 1, "init-upload-component complete-upload-component"},
		{"whole, one byte", 1, ToStorage, true, 1, "init-upload-component complete-upload-component"},
		{"whole, not in parts", 12 * MiB, ToStorage, false, 1, "init-upload-component complete-upload-component"},
		{"one chunk", 5 * MiB, ToStorage, true, 1, "init-upload-component complete-upload-component"},
		{"parts", 5*MiB + 1, ToStorage, true, 2, "create-multipart-upload complete-multipart-upload"},
		{"many parts", 38 * MiB, ToStorage, true, 8, "create-multipart-upload complete-multipart-upload"},
		{"platform whole", 2 * MiB, ThroughPlatform, true, 1, "upload-component"},
		{"platform parts", 11 * MiB, ThroughPlatform, true, 3, "create-multipart-upload upload-part upload-part upload-part complete-multipart-upload"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newService(t)
			path, content := fileOf(t, c.size)
			var progress atomic.Int64
			up, err := fast(s, Options{Mode: c.mode, Budget: NewBudget(3)}).Upload(t.Context(), Upload{
				Dataset: "d", Component: "image", Path: path, Multipart: c.multipart, ChunkSize: 5 * MiB,
				Progress: func(n int64) { progress.Add(n) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if up != (Uploaded{MD5: sum(content), Bytes: int64(c.size), Parts: c.parts}) {
				t.Errorf("%+v", up)
			}
			if !bytes.Equal(s.completed, content) || progress.Load() != int64(c.size) {
				t.Errorf("%d bytes arrived, %d counted", len(s.completed), progress.Load())
			}
			if got := strings.Join(s.routes(), " "); got != c.calls {
				t.Errorf("calls %s", got)
			}
			if s.most > 3 {
				t.Errorf("%d at a time", s.most)
			}
			if c.parts > 1 && (s.create["direct_upload"] == true) == (c.mode == ThroughPlatform) {
				t.Errorf("%v", s.create)
			}
			if c.parts > 1 && (s.create["total_size"] != float64(c.size) || s.create["chunk_size"] != float64(5*MiB) || s.create["filename"] != "flight.tif") {
				t.Errorf("%v", s.create)
			}
		})
	}
}

// TestLongFilesAreHashedWhileOthersAreSent: sending long files does not block hashing others.
func TestLongFilesAreHashedWhileOthersAreSent(t *testing.T) {
	const files = hashSlots/longFileSlot + 2
	s := newService(t)
	release := make(chan struct{})
	s.onPut = func(http.ResponseWriter, *http.Request, int, int) bool {
		<-release
		return false
	}
	transfers := fast(s, Options{Budget: NewBudget(4 * files)})
	var group sync.WaitGroup
	defer group.Wait()
	path, _ := fileOf(t, 5*MiB+1)
	for i := range files {
		group.Go(func() { // the service treats them as one file, so their results do not matter
			_, _ = transfers.Upload(t.Context(), Upload{Dataset: fmt.Sprint("d", i), Component: "image", Path: path,
				Multipart: true, ChunkSize: 5 * MiB})
		})
	}
	begun := 0
	for range 1000 {
		if begun = len(s.routes()); begun == files {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	close(release)
	if begun != files {
		t.Errorf("%d of %d files are begun", begun, files)
	}
}

func TestStorageFaults(t *testing.T) {
	broken := func(w http.ResponseWriter) bool { panic(http.ErrAbortHandler) }
	status := func(code int) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool { w.WriteHeader(code); return true }
	}
	for name, c := range map[string]struct {
		first   func(http.ResponseWriter) bool
		resigns int64
	}{
		"reset":          {broken, 0},
		"500":            {status(500), 0},
		"503":            {status(503), 0},
		"429":            {status(429), 0},
		"expired":        {status(403), 1},
		"expired as 401": {status(401), 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.onPut = func(w http.ResponseWriter, r *http.Request, part, attempt int) bool {
				if part != 2 || attempt > 1 {
					return false
				}
				_, _ = io.CopyN(io.Discard, r.Body, 100)
				return c.first(w)
			}
			path, content := fileOf(t, 17*MiB)
			var progress atomic.Int64
			_, err := fast(s, Options{}).Upload(t.Context(), Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB,
				Progress: func(n int64) { progress.Add(n) }})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(s.completed, content) || progress.Load() != int64(len(content)) {
				t.Errorf("%d bytes arrived, %d counted", len(s.completed), progress.Load())
			}
			if s.puts.Load() != 5 || s.signs.Load() != 4+c.resigns {
				t.Errorf("%d puts, %d addresses", s.puts.Load(), s.signs.Load())
			}
		})
	}
}

func TestPartFailsForGood(t *testing.T) {
	for status, tries := range map[int]int{400: 1, 403: 1 + maxResigns, 500: 1 + 10} {
		s := newService(t)
		s.onPut = func(w http.ResponseWriter, _ *http.Request, part, _ int) bool {
			if part == 2 {
				w.WriteHeader(status)
			}
			return part == 2
		}
		path, _ := fileOf(t, 11*MiB)
		_, err := fast(s, Options{}).Upload(t.Context(), Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB})
		f := isFault[*fault.UploadError](t, err)
		for _, want := range []string{path, "part 2 of 3", fmt.Sprint(status)} {
			if !strings.Contains(f.Error(), want) {
				t.Errorf("%v does not name %s", f, want)
			}
		}
		if s.triesOf(2) != tries {
			t.Errorf("%d: %d tries", status, s.triesOf(2))
		}
		if slices.Contains(s.routes(), "complete-multipart-upload") {
			t.Error("it was completed")
		}
	}
}

func TestWholeIsRefused(t *testing.T) {
	s := newService(t)
	s.onPut = func(w http.ResponseWriter, _ *http.Request, _, _ int) bool { w.WriteHeader(413); return true }
	path, _ := fileOf(t, 10)
	_, err := fast(s, Options{}).Upload(t.Context(), Upload{Path: path})
	if f := isFault[*fault.ResponseError](t, err); f.Status != 413 || !strings.Contains(f.Error(), path) {
		t.Error(err)
	}
	if len(s.routes()) != 1 {
		t.Error(s.routes())
	}
}

// TestRefusedWhileItIsSent: a storage that refuses early, and then neither reads on nor hangs up,
// does not block the upload.
func TestRefusedWhileItIsSent(t *testing.T) {
	s := newService(t)
	over := make(chan struct{})
	defer close(over)
	s.onPut = func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return true
		}
		io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
		go func() { <-over; conn.Close() }()
		return true
	}
	path, _ := fileOf(t, maxBuffered)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := fast(s, Options{}).Upload(ctx, Upload{Path: path})
	if f := isFault[*fault.ResponseError](t, err); f.Status != 413 {
		t.Error(err)
	}
}

func TestSourceChanges(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"longer":   func(p string) error { return os.WriteFile(p, make([]byte, 12*MiB), 0o600) },
		"shorter":  func(p string) error { return os.Truncate(p, 6*MiB) },
		"touched":  func(p string) error { return os.Chtimes(p, time.Now(), time.Now().Add(-time.Hour)) },
		"removed":  os.Remove,
		"replaced": func(p string) error { _ = os.Remove(p); return os.WriteFile(p, make([]byte, 11*MiB), 0o600) },
	} {
		for _, multipart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, multipart), func(t *testing.T) {
				s := newService(t)
				path, _ := fileOf(t, 11*MiB)
				var once sync.Once
				s.onPut = func(_ http.ResponseWriter, r *http.Request, _, _ int) bool {
					once.Do(func() {
						if err := change(path); err != nil {
							t.Error(err)
						}
					})
					return false
				}
				_, err := fast(s, Options{Budget: NewBudget(1)}).Upload(t.Context(), Upload{Path: path, Multipart: multipart, ChunkSize: 5 * MiB})
				if f := isFault[*fault.UploadError](t, err); !strings.Contains(f.Error(), path) || !strings.Contains(f.Error(), "while it was uploaded") {
					t.Error(err)
				}
				for _, c := range s.routes() {
					if strings.HasPrefix(c, "complete") {
						t.Error("it was completed")
					}
				}
			})
		}
	}
}

func TestRefusedBeforeAnyRequest(t *testing.T) {
	s := newService(t)
	good, _ := fileOf(t, 10)
	empty, _ := fileOf(t, 0)
	for _, c := range []struct {
		u    Upload
		name string
	}{
		{Upload{Path: good + ".missing"}, "UploadError"},
		{Upload{Path: empty}, "UploadError"},
		{Upload{Path: t.TempDir()}, "UploadError"},
		{Upload{Path: good, ChunkSize: MinChunk - 1}, "ValueError"},
		{Upload{Path: good, ChunkSize: MaxChunk + 1}, "ValueError"},
		{Upload{Path: good, ChunkSize: -1}, "ValueError"},
		{Upload{Path: good, MD5: "abc"}, "ParameterError"},
	} {
		_, err := fast(s, Options{}).Upload(t.Context(), c.u)
		if f := fault.Find(err); f == nil || f.Name() != c.name {
			t.Errorf("%+v: %v", c.u, err)
		}
	}
	if _, err := fast(s, Options{Mode: ThroughPlatform}).Upload(t.Context(), Upload{Path: good, ChunkSize: MaxPlatformChunk + 1}); fault.Find(err).Name() != "ValueError" {
		t.Error(err)
	}
	if len(s.routes()) != 0 {
		t.Error(s.routes())
	}
}

func TestCancelledUpload(t *testing.T) {
	s := newService(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.onPut = func(_ http.ResponseWriter, r *http.Request, part, _ int) bool {
		if part == 2 {
			cancel()
		}
		return false
	}
	path, _ := fileOf(t, 30*MiB)
	_, err := fast(s, Options{Budget: NewBudget(2)}).Upload(ctx, Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB})
	isFault[*fault.CancelledError](t, err)
	if slices.Contains(s.routes(), "complete-multipart-upload") {
		t.Error("it was completed")
	}
}

func TestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 40<<40).Draw(t, "size")
		u := Upload{Multipart: rapid.Bool().Draw(t, "multipart"), ChunkSize: rapid.Int64Range(MinChunk, MaxChunk).Draw(t, "chunk")}
		p, err := planFor(size, u, false)
		if err != nil {
			t.Fatal(err)
		}
		if p.parts < 1 || p.parts > MaxParts || p.parts > 1 && (p.chunk < u.ChunkSize || p.chunk > MaxChunk) {
			t.Fatalf("%+v", p)
		}
		next := int64(0)
		for n := 1; n <= p.parts; n++ {
			offset, length := p.span(n)
			if offset != next || length < 1 || n < p.parts && length != p.chunk {
				t.Fatalf("part %d: %d bytes from %d, want from %d", n, length, offset, next)
			}
			next += length
		}
		if next != size {
			t.Fatalf("%d bytes planned of %d", next, size)
		}
	})
	p, _ := planFor(MaxParts*DefaultChunk+1, Upload{Multipart: true}, false)
	if p.chunk != DefaultChunk+1 || p.parts != MaxParts {
		t.Errorf("%+v", p)
	}
	if _, err := planFor(MaxParts*MaxPlatformChunk+1, Upload{Multipart: true}, true); fault.Find(err) == nil {
		t.Error("too large a file was planned")
	}
}

// TestStorageRefusals: a corrupted part is sent again; one that always is corrupted fails with the
// storage's own words, and without the signature.
func TestStorageRefusals(t *testing.T) {
	const digest = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>BadDigest</Code><Message>The Content-MD5 you specified did not match.</Message></Error>`
	const signature = `<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match.</Message>` +
		`<AWSAccessKeyId>AKIA-KEY</AWSAccessKeyId><StringToSign>AWS4 to-sign</StringToSign><SignatureProvided>0badc0ffee</SignatureProvided></Error>`
	for name, c := range map[string]struct {
		status, times, tries int
		body                 string
		want                 []string
	}{
		"changed once":   {400, 1, 2, digest, nil},
		"always changed": {400, 99, 1 + maxCorrupted, digest, []string{"BadDigest", "Content-MD5 you specified", "status 400"}},
		"signature":      {403, 99, 1 + maxResigns, signature, []string{"SignatureDoesNotMatch", "request signature we calculated", "status 403"}},
		"JSON":           {409, 99, 1, `{"code":"Locked","message":"it is locked"}`, []string{"Locked", "it is locked"}},
	} {
		s := newService(t)
		s.onPut = func(w http.ResponseWriter, _ *http.Request, part, attempt int) bool {
			if part == 2 && attempt <= c.times {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
				return true
			}
			return false
		}
		path, content := fileOf(t, 11*MiB)
		_, err := fast(s, Options{}).Upload(t.Context(), Upload{Path: path, Multipart: true, ChunkSize: 5 * MiB})
		if s.triesOf(2) != c.tries {
			t.Errorf("%s: %d tries, want %d", name, s.triesOf(2), c.tries)
		}
		if c.want == nil {
			if err != nil || !bytes.Equal(s.completed, content) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", name, err, want)
			}
		}
		for _, secret := range []string{"AKIA-KEY", "to-sign", "0badc0ffee"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v shows %s", name, err, secret)
			}
		}
	}
}

// TestStorageRefusesTheChecksum: a file that arrives with another MD5 than it should is an UploadError, whole or in parts.
func TestStorageRefusesTheChecksum(t *testing.T) {
	for _, chunk := range []int64{5 * MiB, 20 * MiB} {
		s := newService(t)
		s.onPut = func(w http.ResponseWriter, _ *http.Request, _, _ int) bool {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `<Error><Code>BadDigest</Code><Message>other</Message></Error>`)
			return true
		}
		path, _ := fileOf(t, 11*MiB)
		_, err := fast(s, Options{}).Upload(t.Context(), Upload{Path: path, Multipart: true, ChunkSize: chunk})
		if f := fault.Find(err); f == nil || f.Name() != "UploadError" || !strings.Contains(err.Error(), "BadDigest") {
			t.Errorf("parts of %d: %v", chunk, err)
		}
	}
}
