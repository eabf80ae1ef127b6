package transfer

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/fault"
)

// rangeService serves one content with ranges and an ETag, and counts.
type rangeService struct {
	*testService
	mu      sync.Mutex
	content []byte
	tag     string
	served  atomic.Int64
	ranges  atomic.Int64
	now     atomic.Int64
	most    atomic.Int64
	// before is called with each answer, before its bytes; it may refuse.
	before func(w http.ResponseWriter, r *http.Request) bool
	// slow is how long, in nanoseconds, each write takes at least.
	slow atomic.Int64
}

type countedWriter struct {
	http.ResponseWriter
	s *rangeService
}

func (c countedWriter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.s.served.Add(int64(n))
	time.Sleep(time.Duration(c.s.slow.Load()))
	return n, err
}

func newRangeService(t *testing.T, size int) *rangeService {
	_, content := fileOf(t, size)
	s := &rangeService{testService: newService(t), content: content, tag: `"one"`}
	s.testService.mu.Lock()
	defer s.testService.mu.Unlock()
	s.onGet = s.get
	return s
}

func (s *rangeService) set(content []byte, tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content, s.tag = content, tag
}

func (s *rangeService) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, tag := s.content, s.tag
	s.mu.Unlock()
	if r.Header.Get("Range") != "" {
		s.ranges.Add(1)
	}
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	if tag != "" {
		w.Header().Set("ETag", tag)
	}
	if s.before != nil && s.before(w, r) {
		return
	}
	http.ServeContent(countedWriter{w, s}, r, "", time.Time{}, bytes.NewReader(content))
}

func (s *rangeService) fetch(t *testing.T, ctx context.Context, folder, md5 string) error {
	t.Helper()
	var progress atomic.Int64
	transfers := fast(s.testService, Options{})
	transfers.minParallel, transfers.rangeSize = 4*MiB, 2*MiB
	path, err := transfers.Download(ctx, Download{Path: "/f", TargetPath: folder, TargetName: "ortho.tif", MD5: md5,
		Overwrite: true, Progress: func(n int64) { progress.Add(n) }})
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		got, _ := os.ReadFile(path)
		if !bytes.Equal(got, s.content) || progress.Load() != int64(len(s.content)) || entries(t, folder) != "ortho.tif" {
			t.Errorf("%d bytes of %d, %d counted, folder has %s", len(got), len(s.content), progress.Load(), entries(t, folder))
		}
	}
	return err
}

// halfway downloads until so many bytes were served, and stops.
func (s *rangeService) halfway(t *testing.T, folder, md5 string, bytes int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.slow.Store(int64(time.Millisecond))
	defer func() { s.slow.Store(0) }()
	go func() {
		for s.served.Load() < bytes && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	isFault[*fault.CancelledError](t, s.fetch(t, ctx, folder, md5))
	for s.now.Load() > 0 {
		time.Sleep(time.Millisecond) // the last answers end
	}
}

func TestManyRanges(t *testing.T) {
	for _, known := range []bool{true, false} {
		s := newRangeService(t, 9*MiB+3)
		var n atomic.Int64
		s.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if n.Add(1)%2 == 0 {
				time.Sleep(50 * time.Millisecond) // so that they come out of order
			}
			return false
		}
		md5 := ""
		if known {
			md5 = sum(s.content)
		}
		if err := s.fetch(t, t.Context(), t.TempDir(), md5); err != nil {
			t.Fatal(err)
		}
		// One more than at a time, because an answer already read may not have ended.
		if s.ranges.Load() != 4 || s.most.Load() < 2 || s.most.Load() > rangesPerFile+1 {
			t.Errorf("%d ranges, %d at a time", s.ranges.Load(), s.most.Load())
		}
	}
}

