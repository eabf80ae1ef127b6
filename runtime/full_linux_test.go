package runtime

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"transect/client/fault"
)

// small mounts a file system of a megabyte over a folder of the yard.
func (y *yard) small(name string) (folder string) {
	y.Helper()
	folder = filepath.Join(y.dir, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		y.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder).CombinedOutput(); err != nil {
		y.Skipf("cannot mount a small file system here: %v %s", err, out)
	}
	y.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// fill leaves no room in a folder.
func (y *yard) fill(folder string) {
	y.Helper()
	file, err := os.Create(filepath.Join(folder, "ballast"))
	if err != nil {
		y.Fatal(err)
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		y.Fatal(err)
	}
}

// TestFullStateFolder: what cannot be stored is reported, and nothing else
// suffers.
func TestFullStateFolder(t *testing.T) {
	y := newYard(t)
	folder := y.small("state")
	content, id := y.file("mosaic.tif", 12<<20, 0), y.dataset()
	y.fill(folder)
	stderr, err := y.upload(id, "mosaic.tif")
	if err != nil || !strings.Contains(stderr, "going on without a journal") {
		t.Errorf("%v\n%s", err, stderr)
	}
	y.holds(id, content)
}

// TestNoRoom: downloads and reports that do not fit say so, and what was there
// under their name stays.
func TestNoRoom(t *testing.T) {
	y := newYard(t)
	folder := y.small("in")
	id, _ := y.stored(6 << 20)
	for _, name := range []string{"stored.tif", "report.csv"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(y.dir, "flight"), 0o700); err != nil {
		t.Fatal(err)
	}
	y.file("flight/log.txt", 100, 0)
	refused := func(what, code, cause string, exit int) {
		t.Helper()
		_, stderr, err := y.run(code)
		f, ok := fault.Find(err).(*fault.FileError)
		if !ok || ExitCode(err) != exit || !strings.Contains(f.Error(), cause) {
			t.Errorf("%s: exit code %d, %v\n%s", what, ExitCode(err), err, stderr)
		}
		if y.read("in/stored.tif") != "mine" || y.read("in/report.csv") != "mine" || strings.Contains(y.list("in"), ".transect") {
			t.Errorf("%s: what was there is not as it was; in the folder: %s", what, y.list("in"))
		}
	}
	ingest := fmt.Sprintf(`local sdk = require("sdk")
return require("ingest").run{ source = %q, project = sdk.projects.create("q", sdk.users.describe().company), report = %q }.uploaded`,
		filepath.Join(y.dir, "flight"), filepath.Join(folder, "report.csv"))
	refused("download to a full disk", y.download(id, "overwrite = true"), "no space left", ExitTemporary)
	y.fill(folder)
	refused("report on a full disk", ingest, "no space left", ExitTemporary)
	if err := syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("cannot make it read-only: %v", err)
	}
	refused("download to a read-only disk", y.download(id, "overwrite = true"), "read-only", ExitRaised)
	refused("report on a read-only disk", ingest, "read-only", ExitRaised)
}

// TestRemovedSource: a file that goes while it is sent is named.
func TestRemovedSource(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.file("mosaic.tif", 12<<20, 0)
	id := y.dataset()
	y.intercepts(func(http.ResponseWriter, *http.Request) bool {
		if y.puts.Load() == 1 {
			_ = os.Remove(filepath.Join(y.dir, "mosaic.tif"))
		}
		return false
	})
	_, err := y.upload(id, "mosaic.tif")
	f, ok := fault.Find(err).(*fault.UploadError)
	if !ok || ExitCode(err) != ExitRaised || !strings.Contains(f.Error(), "mosaic.tif") {
		t.Errorf("exit code %d, %v", ExitCode(err), err)
	}
}
