package bindings_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/bindings"
	"transect/client"
	"transect/platform"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

const sdkCalls = "../testdata/sdkcalls"

// TestPythonSDK makes the calls of calls.txt with the platform's Python SDK, as it is, and with ours. What
// differs by nature is replaced before answers are compared: ids, tokens and addresses by where they were first seen,
// times of the platforms' clocks, and null by nothing, since a nil of Lua is no field.
func TestPythonSDK(t *testing.T) {
	peer, err := filepath.Abs("../../shared/peer/alteia-python-sdk")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(peer); err != nil {
		t.Skip("the Python SDK is not in ../shared/peer beside the checkout")
	}
	python := pythonOfSDK(t)
	calls := readCalls(t)
	files := filesOfCalls(t)
	theirs, ours := newSide(t, files), newSide(t, files)
	finished := make(chan error, 1)
	go func() { finished <- theirs.runPython(t.Context(), python, peer) }()
	ours.runLua(t)
	if err := <-finished; err != nil {
		t.Fatalf("the calls of the SDK: %v", err)
	}
	want, got := theirs.answers(t), ours.answers(t)
	operations, want := want[0].Operations, want[1:]
	if len(want) != len(calls) || len(got) != len(calls) {
		t.Fatalf("%d calls, %d answers with the SDK, %d with ours", len(calls), len(want), len(got))
	}
	called := map[string]bool{}
	for i, c := range calls {
		called[c.operation] = true
		a, b := theirs.normal(i, want[i]), ours.normal(i, got[i])
		differing := map[string]bool{}
		differ(differing, "", a, b)
		found := slices.Sorted(maps.Keys(differing))
		if !slices.Equal(found, c.differs) {
			t.Errorf("calls.txt:%d: %s\ndiffers at %q, listed %q\nSDK  %s\nours %s", c.line, c.text, found, c.differs, shown(a, want[i]), shown(b, got[i]))
		}
	}
	for _, operation := range operations {
		if !called[operation] {
			t.Errorf("%s of the SDK is not called", operation)
		}
	}
	t.Logf("%d calls of %d operations", len(calls), len(operations))
	if a, b := theirs.downloaded(t), ours.downloaded(t); !maps.Equal(a, b) {
		t.Errorf("downloaded with the SDK: %q\nwith ours: %q", a, b)
	}
}

// pythonOfSDK is a Python with what the SDK imports.
func pythonOfSDK(t *testing.T) string {
	var out []byte
	for _, python := range []string{"python3", "/usr/bin/python3"} { // the system's, where another comes first
		var err error
		if out, err = exec.Command(python, "-c", "import urllib3, appdirs, semantic_version, pathvalidate").CombinedOutput(); err == nil {
			return python
		}
	}
	t.Skipf("no python3 with what the Python SDK imports (see .ci/run): %s", out)
	return ""
}

// sdkCall is a line of calls.txt.
type sdkCall struct {
	line            int
	text, operation string
	differs         []string // fields
}

var (
	callLine    = regexp.MustCompile(`^(?:\w+ = )?(\w+\.\w+) \{.*\}(?: until \S+ = \S+)?$`)
	differsLine = regexp.MustCompile(`^  differs at ([^:]+): \S.*$`)
)

func readCalls(t *testing.T) []sdkCall {
	text, err := os.ReadFile(filepath.Join(sdkCalls, "calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []sdkCall
	for i, line := range strings.Split(string(text), "\n") {
		if m := callLine.FindStringSubmatch(line); m != nil {
			operation := strings.Replace(m[1], "set_container_credentials", "set_docker_credentials", 1)
			calls = append(calls, sdkCall{line: i + 1, text: line, operation: operation})
		} else if m := differsLine.FindStringSubmatch(line); m != nil {
			calls[len(calls)-1].differs = strings.Split(m[1], ", ")
		} else if line != "" && !strings.HasPrefix(line, "#") {
			t.Fatalf("calls.txt:%d is neither a call nor a difference: %s", i+1, line)
		}
	}
	return calls
}

// filesOfCalls makes the folder $files.
func filesOfCalls(t *testing.T) string {
	dir := t.TempDir()
	contents := map[string][]byte{
		"notes.txt": []byte("wind 3 m/s, dry"), "empty.txt": nil,
		"parts.bin": bytes.Repeat([]byte("0123456789abcdef"), 6<<20/16), // two parts
	}
	for i, name := range []string{"photo.jpg", "ortho.tif"} {
		b, err := os.ReadFile(argumentFiles(t)[i])
		if err != nil {
			t.Fatal(err)
		}
		contents[name] = b
	}
	for name, b := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sdkSide is one of the two that make the calls.
type sdkSide struct {
	url, files, out string
	user, password  string
	printed         bytes.Buffer
	labels          map[string]string // of ids and tokens
}

// newSide opens a platform whose clock is ahead, so that its times are told from those of calls.
func newSide(t *testing.T, files string) *sdkSide {
	ahead := time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	p, err := platform.Open(t.Context(), platform.Options{Memory: true, Now: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, listener, p.Handler()) }()
	t.Cleanup(func() {
		cancel()
		if err := cmp.Or(<-served, p.Close()); err != nil {
			t.Error(err)
		}
	})
	c := p.Credentials()
	return &sdkSide{url: "http://" + listener.Addr().String(), files: files, out: t.TempDir(), user: c.User, password: c.Password, labels: map[string]string{}}
}

func (s *sdkSide) runPython(ctx context.Context, python, peer string) error {
	cmd := exec.CommandContext(ctx, python, "-W", "ignore", filepath.Join(sdkCalls, "calls.py"), s.url, s.user, s.password, filepath.Join(sdkCalls, "calls.txt"), s.files, s.out)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.out, "PYTHONPATH=" + peer, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1"}
	cmd.Stdout = &s.printed
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, stderr.String())
	}
	return nil
}

func (s *sdkSide) runLua(t *testing.T) {
	script := filepath.Join(sdkCalls, "calls.lua")
	in := luastd.New(t.Context(), vm.Options{
		Stdout: &s.printed, Stderr: io.Discard, Args: []string{filepath.Join(sdkCalls, "calls.txt"), s.files, s.out}, Progress: vm.ProgressQuiet, Env: environment(t.TempDir()),
	})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)
	bindings.Open(in, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		return client.New(ctx, client.Settings{URL: s.url, User: s.user, Password: s.password}, client.Options{})
	})
	code, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.RunString(script, string(code)); err != nil {
		report := vm.Failure(err)
		t.Fatalf("%v at %v\n%s", report.Err, report.Frames, s.printed.String())
	}
}

