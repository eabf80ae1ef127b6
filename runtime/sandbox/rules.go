package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"transect/client/fault"
	"transect/client/suggest"
)

// Kinds are the kinds of things rules are about, in the order they are told.
var Kinds = []Access{Read, Write, Net, Env, Exec, Op}

// all stands for everything of a kind.
const all = "*"

// Rules say what a script may reach. A kind with a list in Allow is closed but
// for that list; Sandbox closes all kinds that way. Deny wins over Allow.
type Rules struct {
	Sandbox     bool
	Allow, Deny List
	Budget      Budget
}

// List holds patterns by kind. Those of files are absolute paths.
type List map[Access][]string

// Empty tells whether the rules say nothing.
func (r Rules) Empty() bool {
	return !r.Sandbox && len(r.Allow) == 0 && len(r.Deny) == 0 && r.Budget == Budget{}
}

// Over lays rules over others: lists are joined, of budgets the given ones win.
func (r Rules) Over(under Rules) Rules {
	return Rules{Sandbox: r.Sandbox || under.Sandbox, Allow: joined(r.Allow, under.Allow), Deny: joined(r.Deny, under.Deny),
		Budget: r.Budget.over(under.Budget)}
}

func joined(a, b List) List {
	out := List{}
	for _, kind := range Kinds {
		_, first := a[kind]
		_, second := b[kind]
		if first || second { // an empty list closes the kind
			out[kind] = slices.Concat(a[kind], b[kind])
		}
	}
	return out
}

// Parse adds rules as they are written on a command line: read=DIR,write=OUT,
// net=HOST. A part without = belongs to the kind before it; a kind alone is all
// of it. place makes paths absolute.
func (l List) Parse(text string, place func(path string) string) error {
	kind := Access("")
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		name, what, given := strings.Cut(part, "=")
		switch {
		case slices.Contains(Kinds, Access(name)):
			if kind = Access(name); !given {
				what = all
			}
		case kind == "":
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%q names no kind of permission", part),
				"%s", strings.TrimSpace(suggest.Hint(name, kindNames())+" write it like read=flight,write=out,net=example.com; the kinds are "+strings.Join(kindNames(), ", ")))
		default:
			what = part
		}
		if what == "" {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "nothing is named behind %s", part), "name something, or write %s alone for all of it", kind)
		}
		if err := l.Add(kind, what, place); err != nil {
			return err
		}
	}
	return nil
}

// Add adds one rule.
func (l List) Add(kind Access, what string, place func(path string) string) error {
	if what != all && (kind == Read || kind == Write) {
		what = place(what)
		if !doublestar.ValidatePathPattern(what) {
			return fault.Of(&fault.UsageError{}, "%s is no pattern of paths", what)
		}
	}
	l[kind] = append(l[kind], what)
	return nil
}

func kindNames() []string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = string(k)
	}
	return names
}

// compiled are the rules of one list, ready to be compared.
type compiled map[Access][]rule

// rule is one pattern, and the name it was given.
type rule struct {
	text  string
	match func(what string) bool
}

func compile(l List) compiled {
	c := compiled{}
	for kind, list := range l {
		for _, text := range list {
			c[kind] = append(c[kind], rule{text, matcher(kind, text)})
		}
	}
	return c
}

func (c compiled) find(kind Access, what string) (rule, bool) {
	for _, r := range c[kind] {
		if r.match(what) {
			return r, true
		}
	}
	return rule{}, false
}

func matcher(kind Access, text string) func(string) bool {
	switch {
	case text == all:
		return func(string) bool { return true }
	case kind == Read || kind == Write:
		return pathMatcher(text)
	case kind == Net:
		return hostMatcher(text)
	}
	return func(what string) bool { return wild(text, what) }
}

// pathMatcher takes a folder with all below it, or a pattern. Links in its
// fixed part are resolved, as they are in what is asked for.
func pathMatcher(text string) func(string) bool {
	special := "*?[{"
	if filepath.Separator == '/' {
		special += `\` // takes their meaning from those
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

// hostMatcher takes host or host:port; *.example.com is all hosts below one.
func hostMatcher(text string) func(string) bool {
	host, port := splitHost(strings.ToLower(text))
	return func(what string) bool {
		h, p := splitHost(strings.ToLower(what))
		return wild(host, strings.TrimSuffix(h, ".")) && (port == "" || port == p)
	}
}

func splitHost(text string) (host, port string) {
	if i := strings.LastIndexByte(text, ':'); i >= 0 && (strings.Count(text, ":") == 1 || strings.HasSuffix(text[:i], "]")) {
		text, port = text[:i], text[i+1:]
	}
	return strings.Trim(text, "[]"), port
}

// wild compares a text with a pattern in which * stands for any characters.
func wild(pattern, text string) bool {
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
