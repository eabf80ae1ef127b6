package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client/fault"
	"transect/runtime/luastd"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

func rules(t testing.TB, allow, deny string, place func(string) string) sandbox.Rules {
	t.Helper()
	r := sandbox.Rules{Allow: sandbox.List{}, Deny: sandbox.List{}}
	for text, list := range map[string]sandbox.List{"a" + allow: r.Allow, "d" + deny: r.Deny} {
		if text[1:] == "" {
			continue
		}
		if err := list.Parse(text[1:], place); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return r
}

func as(path string) string { return path }

// below makes places below a folder, as the command line does from its own.
func below(dir string) func(string) string {
	return func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
}

func permits(g *sandbox.Policy, kind sandbox.Access, what string) bool {
	return g.Permit(kind, what) == nil
}

// A rule of a folder reaches what is in it, and nothing beside it: also not a
// name that only begins alike.
func TestRulesOfFolders(t *testing.T) {
	segment := rapid.SampledFrom([]string{"a", "b", "ab", "A", "a b", "ä", "a.b", "-"})
	path := rapid.Map(rapid.SliceOfN(segment, 1, 5), func(s []string) string { return "/nowhere/" + strings.Join(s, "/") })
	rapid.Check(t, func(t *rapid.T) {
		folder, asked := path.Draw(t, "folder"), path.Draw(t, "asked")
		inside := asked == folder || strings.HasPrefix(asked, folder+"/")
		kind := rapid.SampledFrom([]sandbox.Access{sandbox.Read, sandbox.Write}).Draw(t, "kind")
		list := sandbox.List{kind: {folder}}
		if got := permits(sandbox.NewPolicy(sandbox.Rules{Allow: list}, "", false), kind, asked); got != inside {
			t.Fatalf("allowed %s: %s is permitted: %t", folder, asked, got)
		}
		if got := permits(sandbox.NewPolicy(sandbox.Rules{Deny: list}, "", false), kind, asked); got == inside {
			t.Fatalf("denied %s: %s is permitted: %t", folder, asked, got)
		}
		// What is denied stays so, whatever is allowed besides, and in a sandbox.
		wide := sandbox.Rules{Sandbox: rapid.Bool().Draw(t, "sandbox"), Deny: list, Allow: sandbox.List{kind: {"*", asked, "/"}}}
		if permits(sandbox.NewPolicy(wide, "", false), kind, asked) == inside {
			t.Fatalf("allowed *, denied %s: %s", folder, asked)
		}
		// Rules of one kind say nothing about another.
		other := map[sandbox.Access]sandbox.Access{sandbox.Read: sandbox.Write, sandbox.Write: sandbox.Read}[kind]
		if !permits(sandbox.NewPolicy(sandbox.Rules{Allow: list}, "", false), other, asked) ||
			permits(sandbox.NewPolicy(sandbox.Rules{Sandbox: true, Allow: list}, "", false), other, asked) {
			t.Fatalf("a rule of %s decides about %s", kind, other)
		}
	})
}

func TestPatternsOfPaths(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"/w/*.jpg", "/w/a.jpg", true},
		{"/w/*.jpg", "/w/a.png", false},
		{"/w/*.jpg", "/w/b/a.jpg", false},
		{"/w/**/*.jpg", "/w/b/c/a.jpg", true},
		{"/w/**/*.jpg", "/w/a.jpg", true},
		{"/w/flight?", "/w/flight1/a.jpg", true}, // a folder that fits, with all below it
		{"/w/flight?", "/w/flight12/a.jpg", false},
		{"/w/{a,b}/x", "/w/b/x", true},
		{"/w/{a,b}/x", "/w/c/x", false},
		{"/w/[0-9]*", "/w/1/x", true},
		{"/w/[0-9]*", "/w/x/1", false},
		{"/w/../v", "/v/x", true},
		{"/w/../v", "/w/x", false},
		{"/w/", "/w/x", true},
		{"/", "/anything", true},
	} {
		list := sandbox.List{}
		if err := list.Add(sandbox.Read, c.rule, filepath.Clean); err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if got := permits(sandbox.NewPolicy(sandbox.Rules{Allow: list}, "", false), sandbox.Read, c.path); got != c.want {
			t.Errorf("allow %s, read %s: %t", c.rule, c.path, got)
		}
	}
	if err := (sandbox.List{}).Add(sandbox.Read, "/w/[x", as); err == nil {
		t.Error("a pattern that is none was taken")
	}
}

