package main

import (
	"bytes"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sink is a platform that takes uploads and keeps nothing.
type sink struct{ url string }

func newSink(tb testing.TB) *sink {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &sink{url: "http://" + listener.Addr().String()}
	server := &http.Server{Handler: s}
	go server.Serve(listener)
	tb.Cleanup(func() { server.Close() })
	return s
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		buffer := make([]byte, 1<<20)
		for {
			if _, err := r.Body.Read(buffer); err != nil {
				return
			}
		}
	}
	io.Copy(io.Discard, r.Body)
	fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","expires_in":3600,"total_parts":1,"put_url":"%s/storage/x"}`, s.url)
}

// BenchmarkUpload sends one large sparse file in parts over loopback, by the
// program in a process of its own. It reports how fast that is compared with
// the slower of the two things nobody can do without: one MD5 over the file,
// and one plain PUT of it to the same server; and the peak memory.
// TRANSECT_BENCH_SIZE is the size in MiB.
func BenchmarkUpload(b *testing.B) {
	size := int64(256)
	if text := os.Getenv("TRANSECT_BENCH_SIZE"); text != "" {
		var err error
		if size, err = strconv.ParseInt(text, 10, 64); err != nil {
			b.Fatal(err)
		}
	}
	dir := b.TempDir()
	path := filepath.Join(dir, "mosaic.tif")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := file.Truncate(size << 20); err != nil {
		b.Fatal(err)
	}
	file.Close()
	program := filepath.Join(dir, "transect.exe")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	b.Run("sink", func(b *testing.B) {
		s := newSink(b)
		measureUpload(b, program, path, size<<20, []string{"TRANSECT_URL=" + s.url, "TRANSECT_ACCESS_TOKEN=token"},
			func() (string, string) { return "d", s.url + "/storage/x" })
	})
	b.Run("platform", func(b *testing.B) {
		env, dataset := servedDataset(b, program, dir)
		measureUpload(b, program, path, size<<20, env, dataset)
	})
}

// servedDataset serves a platform; the function makes a dataset on it, and an
// address that takes the whole file.
func servedDataset(b *testing.B, program, dir string) (env []string, dataset func() (id, put string)) {
	cmd := exec.Command(program, "platform", "serve", "--listen", "127.0.0.1:0", "--json", "--local-dir", filepath.Join(dir, "platform"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var s served
	if err := json.NewDecoder(out).Decode(&s); err != nil {
		b.Fatal(err)
	}
	env = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password,
		"TRANSECT_CLIENT_ID=" + s.ClientID, "TRANSECT_CLIENT_SECRET=" + s.ClientSecret}
	return env, func() (string, string) {
		project := record(b, program, dir, env, "eval", `local sdk = require("sdk"); local json = require("json")
return json.encode{ id = sdk.datasets.create_file_dataset{ name = "mosaic", project = sdk.projects.create("p", sdk.users.describe().company) }.id }`)
		return project, ""
	}
}

func record(b *testing.B, program, dir string, env []string, args ...string) string {
	cmd := exec.Command(program, args...)
	cmd.Env = append(append(os.Environ(), "HOME="+dir), env...)
	out, err := cmd.CombinedOutput()
	var r struct{ ID string }
	if err != nil || json.Unmarshal(bytes.TrimSpace(out), &r) != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return r.ID
}

func measureUpload(b *testing.B, program, path string, size int64, env []string, dataset func() (id, put string)) {
	var floor, took time.Duration
	peak := int64(0)
	for b.Loop() {
		id, put := dataset()
		hashed := timed(b, func() error { return hashOnce(path) })
		slower := hashed
		if put != "" {
			plain := timed(b, func() error { return putOnce(path, put, size) })
			b.ReportMetric(float64(plain)/float64(hashed), "put/md5")
			slower = max(slower, plain)
		} else {
			// A plain PUT of the same bytes to the real platform: the same
			// file in one piece, its checksum given.
			whole, _ := dataset()
			slower = max(slower, timed(b, func() error {
				_, err := uploadBy(b, program, path, env, whole, `, "multipart": false, "md5hash": "`+md5Of(b, path)+`"`)
				return err
			}))
		}
		began := time.Now()
		memory, err := uploadBy(b, program, path, env, id, "")
		if err != nil {
			b.Fatal(err)
		}
		took += time.Since(began)
		floor += slower
		peak = max(peak, memory)
	}
	b.ReportMetric(floor.Seconds()/took.Seconds(), "of-floor")
	b.ReportMetric(float64(size)*float64(b.N)/took.Seconds()/(1<<20), "MiB/s")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
}

func timed(b *testing.B, f func() error) time.Duration {
	began := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func uploadBy(b *testing.B, program, path string, env []string, dataset, more string) (peak int64, err error) {
	home := b.TempDir()
	cmd := exec.Command(program, "api", "datasets.upload_file",
		fmt.Sprintf(`{"dataset": %q, "component": "file", "file_path": %q%s}`, dataset, path, more))
	cmd.Env = append(append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "XDG_DATA_HOME="), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return peakMemory(cmd.ProcessState), nil
}

func hashOnce(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.CopyBuffer(md5.New(), struct{ io.Reader }{file}, make([]byte, 1<<20))
	return err
}

func md5Of(b *testing.B, path string) string {
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	h := md5.New()
	if _, err := io.Copy(h, file); err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func putOnce(path, url string, size int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := http.NewRequest(http.MethodPut, url, file)
	if err != nil {
		return err
	}
	r.ContentLength = size
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
