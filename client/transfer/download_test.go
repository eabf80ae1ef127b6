package transfer

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/fault"
)

func entries(t *testing.T, folder string) string {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestDownloadBreaksOff(t *testing.T) {
	_, content := fileOf(t, 3*MiB)
	half := func(w http.ResponseWriter, b []byte) {
		_, _ = w.Write(b[:len(b)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
	for name, handle := range map[string]func(w http.ResponseWriter, r *http.Request, n int64){
		"not at all": func(w http.ResponseWriter, r *http.Request, _ int64) { serve(w, r) },
		"twice": func(w http.ResponseWriter, r *http.Request, n int64) {
			if n > 2 {
				serve(w, r)
				return
			}
			var from int
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
			rest := content[from:]
			w.Header().Set("Content-Length", fmt.Sprint(len(rest)))
			if from > 0 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
				w.WriteHeader(http.StatusPartialContent)
			}
			half(w, rest)
		},
		"then all again": func(w http.ResponseWriter, r *http.Request, n int64) {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			if n == 1 {
				half(w, content)
			}
			_, _ = w.Write(content)
		},
		"then another part": func(w http.ResponseWriter, r *http.Request, n int64) {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			switch n {
			case 1:
				half(w, content)
			case 2:
				w.Header().Set("Content-Length", "10")
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-9/%d", len(content)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(content[:10])
			default:
				_, _ = w.Write(content)
			}
		},
		"then replaced": func(w http.ResponseWriter, r *http.Request, n int64) {
			if n == 1 {
				w.Header().Set("ETag", `"old"`)
				w.Header().Set("Content-Length", fmt.Sprint(len(content)))
				half(w, make([]byte, len(content)))
			}
			w.Header().Set("ETag", `"new"`)
			serve(w, r)
		},
		"then not satisfiable": func(w http.ResponseWriter, r *http.Request, n int64) {
			switch n {
			case 1:
				w.Header().Set("Content-Length", fmt.Sprint(len(content)))
				half(w, content)
			case 2:
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			default:
				serve(w, r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			var n, progress atomic.Int64
			s.onGet = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Disposition", `attachment; filename="../ortho.tif"`)
				handle(w, r, n.Add(1))
			}
			folder := filepath.Join(t.TempDir(), "made", "here")
			path, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, MD5: strings.ToUpper(sum(content)),
				Progress: func(d int64) { progress.Add(d) }})
			if err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(path)
			if !bytes.Equal(got, content) || path != filepath.Join(folder, "ortho.tif") || entries(t, folder) != "ortho.tif" {
				t.Errorf("%s: %d bytes, folder has %s", path, len(got), entries(t, folder))
			}
			if progress.Load() != int64(len(content)) {
				t.Errorf("%d bytes counted", progress.Load())
			}
		})
	}
}

func TestDownloadNeverEnds(t *testing.T) {
	s := newService(t)
	var n atomic.Int64
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		w.Header().Set("Content-Length", "1000")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	folder := t.TempDir()
	_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, TargetName: "a"})
	if f := isFault[*fault.DownloadError](t, err); !strings.Contains(f.Error(), "byte 0 of 1000") {
		t.Error(err)
	}
	if strings.Contains(fault.Find(err).Facts().Cause.Error(), "EOF") {
		t.Errorf("a word of the trade: %v", fault.Find(err).Facts().Cause)
	}
	if n.Load() != maxBreaks+1 || entries(t, folder) != "" {
		t.Errorf("%d requests, %q", n.Load(), entries(t, folder))
	}
}

// TestNamesChosenByServersAreAskedAbout: the folder's guard is consulted about the name that the
// server chose, before anything is written.
func TestNamesChosenByServersAreAskedAbout(t *testing.T) {
	s := newService(t)
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=survey.allow.json")
		fmt.Fprint(w, "{}")
	}
	folder := t.TempDir()
	var names []string
	_, err := fast(s, Options{Folder: func(path, name string) (*os.Root, error) {
		names = append(names, name)
		if name != "" {
			return nil, fault.Of(&fault.PermissionError{}, "not %s", name)
		}
		return os.OpenRoot(path)
	}}).Download(t.Context(), Download{Path: "/f", TargetPath: folder})
	isFault[*fault.PermissionError](t, err)
	if !slices.Equal(names, []string{"", "survey.allow.json"}) || entries(t, folder) != "" {
		t.Errorf("asked about %q, left %s", names, entries(t, folder))
	}
}