// Links lead to what they point at, in rules and in what is asked for; a way
// up leads where it leads.
func TestLinksAndWaysUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege here")
	}
	dir := sandbox.Canonical(t.TempDir())
	for _, folder := range []string{"in/deep", "out/deep"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in/away": "../out", "in/secret": "../out/deep/file", "in/loop": "loop",
		"alias": "in", "out/back": "../in", "in/chain": "away/back", "in/absolute": filepath.Join(dir, "out")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, rule := range []string{"in", "alias", "in/../alias", "in/chain"} {
		g := sandbox.NewPolicy(rules(t, "read="+rule+",write="+rule, "", below(dir)), "", false)
		in := luastd.New(t.Context(), vm.Options{Dir: dir, Permit: g.Permit})
		for path, want := range map[string]bool{
			"in": true, "in/new": true, "in/deep/../new": true, "alias/new": true, "in/deep/new/new": true, "out/back/new": true,
			"in/chain/new": true, "in/chain/deep": true,
			"out/new": false, "in/../out/new": false, "in/away": false, "in/away/new": false, "in/away/deep/file": false,
			"in/secret": false, "in/absolute/new": false, "alias/away/new": false, "in/away/back/away/x": false, ".": false, "..": false,
			"in/away/back/new": true,
		} {
			for _, kind := range []sandbox.Access{sandbox.Read, sandbox.Write} {
				if got := in.Permit(kind, in.Path(path)) == nil; got != want {
					t.Errorf("allow %s: %s %s is permitted: %t", rule, kind, path, got)
				}
			}
		}
		in.Close()
	}
}

// The path that is asked about has no links in it, however it was written.
func TestTruePaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege here")
	}
	root := sandbox.Canonical(t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "check") // links of an earlier check may lead out of its folder
		if err != nil {
			t.Fatal(err)
		}
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		for range rapid.IntRange(1, 6).Draw(t, "entries") {
			at := filepath.Join(dir, filepath.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "at")...))
			_ = os.MkdirAll(filepath.Dir(at), 0o700) // a link may be in the way
			if rapid.Bool().Draw(t, "link") {
				_ = os.Symlink(filepath.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ".."}), 1, 3).Draw(t, "to")...), at)
			} else {
				_ = os.Mkdir(at, 0o700)
			}
		}
		path := filepath.Join(dir, filepath.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "path")...))
		got := sandbox.Canonical(path)
		if real, err := filepath.EvalSymlinks(path); err == nil && got != real {
			t.Fatalf("%s is %s, not %s", path, real, got)
		}
		// What is not there yet is below the true path of its folder.
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if _, there := os.Lstat(path); there != nil && err == nil && got != filepath.Join(folder, filepath.Base(path)) {
			t.Fatalf("%s is in %s, not %s", path, folder, got)
		}
	})
}

