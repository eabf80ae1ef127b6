// Package bundle packs a script with the modules it requires and its manifest, so that exactly what was
// submitted runs, on any machine.
//
// A bundle is a zip file named by a hash of its content. The folder "script" holds files from the script's
// folder, "path001", "path002" … files from the folders of --path; only files that the script needs are
// included. Make packs, Unpack unpacks.
package bundle

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/atomicfile"
	"transect/client/fault"
)

// Limits of a bundle.
const (
	MaxFiles = 1000
	MaxSize  = 16 << 20 // total bytes of its files
)

const (
	scriptDir = "script"
	mainFile  = "main" // path of the script in the bundle
)

// Bundle is a packed script.
type Bundle struct {
	Hash    string
	Content []byte
	Files   []string // their paths in the bundle, sorted

	Computed []string `json:"-"` // FILE:LINE of each require of a computed name, whose module is not included
}

// Script is an unpacked script.
type Script struct {
	Main string   // the file to run
	Path []string // folders for --path
}

// pack packs and hashes files, named by their paths in the bundle.
func pack(files map[string][]byte) (*Bundle, error) {
	names := slices.Sorted(maps.Keys(files))
	b := &Bundle{}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(files[name]); err != nil {
			return nil, err
		}
		if name != mainFile {
			b.Files = append(b.Files, name)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	b.Content = out.Bytes()
	b.Hash = Hash(b.Content)
	return b, nil
}

// Hash returns the name of a bundle.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Unpack writes a bundle to a folder, which must not exist yet. It fails when the content does not match the
// hash.
func Unpack(content []byte, want, dir string) (Script, error) {
	files, err := read(content)
	if err != nil || Hash(content) != want {
		return Script{}, fault.Hinted(fault.Of(&fault.FileError{},
			"the script of the job is damaged: its content does not match %.12s", want), "submit it again")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return Script{}, fault.Of(&fault.FileError{}, "cannot unpack the script: %w", err)
	}
	s := Script{Main: filepath.Join(dir, filepath.FromSlash(string(files[mainFile])))}
	folders := map[string]bool{}
	for name, text := range files {
		if name == mainFile {
			continue
		}
		if top, _, _ := strings.Cut(name, "/"); top != scriptDir {
			folders[top] = true
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			return Script{}, fault.Of(&fault.FileError{}, "cannot unpack the script: %w", err)
		}
	}
	for _, top := range slices.Sorted(maps.Keys(folders)) {
		s.Path = append(s.Path, filepath.Join(dir, top))
	}
	return s, nil
}

// Place copies the files next to the script into a folder, each unless something of its name is there: what a job has
// changed stays.
func (s Script) Place(folder string) error {
	home := filepath.Dir(s.Main)
	return filepath.WalkDir(home, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || file == s.Main {
			return err
		}
		to := filepath.Join(folder, strings.TrimPrefix(file, home))
		if _, err := os.Lstat(to); err == nil {
			return nil
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = atomicfile.Write(to, text, 0o600)
		}
		return err
	})
}

// read reads a bundle from a database, within the limits.
func read(content []byte) (map[string][]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	bad := fault.Of(&fault.FileError{}, "not a bundle")
	if len(r.File) > MaxFiles+1 {
		return nil, bad
	}
	files, left := map[string][]byte{}, int64(MaxSize)+1<<16
	for _, entry := range r.File {
		if !filepath.IsLocal(filepath.FromSlash(entry.Name)) || path.Clean(entry.Name) != entry.Name ||
			strings.Contains(entry.Name, `\`) || files[entry.Name] != nil {
			return nil, bad
		}
		f, err := entry.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(f, left+1))
		_ = f.Close()
		if left -= int64(len(text)); err != nil || left < 0 {
			return nil, bad
		}
		files[entry.Name] = append([]byte{}, text...)
	}
	if _, found := files[string(files[mainFile])]; !found {
		return nil, bad
	}
	return files, nil
}
