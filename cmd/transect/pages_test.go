package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/runtime"
	"transect/scripts"
	"transect/stdlib"
)

const checkout = "../.."

// maxPages bounds the pages in docs, besides the reference.
const maxPages = 20

// runElsewhere lists pages about programs in other languages, which docs/examples tests.
var runElsewhere = []string{"docs/embedding.md", "docs/pipelines.md"}

// block is a block of code in a page.
type block struct {
	line             int
	mark, lang, text string // mark is the text of the HTML comment before the block
}

var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<!-- (.*) -->$`) })

// blocksOf returns the fenced and the indented blocks of a page.
func blocksOf(page string) (all []block) {
	lines := strings.Split(page, "\n")
	mark := ""
	for i := 0; i < len(lines); i++ {
		b := block{line: i + 1, mark: mark}
		switch m := comment().FindStringSubmatch(lines[i]); {
		case m != nil:
			mark = m[1]
			continue
		case lines[i] == "":
			continue
		case strings.HasPrefix(lines[i], "```"):
			b.lang = lines[i][3:]
			for i++; lines[i] != "```"; i++ {
				b.text += lines[i] + "\n"
			}
			all = append(all, b)
		case strings.HasPrefix(lines[i], "    ") && (i == 0 || lines[i-1] == "" || mark != ""):
			for ; i < len(lines) && (lines[i] == "" || strings.HasPrefix(lines[i], "    ")); i++ {
				b.text += strings.TrimPrefix(lines[i], "    ") + "\n"
			}
			i--
			b.text = strings.TrimRight(b.text, "\n") + "\n"
			all = append(all, b)
		}
		mark = ""
	}
	return all
}

// serves finds commands that run until they are interrupted: a reader starts them in a terminal of their own.
var serves = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(transect (?:worker|ui|platform serve)(?: +[^# \n]+)*)(?: +#.*)?$`)
})

// fails finds commands whose comment names the exit code that they end with.
var fails = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(transect .*# .*exit code )(\d+)$`) })

// pageStart makes a shell do as a reader does: it stops at the first command that fails. Exit code 8 says that there
// is something to do. A server runs in the background, and is waited for until it has printed something.
const pageStart = `set -eu
exec 3>&2
fails() {
	want=$1 code=0
	shift
	command "$@" || code=$?
	[ $code = $want ]
}
transect() { command transect "$@" || { code=$?; [ $code = 8 ] || return $code; }; }
servers=
trap 'code=$?
[ $code = 0 ] || cat "$printed" >&3
for server in $servers; do kill -INT $server; wait $server || true; done
exit $code' EXIT
serve() {
	command "$@" >"$WORK/.served" 2>&1 </dev/null &
	servers="$servers $!"
	for try in $(seq 300); do
		[ ! -s "$WORK/.served" ] || return 0
		kill -0 $! || break
		sleep 0.1
	done
	cat "$WORK/.served"
	return 1
}
begin() {
	printed=$1
	exec >"$printed" 2>&1 </dev/null
}
`

// runPage runs the blocks of a page as they are pasted, in the page's order and in one shell. A comment before a block
// says what else it is:
//
//	<!-- file NAME -->         the block is the content of a file
//	<!-- prints -->            the block before prints these lines; … stands for anything
//	<!-- not run: REASON -->   an example that cannot run here
func runPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: page FILE")
	}
	text, err := os.ReadFile(filepath.Join(checkout, args[0]))
	ts.Check(err)
	script, printed, wanted := pageStart, "", map[string]block{}
	for i, b := range blocksOf(string(text)) {
		kind, what, _ := strings.Cut(b.mark, " ")
		switch {
		case notRun(b):
		case kind == "file":
			script += fmt.Sprintf("cat >'%s' <<'END OF BLOCK'\n%sEND OF BLOCK\n", what, b.text)
		case kind == "prints":
			wanted[printed] = b
		case b.mark == "" && (b.lang == "" || b.lang == "sh"):
			printed = ts.MkAbs(fmt.Sprintf(".block%d", i))
			commands := fails().ReplaceAllString(serves().ReplaceAllString(b.text, "serve $1"), "fails $2 $1$2")
			script += fmt.Sprintf("begin '%s'\n%s", printed, commands)
		default:
			ts.Fatalf("%s:%d: a block of %q, marked %q: nothing says what to do with it", args[0], b.line, b.lang, b.mark)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(".page"), []byte(script), 0o600))
	ts.Check(ts.Exec("bash", "-v", ts.MkAbs(".page")))
	for name, b := range wanted {
		printed := ts.ReadFile(name)
		for line := range strings.Lines(b.text) {
			if !printsLine(printed, line) {
				ts.Fatalf("%s:%d: want %q, printed:\n%s", args[0], b.line, line, printed)
			}
		}
	}
}

