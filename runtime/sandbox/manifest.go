package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/suggest"
)

// Manifest is the file beside a script that says what it may reach. Paths in it
// start at its folder.
type Manifest struct {
	Sandbox bool            `json:"sandbox"`
	Allow   List            `json:"allow,omitempty"`
	Deny    List            `json:"deny,omitempty"`
	Budget  *ManifestBudget `json:"budget,omitempty"`
}

// ManifestBudget is the budget as it is written in the file.
type ManifestBudget struct {
	Creates *int64 `json:"creates,omitempty"`
	Deletes *int64 `json:"deletes,omitempty"`
	Bytes   *int64 `json:"bytes,omitempty"`
}

// ManifestOf is where the manifest of a script is.
func ManifestOf(script string) string { return strings.TrimSuffix(script, ".lua") + ManifestEnding }

// ReadManifest reads a manifest; found is false when there is none.
func ReadManifest(path string) (rules Rules, found bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Rules{}, false, nil
	}
	wrong := func(format string, args ...any) error {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the permissions in "+path+": "+format, args...),
			`write it like {"sandbox": true, "allow": {"read": ["flight"], "ops": ["datasets.*"]}, "budget": {"deletes": 0}}; --no-manifest leaves it aside`)
	}
	if err != nil {
		return Rules{}, true, wrong("%w", err)
	}
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Rules{}, true, wrong("%w", err)
	}
	place := func(rel string) string { return within(filepath.Dir(path), rel) }
	rules = Rules{Sandbox: m.Sandbox, Allow: List{}, Deny: List{}}
	for _, list := range []struct{ from, to List }{{m.Allow, rules.Allow}, {m.Deny, rules.Deny}} {
		for kind, whats := range list.from {
			if !slices.Contains(Kinds, kind) {
				return Rules{}, true, wrong("there is no kind %s %s", kind, suggest.Hint(string(kind), kindNames()))
			}
			list.to[kind] = []string{} // named, so closed
			for _, what := range whats {
				if err := list.to.Add(kind, what, place); err != nil {
					return Rules{}, true, wrong("%w", err)
				}
			}
		}
	}
	if b := m.Budget; b != nil {
		for name, n := range map[string]*int64{"creates": b.Creates, "deletes": b.Deletes, "bytes": b.Bytes} {
			if n != nil && *n < 0 {
				return Rules{}, true, wrong("the budget of %s is negative", name)
			}
		}
		rules.Budget = Budget{b.Creates, b.Deletes, b.Bytes}
	}
	return rules, true, nil
}

// within makes a path absolute that starts at dir.
func within(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func (p *Policy) note(kind Access, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reached[kind] == nil {
		p.reached[kind] = map[string]bool{}
	}
	p.reached[kind][what] = true
}

// Learned is the manifest of what the run reached, added to what the rules
// allowed already. Many files of a folder become the folder; budgets leave room
// for twice as much, but for deletions only for as many.
func (p *Policy) Learned() Manifest {
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := filepath.Dir(p.protected)
	m := Manifest{Sandbox: true, Allow: List{}, Deny: p.rules.Deny, Budget: &ManifestBudget{}}
	for _, kind := range Kinds {
		list := []string{}
		for what := range p.reached[kind] {
			list = append(list, what)
		}
		if kind == Read || kind == Write {
			list = folders(list, dir)
		}
		for _, old := range p.rules.Allow[kind] {
			if old != all && (kind == Read || kind == Write) {
				old = shortened(old, dir)
			}
			list = append(list, old)
		}
		slices.Sort(list)
		if list = slices.Compact(list); len(list) > 0 {
			m.Allow[kind] = list
		}
	}
	for kind, list := range m.Deny {
		if kind == Read || kind == Write {
			m.Deny[kind] = slices.Clone(list)
			for i := range list {
				m.Deny[kind][i] = shortened(list[i], dir)
			}
		}
	}
	room := func(old *int64, used, times int64) *int64 {
		n := used * times
		if old != nil {
			n = max(n, *old)
		}
		return &n
	}
	m.Budget.Creates = room(p.rules.Budget.Creates, p.used.creates, 2)
	m.Budget.Deletes = room(p.rules.Budget.Deletes, p.used.deletes, 1)
	m.Budget.Bytes = room(p.rules.Budget.Bytes, max(p.used.bytes, leastBytes), 2)
	return m
}

// leastBytes is what a run is taken to send at least, questions included.
const leastBytes = 512 << 10

// manyFiles is how many files of one folder stand for the folder.
const manyFiles = 4

func folders(list []string, dir string) []string {
	count := map[string]int{}
	for _, path := range list {
		count[filepath.Dir(path)]++
	}
	var whole, out []string
	for folder, n := range count {
		if n >= manyFiles && folder != filepath.Dir(folder) {
			whole = append(whole, folder)
		}
	}
	for _, path := range append(list, whole...) {
		covered := slices.ContainsFunc(whole, func(folder string) bool { return folder != path && Below(path, folder) }) ||
			slices.ContainsFunc(list, func(folder string) bool { return folder != path && Below(path, folder) })
		if !covered {
			out = append(out, literal(shortened(path, dir)))
		}
	}
	return out
}

// shortened names a path as the manifest in dir does.
func shortened(path, dir string) string {
	if Below(path, dir) {
		if rel, err := filepath.Rel(dir, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// literal is a rule for a path as it is, also where it looks like a pattern.
func literal(path string) string {
	if filepath.Separator != '/' {
		return path // there is no way to say so here
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(path)
}

// Write writes the manifest in one step.
func (m Manifest) Write(path string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, append(text, '\n'), 0o644); err != nil {
		return fault.Of(&fault.FileError{}, "cannot write the permissions %s: %w", path, fault.Reason(err))
	}
	return nil
}
