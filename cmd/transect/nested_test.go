package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"transect/platform"
)

// JSON of five million levels is refused with an error wherever it comes in: a reader that
// calls itself for each level ends the process.
func TestNestedJSON(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"lists": strings.Repeat("[", 5_000_000), "objects": strings.Repeat(`{"a":`, 5_000_000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nestedEverywhere(t, text)
		})
	}
}

func nestedEverywhere(t *testing.T, text string) {
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte(text))
	if err := errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(zipped.Bytes())
	}))
	t.Cleanup(server.Close)
	local, err := platform.Open(t.Context(), platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.Close() })
	listening := httptest.NewServer(local.Handler())
	t.Cleanup(listening.Close)

	dir := t.TempDir()
	for _, file := range []string{"nested.json", "nested.geojson", "nested.gltf", "script.allow.json"} {
		write(t, dir, file, text)
	}
	shorter := text[:60_000] // the head of a plan is no longer
	write(t, dir, "t.plan", shorter)
	write(t, dir, "head.plan", `{"transect_plan":`+shorter+"\n")
	write(t, dir, "script.lua", "print(1)")
	write(t, dir, "lines.jsonl", text+"\n")
	write(t, dir, "decode.lua", `local f = io.open("nested.json"); print(require("json").decode(f:read("a")))`)
	write(t, dir, "read.lua", `print(require("json").read("nested.json"))`)
	write(t, dir, "lines.lua", `for v in require("json").read_lines("lines.jsonl") do print(v) end`)
	write(t, dir, "web.lua", `print(require("http").get(arg[1]):json())`)
	message := func(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }
	platformAt := []string{"--url", server.URL, "--access-token-file", "token"}
	write(t, dir, "token", "secret")
	for _, c := range []struct {
		name  string
		args  []string
		stdin string
		codes string // of those that it may end with
		says  string
	}{
		{"a search", append([]string{"ls"}, platformAt...), "", "1", "nested deeper than 10000 levels"},
		{"one record", append([]string{"api", "projects.describe", `{"project":"0123456789abcdef01234567"}`}, platformAt...), "", "1", "nested deeper"},
		{"a token", []string{"ls", "--url", server.URL, "--client-id", "a", "--client-secret-file", "token"}, "", "1", "nested deeper"},
		{"the module http", []string{"run", "web.lua", server.URL}, "", "1", "depth"},
		{"json.decode", []string{"run", "decode.lua"}, "", "1", "depth"},
		{"json.read", []string{"run", "read.lua"}, "", "1", "depth"},
		{"json.read_lines", []string{"run", "lines.lua"}, "", "1", "depth"},
		{"a plan", []string{"apply", "t.plan"}, "", "2", "not a plan"},
		{"the head of a plan", []string{"apply", "head.plan"}, "", "2", "another version"},
		{"a configuration file", []string{"ls", "--config", "nested.json"}, "", "2", "nested.json"},
		{"a manifest", []string{"run", "script.lua"}, "", "2", "script.allow.json"},
		{"arguments", []string{"api", "--local", "projects.search", "-"}, text, "2", "depth"},
		{"GeoJSON and glTF", []string{"put", "--local", ".", "P/M", "--create"}, "", "3", "nested.geojson"},
		{"an editor", []string{"lsp"}, message(text), "1", ""},
		{"an editor that debugs", []string{"dap"}, message(text), "0 1 2", ""},
		{"an assistant", []string{"mcp", "--local"}, text + "\n", "0 1 2", ""},
	} {
		cmd := exec.Command("transect", c.args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir+"/home", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=")
		cmd.Stdin = strings.NewReader(c.stdin)
		out, _ := cmd.CombinedOutput() // the exit code says it
		shown := string(out[:min(len(out), 2000)])
		if code := fmt.Sprint(cmd.ProcessState.ExitCode()); !strings.Contains(" "+c.codes+" ", " "+code+" ") ||
			!strings.Contains(shown, c.says) || strings.Contains(shown, "goroutine ") {
			t.Errorf("%s: exit code %s, want %s with %q:\n%s", c.name, code, c.codes, c.says, shown)
		}
	}
	response, err := http.Post(listening.URL+"/data-manager/create-dataset", "application/json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode < 400 || response.StatusCode >= 500 {
		t.Errorf("the local platform answers %s", response.Status)
	}
}
