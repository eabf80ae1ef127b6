package main

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"testing"
)

const countProjects = `#require("projects").search{}`

// A platform over TCP takes each kind of login, and refuses a wrong one.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir, nil, "platform", "serve", "--json", "--dir", "served")
	var at struct {
		URL, User, Password, Company string
		ClientID                     string `json:"client_id"`
		ClientSecret                 string `json:"client_secret"`
	}
	line := server.line()
	conforms(t, "platform-serve", line)
	if err := json.Unmarshal([]byte(line), &at); err != nil || at.Company == "" {
		t.Fatalf("%v in %+v", err, at)
	}
	config, err := json.Marshal(map[string]any{
		"url": at.URL, "user": at.User, "password": at.Password,
		"profiles": map[string]any{"wrong": map[string]any{"password": "wrong"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "config.json", string(config))
	write(t, dir, "password.txt", at.Password+"\n")
	write(t, dir, "secret.txt", at.ClientSecret+"\r\n")
	write(t, dir, "token.txt", "made-up-token")
	write(t, dir, "own.lua", `
		local sdk = require("sdk").connect{ config_path = "config.json", profile = arg[1] }
		print(#sdk.projects.search{})`)

	environment := func(pairs ...string) []string { return append(pairs, "TRANSECT_URL="+at.URL) }
	for _, c := range []struct {
		name string
		env  []string
		args []string
		code int
	}{
		{"password", environment(), []string{"eval", "--user", at.User, "--password-file", "password.txt", countProjects}, 0},
		{"client", environment(), []string{"eval", "--client-id", at.ClientID, "--client-secret-file", "secret.txt", countProjects}, 0},
		{"environment", environment("TRANSECT_USER="+at.User, "TRANSECT_PASSWORD="+at.Password), []string{"eval", countProjects}, 0},
		{"config file", nil, []string{"eval", "--config", "config.json", countProjects}, 0},
		{"config file in the environment", []string{"TRANSECT_CONFIG=config.json"}, []string{"eval", countProjects}, 0},
		{"wrong password", environment("TRANSECT_PASSWORD=wrong"), []string{"eval", "--user", at.User, countProjects}, 4},
		{"wrong password in a profile", nil, []string{"eval", "--config", "config.json", "--profile", "wrong", countProjects}, 4},
		{"wrong secret", environment("TRANSECT_CLIENT_SECRET=wrong"), []string{"eval", "--client-id", at.ClientID, countProjects}, 4},
		{"wrong token", environment(), []string{"eval", "--access-token-file", "token.txt", countProjects}, 4},
		{"a flag's user beside the environment's token",
			environment("TRANSECT_ACCESS_TOKEN=made-up"), []string{"eval", "--user", at.User, "--password-file", "password.txt", countProjects}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, dir, c.env, c.args...)
			printed, code := p.end()
			if code != c.code || c.code == 0 && printed != "0\n" {
				t.Errorf("exit code %d, want %d, printed %q, stderr\n%s", code, c.code, printed, p.stderr.String())
			}
		})
	}
	if runtime.GOOS == "windows" {
		return // processes cannot send one another signals there
	}
	if err := server.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, code := server.end(); code != 0 {
		t.Errorf("serve ended with exit code %d\n%s", code, server.stderr.String())
	}
}

func TestServeSaysWhereItIs(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), nil, "platform", "serve")
	ready := regexp.MustCompile(`^ready at http://127\.0\.0\.1:\d+ user=\S+ password=\S+ client_id=\S+ client_secret=\S+ company=[0-9a-f]{24} page=http://127\.0\.0\.1:\d+/open\?token=\S+$`)
	if line := p.line(); !ready.MatchString(line) {
		t.Errorf("printed %q", line)
	}
}

func TestServeOnATakenPort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir, nil, "platform", "serve", "--json")
	var at struct{ URL string }
	if err := json.Unmarshal([]byte(first.line()), &at); err != nil {
		t.Fatal(err)
	}
	second := start(t, dir, nil, "platform", "serve", "--listen", at.URL[len("http://"):])
	if printed, code := second.end(); code != 2 || printed != "" {
		t.Errorf("exit code %d, printed %q, stderr\n%s", code, printed, second.stderr.String())
	}
}
