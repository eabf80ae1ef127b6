package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const checkout = "../.."

// maxPages bounds the pages in docs, besides the reference.
const maxPages = 20

// runElsewhere lists the pages whose blocks are parts of tested programs in docs/examples.
var runElsewhere = []string{"docs/embedding.md", "docs/pipelines.md"}

// block is a block of code in a page.
type block struct {
	line             int
	mark, lang, text string // mark is the text of the HTML comment before the block
}

var comment = regexp.MustCompile(`^<!-- (.*) -->$`)

// blocksOf returns the fenced and the indented blocks of a page.
func blocksOf(page string) (all []block) {
	lines := strings.Split(page, "\n")
	mark := ""
	for i := 0; i < len(lines); i++ {
		b := block{line: i + 1, mark: mark}
		switch m := comment.FindStringSubmatch(lines[i]); {
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
var serves = regexp.MustCompile(`(?m)^(transect (?:worker|ui|platform serve)(?: +[^# \n]+)*)(?: +#.*)?$`)

// fails finds commands whose comment names the exit code that they end with.
var fails = regexp.MustCompile(`(?m)^(transect .*# .*exit code )(\d+)$`)

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
			commands := fails.ReplaceAllString(serves.ReplaceAllString(b.text, "serve $1"), "fails $2 $1$2")
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
