package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/suggest"
)

// ManifestSuffix replaces .lua in the name of a script's manifest.
const ManifestSuffix = ".allow.json"

// Manifest is the file next to a script that defines its access. Its paths are relative to its folder.
type Manifest struct {
	Sandbox bool   `json:"sandbox"`
	Allow   List   `json:"allow,omitempty"`
	Deny    List   `json:"deny,omitempty"`
	Budget  Budget `json:"budget,omitempty"`
}

// ManifestOf returns the path of a script's manifest.
func ManifestOf(script string) string { return strings.TrimSuffix(script, ".lua") + ManifestSuffix }

// ReadManifest reads the manifest at an absolute path; found is false when there is none. Its paths are relative to
// its folder, and to others treated like it.
func ReadManifest(path string, others ...string) (rules Rules, found bool, err error) {
	rules, err = readRules(path, append(others, filepath.Dir(path)), Kinds, "run with --no-manifest to ignore it",
		`{"sandbox": true, "allow": {"read": ["flight"], "ops": ["datasets.*"]}, "budget": {"deletes": 0}}`)
	if errors.Is(err, fs.ErrNotExist) {
		return Rules{}, false, nil
	}
	return rules, true, err
}

// ReadPolicy reads the policy of a worker at an absolute path: a manifest that also defines who may be
// notified.
func ReadPolicy(path string) (Rules, error) {
	rules, err := readRules(path, []string{filepath.Dir(path)}, append(slices.Clip(Kinds), Notify),
		"name another file with --policy", `{"sandbox": true, "allow": {"read": ["/data"], "ops": ["datasets.*"], `+
			`"notify": ["https://hooks.example.com"]}, "budget": {"deletes": 0}}`)
	rules.File = path
	return rules, err
}

// readRules reads a file of rules of the given kinds. Paths are relative to each of the folders. The hint of
// an error contains an example, or the way to run without the file.
func readRules(path string, folders []string, kinds []Access, without, example string) (rules Rules, err error) {
	wrong := func(cause error, hint string) (Rules, error) {
		if f := fault.Find(cause); f != nil && f.Facts().Hint != "" {
			hint = f.Facts().Hint + "; " + hint
		}
		return Rules{}, fault.Hinted(fault.Of(&fault.ConfigError{}, "the permissions in %s: %w", path, cause), "%s", hint)
	}
	example = "write the file like " + example + ", or " + without
	text, err := os.ReadFile(path)
	if err != nil {
		return wrong(err, "make the file readable, or "+without)
	}
	m, err := decode(text)
	if err != nil {
		return wrong(err, example)
	}
	rules = Rules{Sandbox: m.Sandbox, Allow: List{}, Deny: List{}, Budget: m.Budget}
	for _, list := range []struct{ from, to List }{{m.Allow, rules.Allow}, {m.Deny, rules.Deny}} {
		for kind, whats := range list.from {
			if !slices.Contains(kinds, kind) {
				return wrong(noKind(string(kind), kinds), example)
			}
			list.to[kind] = []string{} // an empty list limits the kind too
			for _, folder := range folders {
				abs := func(what string) string {
					if filepath.IsAbs(what) {
						return filepath.Clean(what)
					}
					return filepath.Join(folder, what)
				}
				for _, what := range whats {
					if err := list.to.Add(kind, what, abs); err != nil {
						return wrong(err, without)
					}
				}
			}
		}
	}
	for name, n := range m.Budget {
		switch {
		case budgets[name] == "":
			return wrong(fmt.Errorf("%q is not a budget", name), "the budgets are creates, deletes, bytes and jobs; or "+without)
		case n < 0:
			return wrong(fmt.Errorf("the budget of %s is negative", name), "write 0 or more, or leave it out for no limit")
		}
	}
	return rules, nil
}

// decode decodes a file of permissions. Its errors contain the key or the line.
func decode(text []byte) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&m)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("something follows the closing brace")
		}
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return m, fmt.Errorf("line %d: %w", 1+bytes.Count(text[:syntax.Offset], []byte("\n")), err)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return m, fmt.Errorf("%s: a JSON %s cannot be here", cmp.Or(wrong.Field, "the file"), wrong.Value)
	}
	switch err {
	case io.EOF:
		return m, errors.New("the file is empty")
	case io.ErrUnexpectedEOF:
		return m, errors.New("the file ends before the closing brace")
	case nil:
		return m, nil
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	if key, ok := strings.CutPrefix(message, "unknown field "); ok {
		message += suggest.Suffix(strings.Trim(key, `"`), []string{"sandbox", "allow", "deny", "budget"})
	}
	return m, errors.New(message)
}

// record records an access of the script.
func (p *Policy) record(kind Access, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reached[kind] == nil {
		p.reached[kind] = map[string]bool{}
	}
	p.reached[kind][what] = true
}

// minBytes is the minimum of bytes in a learned manifest, requests included.
const minBytes = 512 << 10

// Learned returns the manifest of what the run accessed, in addition to what the rules allowed already. Many
// files of one folder become the folder. Budgets leave room for twice as much, but not for more deletions.
func (p *Policy) Learned() Manifest {
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := filepath.Dir(Canonical(p.manifest))
	m := Manifest{Sandbox: true, Allow: List{}, Deny: List{}}
	for _, kind := range Kinds {
		list := slices.Collect(maps.Keys(p.reached[kind]))
		if kind.file() {
			list = folders(list, dir)
		}
		list = append(list, relative(kind, p.rules.Allow[kind], dir)...)
		slices.Sort(list)
		if list = slices.Compact(list); len(list) > 0 {
			m.Allow[kind] = list
		}
		if denied, ok := p.rules.Deny[kind]; ok {
			m.Deny[kind] = relative(kind, denied, dir)
		}
	}
	old := p.rules.Budget
	m.Budget = Budget{"creates": max(old["creates"], 2*p.used["creates"]),
		"deletes": max(old["deletes"], p.used["deletes"]),
		"bytes":   max(old["bytes"], 2*max(p.used["bytes"], minBytes))}
	return m
}

// manyFiles is the number of files in a folder from which a rule covers the folder.
const manyFiles = 4

// folders converts paths to rules: folders in place of many files, and no rule covered by another.
func folders(list []string, dir string) (rules []string) {
	count := map[string]int{}
	for _, path := range list {
		count[filepath.Dir(path)]++
	}
	for folder, n := range count {
		if n >= manyFiles && folder != filepath.Dir(folder) && !slices.Contains(list, folder) {
			list = append(list, folder)
		}
	}
	for _, path := range list {
		if !slices.ContainsFunc(list, func(other string) bool { return other != path && Below(path, other) }) {
			rules = append(rules, literal(shortened(path, dir)))
		}
	}
	return rules
}

// relative converts paths in a list to the form used by a manifest in dir.
func relative(kind Access, list []string, dir string) []string {
	list = slices.Clone(list)
	for i, path := range list {
		if kind.file() && path != anything {
			list[i] = shortened(path, dir)
		}
	}
	return list
}

func shortened(path, dir string) string {
	if Below(path, dir) {
		if rel, err := filepath.Rel(dir, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// literal escapes a path that looks like a pattern.
func literal(path string) string {
	if filepath.Separator != '/' {
		return path // there is no escape character
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(path)
}

// Write replaces the manifest.
func (m Manifest) Write(path string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = atomicfile.Write(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fault.Hinted(fault.Of(&fault.FileError{}, "cannot write the permissions %s: %w", path, err),
			"make its folder writable, then run with --learn again")
	}
	return nil
}