// notRun reports whether a block says why it cannot run.
func notRun(b block) bool { return strings.HasPrefix(b.mark, "not run: ") }

// printsLine reports whether a text has a whole line, whatever the width of its spaces.
func printsLine(printed, want string) bool {
	pattern := regexp.QuoteMeta(strings.Join(strings.Fields(want), " "))
	line := regexp.MustCompile("^" + strings.ReplaceAll(pattern, "…", ".*") + "$")
	for text := range strings.Lines(printed) {
		if line.MatchString(strings.Join(strings.Fields(text), " ")) {
			return true
		}
	}
	return false
}

// documentation returns the pages of the documentation, with their content.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(checkout, "docs/*.md"))
	if err != nil || len(names) < 15 {
		t.Fatal(names, err)
	}
	pages := map[string]string{}
	for _, name := range append(names, filepath.Join(checkout, "README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		name, _ = filepath.Rel(checkout, name)
		pages[filepath.ToSlash(name)] = string(text)
	}
	return pages
}

// TestPagesRun: the commands of each page run in a script of testdata/script.
func TestPagesRun(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(err)
	}
	run := slices.Clone(runElsewhere)
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^page (\S+)$`).FindAllStringSubmatch(string(text), -1) {
			run = append(run, m[1])
		}
	}
	for name, text := range documentation(t) {
		if !slices.ContainsFunc(blocksOf(text), func(b block) bool { return !notRun(b) }) {
			continue
		}
		if !slices.Contains(run, name) {
			t.Errorf("no script runs %s: add the line \"page %s\" to one", name, name)
		}
	}
}

// pageLink finds links: a file and a part of it.
var pageLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]*))?\)`) })

// anchors returns the names of the parts of a page, as GitHub makes them of headings.
func anchors(page string) (all []string) {
	seen := map[string]int{}
	other := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := strings.ReplaceAll(other.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, seen[name]-1)
		}
		all = append(all, name)
	}
	return all
}

// brokenLinks returns the links of a page that lead nowhere; read returns a file of the checkout.
func brokenLinks(name, page string, read func(name string) (string, bool)) (broken []string) {
	for _, m := range pageLink().FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		target := name
		if m[1] != "" {
			target = path.Join(path.Dir(name), m[1])
		}
		text, ok := read(target)
		if !ok || m[2] != "" && !slices.Contains(anchors(text), m[2]) {
			broken = append(broken, m[0][2:len(m[0])-1])
		}
	}
	return broken
}