func TestRulesOfHosts(t *testing.T) {
	for _, c := range []struct {
		rule, host string
		want       bool
	}{
		{"example.com", "example.com:443", true},
		{"example.com", "example.com:80", true},
		{"example.com:443", "example.com:443", true},
		{"example.com:443", "example.com:80", false},
		{"example.com:44", "example.com:443", false},
		{"Example.COM", "eXample.com:443", true},
		{"example.com", "example.com.:443", true}, // the same host
		{"example.com", "sub.example.com:443", false},
		{"example.com", "notexample.com:443", false},
		{"example.com", "example.com.evil.net:443", false},
		{"*.example.com", "sub.example.com:443", true},
		{"*.example.com", "a.b.example.com:443", true},
		{"*.example.com", "example.com:443", false},
		{"*.example.com", "evilexample.com:443", false},
		{"*.example.com:443", "sub.example.com:8443", false},
		{"127.0.0.1", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", "127.0.0.1:80801", false},
		{"[::1]", "[::1]:443", true},
		{"::1", "[::1]:443", true},
		{"[::1]:443", "[::1]:443", true},
		{"[::1]:443", "[::1]:80", false},
		{"*", "anything:1", true},
	} {
		g := sandbox.NewPolicy(rules(t, "net="+c.rule, "", as), "", false)
		if got := permits(g, sandbox.Net, c.host); got != c.want {
			t.Errorf("allow %s, connect to %s: %t", c.rule, c.host, got)
		}
	}
}

func TestRulesOfNames(t *testing.T) {
	for _, c := range []struct {
		allow, deny string
		kind        sandbox.Access
		what        string
		want        bool
	}{
		{"env=HOME", "", sandbox.Env, "HOME", true},
		{"env=HOME", "", sandbox.Env, "HOMER", false},
		{"env=HOME", "", sandbox.Env, "home", false},
		{"env=AWS_*", "", sandbox.Env, "AWS_SECRET", true},
		{"env=AWS_*", "env=*SECRET*", sandbox.Env, "AWS_SECRET_KEY", false},
		{"ops=datasets.*", "", sandbox.Op, "datasets.search", true},
		{"ops=datasets.*", "", sandbox.Op, "datasetsx.search", false},
		{"ops=*.search", "", sandbox.Op, "datasets.search", true},
		{"ops=*.submit", "", sandbox.Op, "jobs.submit", true},
		{"ops", "ops=*.submit", sandbox.Op, "jobs.submit", false},
		{"ops", "ops=*.submit", sandbox.Op, "jobs.submitted", true},
		{"ops=projects.create,missions.create", "", sandbox.Op, "missions.create", true}, // the kind before it
		{"run=sh", "", sandbox.Exec, "sh", true},
		{"run=git", "", sandbox.Exec, "sh", false},
		{"read", "", sandbox.Read, "/anything", true}, // a kind alone is all of it
		{"", "run", sandbox.Exec, "sh", false},
		{"", "", sandbox.Exec, "sh", true}, // open unless closed
		{"", "write=/w/x.allow.json", sandbox.Write, "/w/y", true},
		{"write", "", sandbox.Write, "/w/x.allow.json", false}, // never a manifest
	} {
		g := sandbox.NewPolicy(rules(t, c.allow, c.deny, as), "", false)
		err := g.Permit(c.kind, c.what)
		if (err == nil) != c.want {
			t.Errorf("allow %q, deny %q: %s %s: %v", c.allow, c.deny, c.kind, c.what, err)
		}
		if f := fault.Find(err); err != nil && (f == nil || f.Name() != "PermissionError" || f.Facts().Hint == "") {
			t.Errorf("%v does not say what to do", err)
		}
	}
}

// The star stands for any characters, as in the regular expression.
func TestStars(t *testing.T) {
	part := rapid.StringOfN(rapid.SampledFrom([]rune("ab.")), 0, 3, -1)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(part, 1, 4).Draw(t, "parts")
		pattern := strings.Join(parts, "*")
		filled := parts[0]
		for _, p := range parts[1:] {
			filled += part.Draw(t, "between") + p
		}
		if pattern == "" {
			return
		}
		g := sandbox.NewPolicy(sandbox.Rules{Allow: sandbox.List{sandbox.Env: {pattern}}}, "", false)
		if !permits(g, sandbox.Env, filled) {
			t.Fatalf("%s does not take %s", pattern, filled)
		}
		if other := part.Draw(t, "other"); !strings.Contains(pattern, "*") && other != pattern && permits(g, sandbox.Env, other) {
			t.Fatalf("%s takes %s", pattern, other)
		}
	})
}

