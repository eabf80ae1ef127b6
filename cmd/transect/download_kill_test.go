package main

import (
	"crypto/md5"
	"encoding/hex"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

const fetchScript = `
local sdk = require("sdk")
local d = sdk.datasets.search{ filter = { name = { ["$eq"] = "ortho" } }, limit = 1 }[1]
if not d then
  local project = sdk.projects.create("Quarry", sdk.users.describe().company)
  d = sdk.datasets.create_datasets{ { name = "ortho", type = "file", project = project.id, components = { { name = "file" } } } }[1]
  sdk.datasets.upload_file(d, { component = "file", file_path = "ortho.bin" })
  return
end
print(sdk.datasets.download_component(d, { component = "file", target_path = "out", md5hash = sdk.datasets.describe(d).components[1].checksum }))
`

// counter is a proxy that counts the bytes of downloads.
type counter struct {
	*httptest.Server
	served atomic.Int64
	ranges atomic.Int64 // partial answers
	flying atomic.Int64
}

func newCounter(t *testing.T, platform string) *counter {
	t.Helper()
	to, err := url.Parse(platform)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }, ErrorLog: log.New(io.Discard, "", 0)}
	c := &counter{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			c.flying.Add(1)
			defer c.flying.Add(-1)
			w = countingWriter{w, c}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

type countingWriter struct {
	http.ResponseWriter
	c *counter
}

func (w countingWriter) WriteHeader(status int) {
	if status == http.StatusPartialContent {
		w.c.ranges.Add(1)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.c.served.Add(int64(n))
	return n, err
}

func (w countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestDownloadKilled kills a script in the middle of a large file and runs it
// again: the download resumes from the partial file and the whole file is
// verified. A damaged partial file starts over.
func TestDownloadKilled(t *testing.T) {
	const size, stop = 64 << 20, 40 << 20
	h := newHome(t, 0, flightgen.Options{})
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	if err := os.WriteFile(filepath.Join(h.dir, "ortho.bin"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := md5.Sum(data)
	s := serve(t, h)
	c := newCounter(t, s.URL)
	h.file("fetch.lua", fetchScript)
	login := []string{"TRANSECT_URL=" + c.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password,
		"TRANSECT_CLIENT_ID=" + s.ClientID, "TRANSECT_CLIENT_SECRET=" + s.ClientSecret}
	h.settings = login
	h.must("run", "fetch.lua")
	out := filepath.Join(h.dir, "out")
	killed := func(t *testing.T) {
		t.Helper()
		os.RemoveAll(out)
		c.served.Store(0)
		h.settings = append(login[:len(login):len(login)], "TRANSECT_BWLIMIT=24M")
		cmd := h.command("run", "fetch.lua")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); c.served.Load() < stop && time.Since(began) < testTimeout; {
			time.Sleep(5 * time.Millisecond)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if cmd.ProcessState.Success() || c.served.Load() < stop {
			t.Fatalf("it was not killed in the middle: %d bytes were served", c.served.Load())
		}
		for c.flying.Load() > 0 {
			time.Sleep(5 * time.Millisecond)
		}
		if _, err := os.Stat(filepath.Join(out, "ortho.bin")); err == nil {
			t.Error("half of the file has its name")
		}
		c.served.Store(0)
		c.ranges.Store(0)
		h.settings = login
	}
	whole := func(t *testing.T) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(out, "ortho.bin"))
		if err != nil {
			t.Fatal(err)
		}
		if have := md5.Sum(got); have != sum {
			t.Errorf("the file has the MD5 %s", hex.EncodeToString(have[:]))
		}
		if list, _ := os.ReadDir(out); len(list) != 1 {
			t.Errorf("the folder has %v", list)
		}
	}

	t.Run("resumes", func(t *testing.T) {
		killed(t)
		if printed := h.must("run", "fetch.lua"); strings.TrimSpace(filepath.ToSlash(printed)) != "out/ortho.bin" {
			t.Errorf("printed %q", printed)
		}
		whole(t)
		again := c.served.Load()
		t.Logf("killed after %d MiB of %d; %d MiB were served to the next run, in %d ranges", stop>>20, size>>20, again>>20, c.ranges.Load())
		// What came since the last record, one a second or every 16 MiB, comes again.
		if again > size-stop+32<<20 || c.ranges.Load() == 0 {
			t.Errorf("%d bytes of %d were served to the second run, in %d ranges", again, size, c.ranges.Load())
		}
	})
	t.Run("damaged partial file", func(t *testing.T) {
		killed(t)
		left, _ := filepath.Glob(filepath.Join(out, ".*"))
		var largest string
		for _, path := range left {
			if info, err := os.Stat(path); err == nil && info.Size() > 1<<20 {
				largest = path
			}
		}
		f, err := os.OpenFile(largest, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err, left)
		}
		f.WriteAt([]byte("not what was sent"), 1000)
		f.Close()
		h.must("run", "fetch.lua")
		whole(t)
		if c.served.Load() < size {
			t.Errorf("%d bytes were served", c.served.Load())
		}
	})
}
