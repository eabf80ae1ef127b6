package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"transect/testdata/peaktest"
)

// Reading an answer takes no more than twice what docs/limits.md says that it may have: one
// that inflates without end, one that is as large as allowed, and ones of many tiny records.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read as Linux has it")
	}
	const most = 512 << 20
	for _, c := range []struct {
		name, begin, middle, end string
		times                    int // of 16 MiB of the middle
		zipped                   bool
		says                     string
	}{
		{"a bomb", `{"results":[`, " ", "", 256, true, "more than 512 MiB"},
		{"a plain one", `{"results":[`, " ", "", 64, false, "more than 512 MiB"},
		{"the largest", `{"results":[{"_id":"0123456789abcdef01234567","name":"`, "x", `"}]}`, 31, true, "read 1"},
		{"tiny records", `{"results":[{}`, ",{}", "]}", 24, true, "more than"},
		{"numbers", `{"results":[1`, ",1", "]}", 24, true, "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			middle := bytes.Repeat([]byte(c.middle), 16<<20/len(c.middle))
			if c.zipped {
				middle = zip(t, middle)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				begin, end := []byte(c.begin), []byte(c.end)
				if c.zipped {
					w.Header().Set("Content-Encoding", "gzip")
					begin, end = zip(t, begin), zip(t, end)
				}
				_, err := w.Write(begin)
				for range c.times {
					if err == nil {
						_, err = w.Write(middle)
					}
				}
				_, _ = w.Write(end)
			}))
			t.Cleanup(server.Close)
			dir := t.TempDir()
			write(t, dir, "token", "secret")
			write(t, dir, "none.lua", "")
			write(t, dir, "search.lua", `local page = require("sdk").projects.search{}; print("read " .. #page)`)
			peak := func(script string) (string, int64) {
				cmd := exec.Command("transect", "run", "--url", server.URL, "--access-token-file", "token", script)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+dir+"/home", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=")
				out, _ := cmd.CombinedOutput() // what it says tells
				return string(out), peaktest.Of(cmd.ProcessState)
			}
			_, usual := peak("none.lua")
			said, took := peak("search.lua")
			if took -= usual; !strings.Contains(said, c.says) || took > 2*most {
				t.Errorf("it took %d MiB: %s", took>>20, said)
			}
			t.Logf("%d MiB: %s", took>>20, said)
		})
	}
}

func zip(t *testing.T, text []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err := io.Copy(w, bytes.NewReader(text))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Error(err)
	}
	return zipped.Bytes()
}
