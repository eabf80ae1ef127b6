package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/regular"
	"transect/runtime/sandbox"
)

// Source defines what to pack. Paths are absolute.
type Source struct {
	Script   string
	Manifest string   // the file with its permissions, if any
	Path     []string // further folders for require, from --path
	Include  []string // further files and folders, below the script's folder
}

// required matches requires of modules by a literal name. A match in a comment only packs a file too many.
var required = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\brequire\s*[(,]?\s*(?:"([^"\\\n]+)"|'([^'\\\n]+)'|\[\[([^\]\n]+)\]\])`)
})

// computed matches requires of a computed name.
var computed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\brequire\s*[(,]\s*(?:[^\s"'\[]|(?:"[^"\\\n]*"|'[^'\\\n]*')\s*\.\.)`)
})

// submitted matches scripts in the same folder that a script submits by a literal name.
var submitted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bscript\s*=\s*(?:"([^"\\\n]+\.lua)"|'([^'\\\n]+\.lua)')`)
})

// Make packs a script with the modules it requires by name and the scripts that it submits as jobs,
// recursively. Modules that are not found are built in, or an error of the run.
func Make(source Source) (*Bundle, error) {
	m := &maker{source: source, files: map[string][]byte{}}
	main := path.Join(scriptDir, filepath.Base(source.Script))
	if err := m.module(main, source.Script); err != nil {
		return nil, err
	}
	m.files[mainFile] = []byte(main)
	if source.Manifest != "" {
		if err := m.add(path.Join(scriptDir, filepath.Base(source.Manifest)), source.Manifest); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, name := range source.Include {
		if err := m.include(name); err != nil {
			return nil, err
		}
	}
	b, err := pack(m.files)
	if err == nil {
		b.Computed = m.computed
	}
	return b, err
}

type maker struct {
	source   Source
	files    map[string][]byte
	size     int64
	computed []string
}

// add reads a file once, so that the scanned content is packed.
func (m *maker) add(name, file string) error {
	if m.files[name] != nil {
		return nil
	}
	f, err := regular.Open(file)
	if errors.Is(err, regular.ErrOther) {
		return fault.Of(&fault.UsageError{}, "%s is not a file: only files can travel with a job", file)
	} else if err != nil {
		return cannotRead(file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return cannotRead(file, err)
	}
	m.size += info.Size()
	if m.size > MaxSize || len(m.files) >= MaxFiles {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "the script has more than %d files or %s with what it requires",
			MaxFiles, human.Limit(MaxSize)),
			"put data where the worker can read it, and name its path as an argument")
	}
	text := make([]byte, info.Size())
	n, err := f.ReadAt(text, 0)
	if n < len(text) {
		return cannotRead(file, err)
	}
	m.files[name] = text
	return nil
}

func cannotRead(file string, err error) error {
	return fmt.Errorf("%w%.0w", fault.Of(&fault.UsageError{}, "cannot read %s: %v", file, fault.Reason(err)), err)
}

// module adds a Lua file and the modules it requires.
func (m *maker) module(name, file string) error {
	if m.files[name] != nil {
		return nil
	}
	if err := m.add(name, file); err != nil {
		return err
	}
	for _, match := range required().FindAllSubmatch(m.files[name], -1) {
		module := string(match[1]) + string(match[2]) + string(match[3])
		name, file := m.find(module)
		if file == "" {
			continue
		}
		if err := m.module(name, file); err != nil {
			return err
		}
	}
	for n, line := range strings.Split(string(m.files[name]), "\n") {
		code, _, _ := strings.Cut(line, "--")
		if computed().MatchString(code) {
			m.computed = append(m.computed, fmt.Sprintf("%s:%d", strings.TrimPrefix(name, scriptDir+"/"), n+1))
		}
	}
	for _, match := range submitted().FindAllSubmatch(m.files[name], -1) {
		if err := m.part(string(match[1]) + string(match[2])); err != nil {
			return err
		}
	}
	return nil
}

// part adds a script that is submitted by its path, with the manifest next to it, if any.
func (m *maker) part(rel string) error {
	rel = path.Clean(rel)
	file := filepath.Join(filepath.Dir(m.source.Script), filepath.FromSlash(rel))
	if info, err := os.Stat(file); !filepath.IsLocal(filepath.FromSlash(rel)) || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	name := path.Join(scriptDir, rel)
	if err := m.module(name, file); err != nil {
		return err
	}
	if err := m.add(sandbox.ManifestOf(name), sandbox.ManifestOf(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// find searches like require: in the other folders, then in the script's.
func (m *maker) find(module string) (name, file string) {
	below := strings.ReplaceAll(module, ".", "/")
	if !filepath.IsLocal(filepath.FromSlash(below)) {
		return "", ""
	}
	for n, dir := range append(slices.Clone(m.source.Path), filepath.Dir(m.source.Script)) {
		top := scriptDir
		if n < len(m.source.Path) {
			top = fmt.Sprintf("path%03d", n+1)
		}
		for _, rest := range []string{below + ".lua", below + "/init.lua"} {
			file := filepath.Join(dir, filepath.FromSlash(rest))
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				return path.Join(top, rest), file
			}
		}
	}
	return "", ""
}

// include adds a file, or the files of a folder except hidden ones.
func (m *maker) include(root string) error {
	home := filepath.Dir(m.source.Script)
	if below, err := filepath.Rel(home, root); err != nil || !filepath.IsLocal(below) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is not below the folder of the script", root),
			"files packed with a script keep their place relative to it")
	}
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return cannotRead(file, err)
		}
		if file != root && strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		below, err := filepath.Rel(home, file)
		if err != nil {
			return err
		}
		return m.add(path.Join(scriptDir, filepath.ToSlash(below)), file)
	})
}
