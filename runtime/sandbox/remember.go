package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"transect/client/atomicfile"
	"transect/client/fault"
)

// isManifest reports whether a path is a manifest's, or in a folder with such a name.
func isManifest(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if strings.HasSuffix(strings.ToLower(part), ManifestSuffix) {
			return true
		}
	}
	return false
}

// trail lists the names that a path is resolved through, including links and their targets: /link/a with link
// to /real returns /link, /real and /real/a.
func trail(path string) (names []string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := root, strings.TrimPrefix(path, root)
	for links := 0; rest != ""; {
		part, more, _ := strings.Cut(rest, string(filepath.Separator))
		name := filepath.Join(at, part) // .. goes up
		rest, at = more, name
		if part == "" || part == "." || part == ".." {
			continue
		}
		names = append(names, name)
		target, err := os.Readlink(name)
		if links++; err != nil || links > 255 {
			continue
		}
		at, rest = filepath.Dir(name), filepath.Join(target, rest)
		if filepath.IsAbs(target) {
			at, rest = root, strings.TrimPrefix(rest, root)
		}
	}
	return names
}

// folded returns a path for comparison: two systems ignore the case of names.
func folded(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// Records stores, in a folder, which manifests scripts ran under: deleting one must not lift the
// restrictions.
type Records string

func (r Records) path(manifest string) string {
	sum := sha256.Sum256([]byte(filepath.Join(Canonical(filepath.Dir(manifest)), filepath.Base(manifest))))
	return filepath.Join(string(r), hex.EncodeToString(sum[:]))
}

// Keep records a manifest. If the folder cannot be written, runs continue.
func (r Records) Keep(manifest string) {
	if _, err := os.Stat(r.path(manifest)); err == nil {
		return
	}
	if os.MkdirAll(string(r), 0o700) == nil {
		_ = atomicfile.Write(r.path(manifest), []byte(manifest+"\n"), 0o600)
	}
}

// Forget removes the record of a manifest.
func (r Records) Forget(manifest string) { _ = os.Remove(r.path(manifest)) }

// Check fails when a script ran under a manifest that is no longer there.
func (r Records) Check(manifest string) error {
	_, err := os.Stat(r.path(manifest))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		return fault.Hinted(fault.Of(&fault.ConfigError{},
			"cannot read the state folder, which records the scripts that have a file of permissions: %w", err),
			"make the folder readable, or name another one in TRANSECT_STATE_DIR")
	}
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s is missing; earlier runs of this script used it", manifest),
		"restore the file; or run once with --no-manifest to go without permissions, or with --learn to write new ones")
}