// TestLinksOfPages: each link of a page leads to a file, and to a heading of it; so do names of pages in code.
func TestLinksOfPages(t *testing.T) {
	t.Parallel()
	read := func(name string) (string, bool) {
		text, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			_, err = os.Stat(filepath.Join(checkout, name))
		}
		return string(text), err == nil
	}
	named := regexp.MustCompile(`\bdocs/[a-z][a-z0-9_/-]*\.md\b`)
	pages, code := 0, 0
	err := fs.WalkDir(os.DirFS(checkout), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "dist" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		switch path.Ext(name) {
		case ".md":
			text, _ := read(name)
			pages++
			for _, to := range brokenLinks(name, text, read) {
				t.Errorf("%s: the link to %s leads nowhere", name, to)
			}
		case ".go", ".lua", ".service", ".yaml", ".yml", "":
			text, _ := read(name)
			for _, page := range named.FindAllString(text, -1) {
				code++
				if _, ok := read(page); !ok && name != "cmd/transect/pages_test.go" {
					t.Errorf("%s: there is no %s", name, page)
				}
			}
		}
		return nil
	})
	if err != nil || pages < maxPages || code < 10 {
		t.Error(err, pages, code)
	}
	got := brokenLinks("docs/a.md", "[a](b.md) [b](c.md) [c](b.md#so-it-is) [d](#not) [e](https://x.y/z) [f](../e)",
		func(name string) (string, bool) { return "# So `it` is!\n", name == "docs/b.md" || name == "docs/a.md" })
	if want := []string{"c.md", "#not", "../e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReadmeLeadsToEveryPage: there are few pages, the README lists them all, and names the version of Go.
func TestReadmeLeadsToEveryPage(t *testing.T) {
	t.Parallel()
	pages := documentation(t)
	if n := len(pages) - 1; n > maxPages {
		t.Errorf("docs has %d pages, at most %d: extend one that is there", n, maxPages)
	}
	for name := range pages {
		if name != "README.md" && !strings.Contains(pages["README.md"], "]("+name+")") {
			t.Errorf("the README does not lead to %s", name)
		}
	}
	module, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)[1]
	if want := fmt.Sprintf("Go %s or later", version); !strings.Contains(pages["README.md"], want) {
		t.Errorf("the README does not say %q", want)
	}
}