// TestPageInsteadOfAFile: the login page of a network is not accepted as a file. A page with a
// name, or the expected checksum, is.
func TestPageInsteadOfAFile(t *testing.T) {
	const page = "<html>log in</html>"
	s := newService(t)
	named := false
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if named {
			w.Header().Set("Content-Disposition", "attachment; filename=report.html")
		}
		fmt.Fprint(w, page)
	}
	folder := t.TempDir()
	_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, TargetName: "a"})
	if f := isFault[*fault.DownloadError](t, err); !strings.Contains(f.Message, "web page") || entries(t, folder) != "" {
		t.Errorf("%v, %q", err, entries(t, folder))
	}
	if _, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, TargetName: "a", MD5: sum([]byte(page))}); err != nil {
		t.Error(err)
	}
	named = true
	if _, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder}); err != nil {
		t.Error(err)
	}
	if got := entries(t, folder); got != "a report.html" {
		t.Error(got)
	}
}

func TestExistingFileStays(t *testing.T) {
	s := newService(t)
	var asked atomic.Int64
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Disposition", "attachment; filename=a.txt")
		fmt.Fprint(w, "new")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "a.txt")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range []Download{{TargetName: "a.txt"}, {}} {
		d.Path, d.TargetPath = "/f", folder
		_, err := fast(s, Options{}).Download(t.Context(), d)
		isFault[*fault.FileExistsError](t, err)
		if b, _ := os.ReadFile(path); string(b) != "old" || entries(t, folder) != "a.txt" {
			t.Errorf("%q, %s", b, entries(t, folder))
		}
	}
	if asked.Load() != 1 {
		t.Errorf("%d requests; a known name must not ask", asked.Load())
	}
	if _, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "new" {
		t.Errorf("%q", b)
	}
}

func TestFileThatComesMeanwhileStays(t *testing.T) {
	s := newService(t)
	folder := t.TempDir()
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		for !strings.Contains(entries(t, folder), ".part") {
			time.Sleep(time.Millisecond)
		}
		_ = os.WriteFile(filepath.Join(folder, "a"), []byte("theirs"), 0o600)
		fmt.Fprint(w, "ours")
	}
	_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, TargetName: "a"})
	isFault[*fault.FileExistsError](t, err)
	if b, _ := os.ReadFile(filepath.Join(folder, "a")); string(b) != "theirs" || entries(t, folder) != "a" {
		t.Errorf("%q, %s", b, entries(t, folder))
	}
}

func TestWrongChecksum(t *testing.T) {
	s := newService(t)
	s.onGet = func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "other") }
	folder := t.TempDir()
	_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: folder, TargetName: "a", MD5: sum([]byte("it"))})
	isFault[*fault.DownloadError](t, err)
	if entries(t, folder) != "" {
		t.Error(entries(t, folder))
	}
}

func TestCancelledDownload(t *testing.T) {
	s := newService(t)
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s.onGet = func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "some")
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	}
	_, err := fast(s, Options{}).Download(ctx, Download{Path: "/f", TargetPath: folder, TargetName: "a"})
	isFault[*fault.CancelledError](t, err)
	if entries(t, folder) != "" {
		t.Error(entries(t, folder))
	}
}

func TestTargetsThatCannotBe(t *testing.T) {
	s := newService(t)
	s.onGet = func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "x") }
	for _, name := range []string{"..", ".", "a/b", "../a", "/a"} {
		_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: t.TempDir(), TargetName: name})
		isFault[*fault.ParameterError](t, err)
	}
	file, _ := fileOf(t, 1)
	_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: filepath.Join(file, "below")})
	isFault[*fault.FileError](t, err)
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/self"); err == nil {
			_, err := fast(s, Options{}).Download(t.Context(), Download{Path: "/f", TargetPath: "/proc"})
			if f := isFault[*fault.FileError](t, err); !strings.Contains(f.Error(), "/proc") {
				t.Error(err)
			}
		}
	}
}

func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	file := &target{path: "out/a.tif", file: full}
	defer func() { _ = full.Close() }()
	err = file.writeAt([]byte("x"), 0)
	if f := isFault[*fault.FileError](t, err); !strings.Contains(f.Error(), "out/a.tif") || !strings.Contains(f.Hint, "disk is full") {
		t.Errorf("%v, %s", err, f.Hint)
	}
}

func opened(t *testing.T, path string) folder {
	t.Helper()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return folder{root, path}
}

func TestPartialFileOfAKilledDownloadIsTakenOver(t *testing.T) {
	folder := t.TempDir()
	first, err := newTarget(opened(t, folder), "ortho.tif")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.file.Write([]byte("half of it")); err != nil {
		t.Fatal(err)
	}
	beside, err := newTarget(opened(t, folder), "ortho.tif")
	if err != nil {
		t.Fatal(err)
	}
	if beside.file.Name() == first.file.Name() {
		t.Error("two downloads write the same temporary file")
	}
	beside.discard()
	_ = first.file.Close() // like a killed process: the file stays
	again, err := newTarget(opened(t, folder), "ortho.tif")
	if err != nil {
		t.Fatal(err)
	}
	if again.file.Name() != first.file.Name() {
		t.Error("the leftover is not taken over")
	}
	again.discard()
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