func TestRangesThatGoWrong(t *testing.T) {
	for name, before := range map[string]func(s *rangeService, w http.ResponseWriter, r *http.Request, n int64) bool{
		"whole instead": func(s *rangeService, w http.ResponseWriter, r *http.Request, _ int64) bool {
			r.Header.Del("Range")
			return false
		},
		"replaced": func(s *rangeService, w http.ResponseWriter, _ *http.Request, n int64) bool {
			if n == 3 {
				s.set(append(bytes.Clone(s.content), "more"...), `"two"`)
				w.Header().Set("ETag", `"two"`)
			}
			return false
		},
		"replaced, without an ETag": func(s *rangeService, w http.ResponseWriter, r *http.Request, n int64) bool {
			if r.Header.Get("Range") == "" || n != 2 {
				return false
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 2097152-4194303/%d", len(s.content)-1))
			w.WriteHeader(http.StatusPartialContent)
			return true
		},
		"broken off": func(s *rangeService, w http.ResponseWriter, r *http.Request, n int64) bool {
			if n%2 == 0 && n < 8 {
				http.ServeContent(&cutWriter{w, 100_000}, r, "", time.Time{}, bytes.NewReader(s.content))
			}
			return false
		},
		"another range": func(s *rangeService, w http.ResponseWriter, r *http.Request, n int64) bool {
			if n == 2 {
				r.Header.Set("Range", "bytes=5-100")
			}
			return false
		},
		"longer": func(s *rangeService, w http.ResponseWriter, r *http.Request, n int64) bool {
			if h := r.Header.Get("Range"); h != "" {
				r.Header.Set("Range", h[:strings.IndexByte(h, '-')+1])
			}
			return false
		},
		"gone": func(s *rangeService, w http.ResponseWriter, r *http.Request, n int64) bool {
			if n == 2 {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			}
			return n == 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRangeService(t, 5*MiB)
			var n atomic.Int64
			s.before = func(w http.ResponseWriter, r *http.Request) bool { return before(s, w, r, n.Add(1)) }
			if err := s.fetch(t, t.Context(), t.TempDir(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// cutWriter breaks the connection after so many bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	n, _ := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

func TestStoppedDownloadIsResumed(t *testing.T) {
	for name, size := range map[string]int{"many": 16 * MiB, "without a tag": 12 * MiB} {
		t.Run(name, func(t *testing.T) {
			for _, md5 := range []bool{true, false} {
				s := newRangeService(t, size)
				want := ""
				switch {
				case name == "without a tag":
					s.tag = ""
					fallthrough
				case md5:
					want = sum(s.content)
				}
				folder := t.TempDir()
				s.halfway(t, folder, want, int64(size)*7/10)
				if e := entries(t, folder); strings.Contains(e, "ortho") || !strings.Contains(e, ".resume") {
					t.Fatal(e)
				}
				if err := s.fetch(t, t.Context(), folder, want); err != nil {
					t.Fatal(err)
				}
				again := s.served.Load() - int64(size)
				t.Logf("%d of %d bytes were served twice", again, size)
				if again > int64(size)*5/10 {
					t.Errorf("%d of %d bytes were served twice", again, size)
				}
			}
		})
	}
}

func TestPartialFileOfAnotherStateAreNotUsed(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *rangeService, folder string) (md5 string){
		"replaced on the server": func(t *testing.T, s *rangeService, _ string) string {
			s.set(bytes.Repeat([]byte("new "), len(s.content)/4), `"two"`)
			return ""
		},
		"the record is damaged": func(t *testing.T, s *rangeService, folder string) string {
			files, _ := filepath.Glob(filepath.Join(folder, ".transect-*.resume"))
			b, _ := os.ReadFile(files[0])
			for i := 20; i < len(b); i += 64 {
				b[i]++
			}
			_ = os.WriteFile(files[0], b, 0o600)
			return ""
		},
		"bytes are missing": func(t *testing.T, s *rangeService, folder string) string {
			files, _ := filepath.Glob(filepath.Join(folder, ".transect-*.part"))
			_ = os.Truncate(files[0], 1000)
			return ""
		},
		"bytes are wrong": func(t *testing.T, s *rangeService, folder string) string {
			files, _ := filepath.Glob(filepath.Join(folder, ".transect-*.part"))
			f, _ := os.OpenFile(files[0], os.O_RDWR, 0)
			_, _ = f.WriteAt([]byte("spoilt"), 1000)
			_ = f.Close()
			return sum(s.content)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRangeService(t, 12*MiB)
			folder := t.TempDir()
			md5 := ""
			if name == "bytes are wrong" {
				md5 = sum(s.content)
			}
			s.halfway(t, folder, md5, 8*MiB)
			md5 = change(t, s, folder)
			if err := s.fetch(t, t.Context(), folder, md5); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestFinalFailureLeavesNothing(t *testing.T) {
	s := newRangeService(t, 12*MiB)
	folder := t.TempDir()
	s.halfway(t, folder, "", 8*MiB)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			w.WriteHeader(http.StatusNotFound)
		}
		return r.Header.Get("Range") != ""
	}
	isFault[*fault.ResponseError](t, s.fetch(t, t.Context(), folder, ""))
	if e := entries(t, folder); e != "" {
		t.Error(e)
	}
}

func TestGzipIsUnpacked(t *testing.T) {
	_, content := fileOf(t, 3*MiB)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(content)
	_ = z.Close()
	s := newService(t)
	var n atomic.Int64
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("ETag", `"packed"`)
		if n.Add(1) == 1 {
			w.Header().Set("Content-Length", fmt.Sprint(packed.Len()))
			_, _ = w.Write(packed.Bytes()[:packed.Len()/2])
			return
		}
		_, _ = w.Write(packed.Bytes())
	}
	folder := t.TempDir()
	path, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, TargetName: "a", MD5: sum(content)})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, content) || entries(t, folder) != "a" {
		t.Errorf("%d bytes, %s", len(got), entries(t, folder))
	}
}

func TestOldPartialFilesArePruned(t *testing.T) {
	folder := t.TempDir()
	old := time.Now().Add(-partialAge - time.Hour)
	for name, aged := range map[string]bool{
		".transect-0011223344556677.part": true, ".transect-0011223344556677.resume": true,
		".transect-8811223344556677.resume": true,
		".transect-9911223344556677.part":   false, "mine.part": true, ".transect-notes": true,
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if aged {
			_ = os.Chtimes(path, old, old)
		}
	}
	locked, err := OpenLocked(opened(t, folder).Root, ".transect-7711223344556677.part")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locked.Close() }()
	_ = os.Chtimes(locked.Name(), old, old)
	fast(newService(t), Options{}).pruneOnce(opened(t, folder))
	if e := entries(t, folder); e != ".transect-7711223344556677.part .transect-9911223344556677.part .transect-notes mine.part" {
		t.Error(e)
	}
}

func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 60
		var set spans
		var have [total]bool
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			from := rapid.Int64Range(0, total).Draw(t, "from")
			to := rapid.Int64Range(from, total).Draw(t, "to")
			set = set.with(from, to)
			for i := from; i < to; i++ {
				have[i] = true
			}
		}
		if !set.valid(total) {
			t.Fatalf("%v", set)
		}
		var got, missing [total]bool
		for _, p := range set {
			for i := p[0]; i < p[1]; i++ {
				got[i] = true
			}
		}
		for _, p := range set.gaps(total, rapid.Int64Range(1, 70).Draw(t, "size")) {
			for i := p[0]; i < p[1]; i++ {
				missing[i] = true
			}
		}
		for i := range have {
			if got[i] != have[i] || missing[i] == have[i] {
				t.Fatalf("byte %d of %v", i, set)
			}
		}
	})
}