var (
	span    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([^`\n]+)`") })
	flagged = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s\[(|])--([a-z][a-z0-9-]*)`) })
	table   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?m)^\\| flags?(?: of `([a-z ]+)`)? \\|.*\n\\|[-:| ]+\\|\n((?:\\|.*\n)+)")
	})
)

// commandLine is a command of this program with what follows it.
type commandLine struct {
	words []string
	bare  bool // only flags: of some command
}

// commandLines returns the commands in the code of a page: whole ones, those without the program's name (put
// --verify), and flags alone.
func commandLines(page string, known func(name string) bool) (all []commandLine) {
	code := []string{}
	for _, b := range blocksOf(page) {
		if b.lang == "" || b.lang == "sh" {
			code = append(code, strings.Split(b.text, "\n")...)
		}
	}
	for _, m := range span().FindAllStringSubmatch(page, -1) {
		code = append(code, strings.ReplaceAll(m[1], `\|`, "|"))
	}
	for _, line := range code {
		line, _, _ = strings.Cut(line, " # ")
		for _, part := range regexp.MustCompile(`\s*(?:\|\s|&&|;|\$\()\s*`).Split(line, -1) {
			words := strings.Fields(part)
			if i := lastIndex(words, "transect"); i >= 0 {
				words = words[i+1:]
			} else if len(words) == 0 || !strings.HasPrefix(words[0], "--") && !known(words[0]) {
				continue
			}
			if len(words) > 0 {
				all = append(all, commandLine{words, strings.HasPrefix(words[0], "--")})
			}
		}
	}
	return all
}

func lastIndex(words []string, word string) int {
	for i := len(words) - 1; i >= 0; i-- {
		if words[i] == word {
			return i
		}
	}
	return -1
}

// flagsOfCommands knows the flags of all commands and of the scripts in the program.
type flagsOfCommands struct {
	root    *cobra.Command
	run     *cobra.Command
	scripts map[string]map[string]bool // by name
	all     map[string]bool
	// examples are those of the help of all commands.
	examples string
}

func newFlagsOfCommands(t *testing.T) *flagsOfCommands {
	p := &runtime.Process{Env: func(string) (string, bool) { return "", false }, Now: time.Now}
	for _, s := range scripts.Commands() {
		p.Args = append(p.Args, s.Name)
	}
	f := &flagsOfCommands{root: newCommandLine(p).Root(nil), scripts: map[string]map[string]bool{},
		all: map[string]bool{"help": true, "version": true}}
	f.run, _, _ = f.root.Find([]string{"run"})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InheritedFlags() // merges them
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { f.all[flag.Name] = true })
		f.examples += "\n" + cmd.Example + "\n"
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(f.root)
	for _, s := range scripts.List() {
		spec, err := stdlib.DeclaredArgs(s.Ref(), s.Code)
		if err != nil || spec == nil {
			t.Fatal(s.Name, err)
		}
		f.scripts[s.Name] = map[string]bool{"help": true}
		for name := range spec.Args {
			name = strings.ReplaceAll(name, "_", "-")
			f.scripts[s.Name][name], f.all[name] = true, true
		}
	}
	return f
}

// command reports whether a word is the name of a command.
func (f *flagsOfCommands) command(name string) bool {
	return slices.ContainsFunc(f.root.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
}

// unknown returns what is wrong with the flags of a command line. Behind a script stand those of the script.
func (f *flagsOfCommands) unknown(line commandLine) (faults []string) {
	cmd, rest, script := f.root, line.words, ""
	for len(rest) > 0 {
		i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == rest[0] })
		if i < 0 {
			break
		}
		cmd, rest = cmd.Commands()[i], rest[1:]
	}
	if !line.bare && cmd == f.root && regexp.MustCompile(`^[a-z]+$`).MatchString(rest[0]) {
		faults = append(faults, fmt.Sprintf("there is no command %s", rest[0]))
	}
	for _, word := range rest {
		if script == "" && (strings.HasSuffix(word, ".lua") || strings.HasPrefix(word, "@") || word == "SCRIPT") {
			script = strings.TrimPrefix(strings.TrimSuffix(word, ".lua"), "@")
		}
		for _, m := range flagged().FindAllStringSubmatch(word, -1) {
			own, ready := f.scripts[script]
			switch name := m[1]; {
			case strings.HasSuffix(name, "-"): // --max-…
			case line.bare && f.all[name], own[name], script != "" && !ready:
			case line.bare:
				faults = append(faults, fmt.Sprintf("nothing has a flag --%s", name))
			case name == "help" || name == "version":
			case strings.Contains(cmd.Use, "[RUN FLAGS]") && f.run.Flags().Lookup(name) != nil:
			case cmd.Flags().Lookup(name) == nil:
				faults = append(faults, fmt.Sprintf("%s has no flag --%s", cmd.CommandPath(), name))
			}
		}
	}
	return faults
}

// TestFlagsOfPages: the commands and flags of each page are those of the program. A table whose first heading is
// "flag" has those of transect run, or of the command that the heading names.
func TestFlagsOfPages(t *testing.T) {
	t.Parallel()
	f := newFlagsOfCommands(t)
	check := func(page string) (faults []string, seen int) {
		lines := commandLines(page, f.command)
		for _, m := range table().FindAllStringSubmatch(page, -1) {
			command := "run"
			if m[1] != "" {
				command = m[1]
			}
			for row := range strings.Lines(m[2]) {
				cell := strings.Split(strings.ReplaceAll(row, `\|`, "/"), "|")[1]
				for _, code := range span().FindAllStringSubmatch(cell, -1) {
					lines = append(lines, commandLine{words: append(strings.Fields(command), strings.Fields(code[1])...)})
				}
			}
		}
		for _, line := range lines {
			faults = append(faults, f.unknown(line)...)
		}
		return faults, len(lines)
	}
	total, pages := 0, documentation(t)
	pages["examples of the help"] = strings.ReplaceAll(f.examples, "\n  transect", "\n    transect")
	for name, text := range pages {
		faults, seen := check(text)
		total += seen
		for _, fault := range faults {
			t.Errorf("%s: %s", name, fault)
		}
	}
	if total < 300 {
		t.Errorf("only %d commands and flags were found", total)
	}
	for page, want := range map[string]string{
		"`transect runs --faled`":                "transect runs has no flag --faled",
		"`transect run survey.lua --ot x`":       "transect run has no flag --ot",
		"`transect run --local mine.lua --ot x`": "",
		"`put --verfy`":                          "transect put has no flag --verfy",
		"`--nothing`":                            "nothing has a flag --nothing",
		"`transect pt`":                          "there is no command pt",
		"    transect jobs | psql --quick\n":     "",
		"| flag | |\n|---|---|\n| `--lock`, `--locks` | |\n": "nothing has a flag --locks; " +
			"transect run has no flag --locks",
		"| flag of `schedule add` | |\n|---|---|\n| `--lock` | |\n": "transect schedule add has no flag --lock",
	} {
		if faults, _ := check(page); strings.Join(faults, "; ") != want {
			t.Errorf("%q: %q, want %q", page, faults, want)
		}
	}
}