func TestWrongRules(t *testing.T) {
	for text, want := range map[string]string{
		"raed=x":          "did you mean read?",
		"flight":          "is not a kind of permission",
		"read=":           `a rule of read in "read=" is empty`,
		"read=flight,":    `a rule of read in "read=flight," is empty`,
		"":                "is not a kind of permission",
		"read=/w/[x":      "not a valid path pattern close each [ and {",
		"budget=1,read=x": "is not a kind of permission",
	} {
		err := sandbox.List{}.Parse(text, as)
		if err == nil || !strings.Contains(err.Error()+" "+fault.Find(err).Facts().Hint, want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A worker's policy bounds rules and budgets of a script, and says who may be notified.
func TestPolicyOfAWorker(t *testing.T) {
	t.Parallel()
	dir := sandbox.Canonical(t.TempDir())
	path := filepath.Join(dir, "worker.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"sandbox": true, "allow": {"read": ["data"], "write": ["*"], "net": ["example.com"], "notify": ["https://hooks.example.com", "http://*.lan:8080", "mailto:*@Example.com", "logger -t *"]},
		"deny": {"net": ["*.evil.org"]}, "budget": {"jobs": 1, "bytes": 9}}`)
	worker, err := sandbox.ReadPolicy(path)
	if err != nil {
		t.Fatal(err)
	}
	p := sandbox.NewPolicy(sandbox.Rules{Allow: sandbox.List{sandbox.Read: {"*"}}, Budget: sandbox.Budget{"jobs": 5, "bytes": 7}}, "", false)
	p.Within(worker)
	for what, want := range map[string]bool{
		"read " + dir + "/data/x": true, "read " + dir + "/x": false, "net example.com:443": true, "net other.com:443": false, "env HOME": false,
		"write " + dir + "/x": true, "write " + path: false, "run sh": false, "ops projects.search": false, "replace " + dir: false,
	} {
		kind, what, _ := strings.Cut(what, " ")
		if err := p.Permit(sandbox.Access(kind), what); (err == nil) != want {
			t.Errorf("%s %s: %v", kind, what, err)
		}
	}
	if err := p.Denied(sandbox.Net, "a.evil.org:443"); err == nil {
		t.Error("the platform that a script names may be one that the worker denies")
	}
	if err := p.Denied(sandbox.Net, "other.com:443"); err != nil {
		t.Error(err)
	}
	if room, limited := p.Room(); room != 7 || !limited {
		t.Error(room, limited)
	}
	if err := p.Submit(); err != nil {
		t.Error(err)
	}
	if err := p.Submit(); err == nil || !strings.Contains(fault.Find(err).Facts().Hint, "--policy") {
		t.Error(err)
	}
	for what, want := range map[string]bool{
		"//hooks.example.com:443": true, "//HOOKS.example.com:443": true, "//hooks.example.com:80": false, "//a.lan:8080": true, "//a.lan:80": false,
		"mailto:me@example.com": true, "mailto:me@example.com.evil.org": false, "logger -t *": true, "logger -t x; rm -rf /": false,
		"https://hooks.example.com": false, "hooks.example.com:443": false,
	} {
		if err := sandbox.NewPolicy(worker, path, false).Permit(sandbox.Notify, what); (err == nil) != want {
			t.Errorf("notify %s: %v", what, err)
		}
	}
	for text, want := range map[string]string{
		`{"allow": {"notify": ["https://example.com/path"]}}`: "names more than a server",
		`{"allow": {"notice": []}}`:                           `"notice" is not a kind of permission`,
		`{"sandbox": 1}`:                                      "worker.json",
	} {
		write(text)
		if _, err := sandbox.ReadPolicy(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	write(`{"allow": {"notify": []}}`)
	if _, _, err := sandbox.ReadManifest(path); err == nil {
		t.Error("a manifest says nothing of notices")
	}
}