// fetchUntilKilled is the process that TestKilledDownloadIsResumed kills.
func fetchUntilKilled(address, folder string) {
	s := &testService{Server: &httptest.Server{URL: address}}
	_, err := fast(s, Options{}).Download(context.Background(), Download{Path: "/f", TargetPath: folder, TargetName: "ortho.tif", Query: url.Values{}})
	fmt.Println("ended", err)
	os.Exit(3)
}

func TestKilledDownloadIsResumed(t *testing.T) {
	s := newRangeService(t, 64*MiB)
	s.slow.Store(int64(time.Millisecond))
	folder := t.TempDir()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "TRANSECT_TEST_FETCH="+s.URL, "TRANSECT_TEST_FOLDER="+folder)
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for s.served.Load() < 50*MiB {
		time.Sleep(time.Millisecond)
	}
	_ = c.Process.Kill()
	_ = c.Wait() // killed
	for s.now.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	s.slow.Store(0)
	before := s.served.Load()
	if err := s.fetch(t, t.Context(), folder, ""); err != nil {
		t.Fatal(err, output.String())
	}
	second := s.served.Load() - before
	t.Logf("%d MiB before, %d MiB after, of 64", before/MiB, second/MiB)
	if second > 44*MiB {
		t.Errorf("%d bytes were served to the second, of %d", second, 64*MiB)
	}
}

func TestFullAndReadOnlyFileSystems(t *testing.T) {
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	s := newRangeService(t, 40*MiB)
	if err := os.WriteFile(filepath.Join(folder, "ortho.tif"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := isFault[*fault.FileError](t, s.fetch(t, t.Context(), folder, ""))
	if !strings.Contains(f.Hint, "disk is full") || entries(t, folder) != "ortho.tif" {
		t.Errorf("%v, %s; %s", f, f.Hint, entries(t, folder))
	}
	if b, _ := os.ReadFile(filepath.Join(folder, "ortho.tif")); string(b) != "old" {
		t.Errorf("the target has %d bytes", len(b))
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", folder).CombinedOutput(); err != nil {
		t.Skipf("cannot make it read-only: %v %s", err, out)
	}
	f = isFault[*fault.FileError](t, s.fetch(t, t.Context(), folder, ""))
	if !strings.Contains(f.Hint, "written to") {
		t.Errorf("%v, %s", f, f.Hint)
	}
}

// BenchmarkDownload compares with a simple copy of the same bytes.
func BenchmarkDownload(b *testing.B) {
	content := make([]byte, 256*MiB)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	s := &testService{Server: server}
	want := sum(content)
	for name, md5 := range map[string]string{"plain": "", "verified": want} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				if _, err := fast(s, Options{}).Download(b.Context(), Download{Path: "/f", TargetPath: b.TempDir(), TargetName: "a", MD5: md5}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("raw", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			r, err := http.Get(server.URL)
			if err != nil {
				b.Fatal(err)
			}
			f, err := os.Create(filepath.Join(b.TempDir(), "a"))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.ReadFrom(r.Body); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			_, _ = f.Close(), r.Body.Close()
		}
	})
}
