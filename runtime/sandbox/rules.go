package sandbox

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/suggest"
)

// Kinds lists the kinds of access in the order they are shown.
var Kinds = []Access{Read, Write, Net, Env, Exec, Op}

const anything = "*" // the pattern that matches everything of a kind

// Rules define the access of a script. A kind that has a list in Allow, even an empty one, is limited to that
// list; Sandbox limits all kinds. Deny takes precedence over Allow.
type Rules struct {
	Sandbox     bool
	Allow, Deny List
	Budget      Budget
	File        string // file with the policy of a worker, else ""
}

// List holds patterns by kind. Patterns of files are absolute paths.
type List map[Access][]string

// Empty reports whether the rules restrict nothing.
func (r Rules) Empty() bool {
	return !r.Sandbox && len(r.Allow) == 0 && len(r.Deny) == 0 && len(r.Budget) == 0
}

// Over joins two sets of rules; where both set a budget, r's counts.
func (r Rules) Over(under Rules) Rules {
	budget := Budget{}
	maps.Copy(budget, under.Budget)
	maps.Copy(budget, r.Budget)
	return Rules{Sandbox: r.Sandbox || under.Sandbox, Allow: joined(r.Allow, under.Allow),
		Deny: joined(r.Deny, under.Deny), Budget: budget}
}

func joined(a, b List) List {
	out := List{}
	for _, l := range []List{a, b} {
		for kind, list := range l {
			out[kind] = append(slices.Clip(out[kind]), list...)
		}
	}
	return out
}

// Parse adds rules in command line form: read=DIR,write=OUT,net=HOST. A part without = belongs to the kind
// before it; a kind alone means all of it. abs makes paths absolute.
func (l List) Parse(text string, abs func(path string) string) error {
	kind := Access("")
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		name, what, given := strings.Cut(part, "=")
		switch {
		case slices.Contains(Kinds, Access(name)):
			if kind = Access(name); !given {
				what = anything
			}
		case kind == "":
			return noKind(name, Kinds)
		default:
			what = part
		}
		if what == "" {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "a rule of %s in %q is empty", kind, text),
				"write %s=WHAT, or %s alone for all of it; no comma belongs at the end", kind, kind)
		}
		if err := l.Add(kind, what, abs); err != nil {
			return err
		}
	}
	return nil
}

// Add adds one rule.
func (l List) Add(kind Access, what string, abs func(path string) string) error {
	if what != anything && kind.file() {
		what = abs(what)
		if !doublestar.ValidatePathPattern(what) {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is not a valid path pattern", what),
				"close each [ and {; * ** ? [ ] { } are the special characters")
		}
	}
	if u, err := url.Parse(what); kind == Notify && (err != nil || strings.Trim(u.Path, "/") != "") && isURL(what) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s names more than a server", what),
			"end it after the host or its port, as in https://hooks.example.com: a rule of notify permits a whole server")
	}
	l[kind] = append(l[kind], what)
	return nil
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

func (a Access) file() bool { return a == Read || a == Write }

// noKind returns the error for a kind that does not exist.
func noKind(name string, kinds []Access) error {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	hint := "the kinds are " + strings.Join(names, ", ")
	if nearest := suggest.Hint(name, names); nearest != "" {
		hint = nearest + " " + hint
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "%q is not a kind of permission", name), "%s", hint)
}

// rule is one pattern as written, and its matcher.
type rule struct {
	text  string
	match func(what string) bool
}

func compile(l List) map[Access][]rule {
	rules := map[Access][]rule{}
	for kind, list := range l {
		for _, text := range list {
			rules[kind] = append(rules[kind], rule{text, matcher(kind, text)})
		}
	}
	return rules
}

// Known refuses a rule on operations that matches no operation: its author would believe it to be in effect.
func (r Rules) Known(names func() []string) error {
	var all []string
	for _, list := range []List{r.Deny, r.Allow} {
		for _, text := range list[Op] {
			if all == nil {
				all = names()
			}
			if !slices.ContainsFunc(all, matcher(Op, text)) {
				hint := "transect doc permissions lists what rules can name"
				if nearest := suggest.Hint(text, all); nearest != "" {
					hint = nearest + " " + hint
				}
				return fault.Hinted(fault.Of(&fault.UsageError{}, "a rule names the operation %s, which does not exist",
					text), "%s", hint)
			}
		}
	}
	return nil
}

// find returns the first rule that matches the target, or nil. Rules match an operation
// by several names.
func (t target) find(rules []rule, names func(*declare.Spec) []string) *rule {
	if len(rules) == 0 {
		return nil
	}
	called := []string{t.what}
	if t.op != nil {
		called = names(t.op)
	}
	for i := range rules {
		if slices.ContainsFunc(called, rules[i].match) {
			return &rules[i]
		}
	}
	return nil
}

func matcher(kind Access, text string) func(string) bool {
	switch {
	case text == anything:
		return func(string) bool { return true }
	case kind.file():
		return pathMatcher(text)
	case kind == Net:
		return hostMatcher(text)
	case kind == Notify && isURL(text):
		scheme, host, _ := strings.Cut(strings.TrimRight(text, "/"), "://")
		if _, port := splitHost(host); port == "" {
			host += map[string]string{"https": ":443", "http": ":80"}[scheme]
		}
		match := hostMatcher(host)
		return func(what string) bool {
			server, ok := strings.CutPrefix(what, "//")
			return ok && match(server)
		}
	case kind == Notify && !strings.HasPrefix(text, "mailto:"):
		return func(what string) bool { return what == text } // a * in a command would match any command
	case kind == Notify:
		return func(what string) bool { return wildcard(strings.ToLower(text), strings.ToLower(what)) }
	}
	return func(what string) bool { return wildcard(text, what) }
}

// pathMatcher matches a folder with everything below it, or a glob pattern. Links in its fixed part are
// resolved, as in the paths to match.
func pathMatcher(text string) func(string) bool {
	special := "*?[{"
	if filepath.Separator == '/' {
		special += `\` // the escape character
	}
	if _, err := os.Lstat(text); err == nil || !strings.ContainsAny(text, special) {
		real := Canonical(text)
		return func(what string) bool { return Below(what, real) }
	}
	base, rest := doublestar.SplitPattern(filepath.ToSlash(text))
	pattern := filepath.Join(Canonical(filepath.FromSlash(base)), filepath.FromSlash(rest))
	return func(what string) bool {
		for ; ; what = filepath.Dir(what) {
			if doublestar.PathMatchUnvalidated(pattern, what) {
				return true
			}
			if filepath.Dir(what) == what {
				return false
			}
		}
	}
}

// hostMatcher matches host or host:port; *.example.com matches all subdomains.
func hostMatcher(text string) func(string) bool {
	host, port := splitHost(strings.ToLower(text))
	return func(what string) bool {
		h, p := splitHost(strings.ToLower(what))
		return wildcard(host, strings.TrimSuffix(h, ".")) && (port == "" || port == p)
	}
}

func splitHost(text string) (host, port string) {
	if i := strings.LastIndexByte(text, ':'); i >= 0 &&
		(strings.Count(text, ":") == 1 || strings.HasSuffix(text[:i], "]")) {
		text, port = text[:i], text[i+1:]
	}
	return strings.Trim(text, "[]"), port
}

// wildcard matches a pattern in which * matches any characters.
func wildcard(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
