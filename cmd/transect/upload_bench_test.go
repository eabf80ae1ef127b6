package main

import (
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/testdata/floor"
	"transect/testdata/peaktest"
)

// BenchmarkUpload sends one large sparse file in parts over loopback, by the
// program in a process of its own. It reports how fast that is compared with
// the slower of two floors: one MD5 over the file, and one plain PUT of it to the
// same server, which keeps nothing; and the peak memory.
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
	s := floor.Serve(b, 0)
	measureUpload(b, program, path, size<<20, []string{"TRANSECT_URL=" + s.URL, "TRANSECT_ACCESS_TOKEN=token"}, s.URL+"/storage/x")
}

func measureUpload(b *testing.B, program, path string, size int64, env []string, put string) {
	var slower, took time.Duration
	peak := int64(0)
	for b.Loop() {
		hashed := timed(b, func() error { return hashOnce(path) })
		plain := timed(b, func() error { return putOnce(path, put, size) })
		b.ReportMetric(float64(plain)/float64(hashed), "put/md5")
		slower += max(hashed, plain)
		began := time.Now()
		memory, err := uploadBy(b, program, path, env)
		if err != nil {
			b.Fatal(err)
		}
		took += time.Since(began)
		peak = max(peak, memory)
	}
	b.ReportMetric(slower.Seconds()/took.Seconds(), "of-floor")
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

func uploadBy(b *testing.B, program, path string, env []string) (peak int64, err error) {
	home := b.TempDir()
	cmd := exec.Command(program, "api", "datasets.upload_file",
		fmt.Sprintf(`{"dataset": "d", "component": "file", "file_path": %q}`, path))
	cmd.Env = append(append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "XDG_DATA_HOME="), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return peaktest.Of(cmd.ProcessState), nil
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