// sdkAnswer is a line that a side prints.
type sdkAnswer struct {
	Operations []string `json:"operations"`
	Result     any      `json:"result"`
	Error      any      `json:"error"`
	Text       string   `json:"text"`
}

func (s *sdkSide) answers(t *testing.T) []sdkAnswer {
	var all []sdkAnswer
	lines := bufio.NewScanner(&s.printed)
	for lines.Buffer(nil, 1<<24); lines.Scan(); {
		var a sdkAnswer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		all = append(all, a)
	}
	return all
}

var (
	issued = regexp.MustCompile(`\b[0-9a-f]{24}\b|[A-Za-z0-9_-]{43}`) // ids, tokens and secrets
	clock  = regexp.MustCompile(`\b2100-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?`)
)

// normal is an answer without what differs by nature. An id is named after the call that showed it first.
func (s *sdkSide) normal(call int, a sdkAnswer) any {
	texts, shown := strings.NewReplacer(s.url, "$url", s.out, "$out", s.files, "$files"), 0
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			made := map[string]any{}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if v[k] != nil && !(k == "id" && v[k] == v["_id"]) { // ours write the identifier under both names
					made[walk(k).(string)] = walk(v[k])
				}
			}
			return made
		case []any:
			made := []any{}
			for _, item := range v {
				made = append(made, walk(item))
			}
			return made
		case string:
			v = clock.ReplaceAllString(texts.Replace(v), "$$now")
			return issued.ReplaceAllStringFunc(v, func(id string) string {
				if s.labels[id] == "" {
					shown++
					s.labels[id] = fmt.Sprintf("$%d.%d", call, shown)
				}
				return s.labels[id]
			})
		}
		return v
	}
	if a.Error != nil {
		return map[string]any{"error": walk(a.Error)}
	}
	return walk(a.Result)
}

// differ collects the fields in which two answers differ.
func differ(found map[string]bool, path string, a, b any) {
	x, isMap := a.(map[string]any)
	y, bothMaps := b.(map[string]any)
	v, isList := a.([]any)
	w, bothLists := b.([]any)
	switch {
	case path == "" && x["error"] != nil && y["error"] != nil:
		if !reflect.DeepEqual(x, y) {
			found["error"] = true
		}
	case path == "" && (x["error"] == nil) != (y["error"] == nil):
		found["result"] = true
	case isMap && bothMaps:
		for k := range maps.Keys(x) {
			differ(found, strings.TrimPrefix(path+"."+k, "."), x[k], y[k])
		}
		for k := range y {
			if _, ok := x[k]; !ok {
				found[strings.TrimPrefix(path+"."+k, ".")] = true
			}
		}
	case isList && bothLists && len(v) == len(w):
		for i := range v {
			differ(found, path+"[]", v[i], w[i])
		}
	case !reflect.DeepEqual(a, b):
		found[cmp.Or(path, "result")] = true
	}
}

// shown is an answer in a message.
func shown(normal any, a sdkAnswer) string {
	b, err := json.Marshal(normal)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b) + " " + a.Text)
}

// downloaded returns what the files of $out hold.
func (s *sdkSide) downloaded(t *testing.T) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(s.out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		text := issued.ReplaceAllStringFunc(string(b), func(id string) string { return cmp.Or(s.labels[id], id) })
		if len(text) > 1000 {
			text = fmt.Sprintf("%d bytes, MD5 %x", len(b), md5.Sum(b))
		}
		found[strings.TrimPrefix(path, s.out)] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
