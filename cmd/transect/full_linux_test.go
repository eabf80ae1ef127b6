package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"transect/testdata/flightgen"
)

// disk is a file system of a megabyte in a home folder, that is full.
type disk struct {
	home   *home
	folder string
}

// mine is what lies on the disk and is to stay as it is.
var mine = []string{"stored.bin", "report.csv", "report.json", "metrics.prom", "log.txt"}

func newDisk(h *home) *disk {
	h.t.Helper()
	d := &disk{h, filepath.Join(h.dir, "disk")}
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		h.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", d.folder).CombinedOutput(); err != nil {
		h.t.Skipf("a small disk cannot be mounted here: %v %s", err, out)
	}
	h.t.Cleanup(func() { _ = syscall.Unmount(d.folder, syscall.MNT_DETACH) })
	for _, name := range mine {
		write(h.t.(*testing.T), d.folder, name, "mine\n")
	}
	d.fill()
	return d
}

func (d *disk) fill() {
	d.home.t.Helper()
	file, err := os.OpenFile(filepath.Join(d.folder, "ballast"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.home.t.Fatal(err)
	}
	defer file.Close()
	for size := 4096; err == nil; {
		_, err = file.Write(make([]byte, size))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.home.t.Fatal(err)
	}
}

// left tells of what is there that was not.
func (d *disk) left() (list []string) {
	d.home.t.Helper()
	err := filepath.WalkDir(d.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "ballast" {
			return err
		}
		content, err := os.ReadFile(path)
		if name := entry.Name(); !bytes.HasPrefix(content, []byte("mine\n")) || len(content) > 5 && name != "log.txt" {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		d.home.t.Error(err)
	}
	return list
}

// TestFullDisks goes through all that a run writes, on a full disk and on one
// that is read-only: an error with a name and a hint, the right exit code, and
// nothing that was there is harmed.
func TestFullDisks(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2, flightgen.Options{Width: 64, Height: 48})
	write(t, h.dir, "prepare.lua", `local sdk, fs = require("sdk"), require("fs")
local d = sdk.datasets.create_file_dataset{ name = "stored.bin", company = sdk.users.describe().company, components = { "file" } }
fs.write("stored.bin", string.rep("0123456789abcdef", 200000))
sdk.datasets.upload_file{ dataset = d, component = "file", file_path = "stored.bin" }
print(d.id)`)
	write(t, h.dir, "download.lua", `require("sdk").datasets.download_component{ dataset = ..., component = "file", target_path = "disk", overwrite = true }`)
	write(t, h.dir, "upload.lua", `local sdk = require("sdk")
local d = sdk.datasets.create_file_dataset{ name = "up.bin", company = sdk.users.describe().company, components = { "file" } }
sdk.datasets.upload_file{ dataset = d, component = "file", file_path = ... or "stored.bin" }
print(sdk.datasets.describe(d).components[1].status)`)
	write(t, h.dir, "bring.lua", `local sdk = require("sdk")
local r = require("ingest").run{ source = "flight", company = sdk.users.describe().company, report = ... }
print(r.uploaded + r.already_there .. " there")`)
	stored := strings.TrimSpace(h.must("run", "--local", "prepare.lua"))
	d := newDisk(h)

	type result struct {
		code   int
		stdout string
		stderr string
	}
	full, readOnly := "no space left on device", "read-only file system"
	state := func(args ...string) []string { return append([]string{"TRANSECT_STATE_DIR=disk/state"}, args...) }
	cases := []struct {
		what     string
		args     []string // settings of the environment first
		full     result
		readOnly result
	}{
		{"download", []string{"run", "--local", "download.lua", stored},
			result{5, "", "FileError: datasets.download_component: cannot write"}, result{1, "", "FileError: datasets.download_component: cannot write"}},
		{"report of an ingest", []string{"run", "--local", "bring.lua", "disk/report.csv"},
			result{5, "", "FileError: ingest.run: the report disk/report.csv cannot be written"}, result{1, "", "FileError: ingest.run: the report disk/report.csv cannot be written"}},
		{"report", []string{"run", "--local", "--report", "disk/report.json", "upload.lua"},
			result{5, "completed", "FileError: the report file disk/report.json cannot be written"}, result{2, "", "ConfigError: the report file disk/report.json cannot be written"}},
		{"metrics", []string{"run", "--local", "--metrics", "disk/metrics.prom", "upload.lua"},
			result{5, "completed", "FileError: the metrics file disk/metrics.prom cannot be written"}, result{2, "", "ConfigError: the metrics file disk/metrics.prom cannot be written"}},
		{"new log", []string{"run", "--local", "--log-file", "disk/new.txt", "upload.lua"},
			result{0, "completed", "the log file disk/new.txt is incomplete"}, result{2, "", "ConfigError: the log file disk/new.txt cannot be written"}},
		{"state", state("run", "--local", "upload.lua"), // what cannot be noted is not sent
			result{5, "", "FileError: datasets.create_file_dataset: the ledger of the run cannot be written"},
			result{1, "", "FileError: datasets.create_file_dataset: the ledger of the run cannot be written"}},
		{"outcomes of an ingest", state("run", "--local", "bring.lua"),
			result{5, "", "FileError: ingest.run: cannot"}, result{1, "", "FileError: ingest.run: cannot create the folder of locks"}},
		{"lock", state("run", "--local", "--lock=nightly", "upload.lua"),
			result{2, "", "ConfigError: cannot"}, result{2, "", "ConfigError: cannot create the folder of locks"}},
	}
	for _, c := range cases {
		if c.what == "report of an ingest" { // all files have their verdict: nothing stopped
			if _, stderr, _ := h.run(c.args...); !strings.HasPrefix(stderr, "ingest into the local platform") {
				t.Errorf("an ingest whose report cannot be written says\n%s", stderr)
			}
		}
		try := func(kind, cause string, want result) {
			h.settings = nil
			args := c.args
			for strings.Contains(args[0], "=") {
				h.settings, args = append(h.settings, args[0]), args[1:]
			}
			stdout, stderr, code := h.run(args...)
			if code != want.code || !strings.Contains(stderr, want.stderr) || !strings.Contains(stdout, want.stdout) {
				t.Errorf("%s on a %s disk: exit code %d, want %d\n%s%s", c.what, kind, code, want.code, stdout, stderr)
			}
			if code != 0 && (!strings.Contains(stderr, cause) || !strings.Contains(stderr, "hint: ")) {
				t.Errorf("%s on a %s disk: no cause or no hint\n%s", c.what, kind, stderr)
			}
			if strings.Contains(stderr, "goroutine") {
				t.Errorf("%s on a %s disk: %s", c.what, kind, stderr)
			}
		}
		try("full", full, c.full)
		if err := os.RemoveAll(filepath.Join(d.folder, "state")); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(d.folder, "new.txt"))
		if list := d.left(); len(list) > 0 {
			t.Errorf("%s: after it on the full disk: %v", c.what, list)
		}
		if err := syscall.Mount("", d.folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Skipf("it cannot be made read-only: %v", err)
		}
		try("read-only", readOnly, c.readOnly)
		if err := syscall.Mount("", d.folder, "", syscall.MS_REMOUNT, "size=1m"); err != nil {
			t.Fatal(err)
		}
		d.fill()
	}

	h.settings = nil
	for _, args := range [][]string{{"run", "--local", "upload.lua"}, {"runs", "--json"}, {"doc", "datasets"}, {"eval", "--local", "1 + 1"}} {
		cmd := h.command(args...)
		device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = device, &stderr
		_ = cmd.Run()
		device.Close()
		if code := cmd.ProcessState.ExitCode(); code != 5 || !strings.Contains(stderr.String(), "FileError: cannot print") || !strings.Contains(stderr.String(), full) {
			t.Errorf("%v printed to a full disk: exit code %d\n%s", args, code, stderr.String())
		}
	}

	// With room again the same commands end well.
	if err := os.Remove(filepath.Join(d.folder, "ballast")); err != nil {
		t.Fatal(err)
	}
	h.settings = []string{"TRANSECT_STATE_DIR=disk/state"}
	if out := h.must("run", "--local", "--report", "disk/report.json", "--metrics", "disk/metrics.prom", "--log-file", "disk/log.txt", "bring.lua", "disk/report.csv"); out != "2 there\n" {
		t.Errorf("with room it brought %q", out)
	}
	if _, stderr, code := h.run("run", "--local", "upload.lua", "gone.bin"); code != 1 || !strings.Contains(stderr, "UploadError: datasets.upload_file: there is no file gone.bin") {
		t.Errorf("a file that is not there: exit code %d\n%s", code, stderr)
	}
}
