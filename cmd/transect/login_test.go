package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// overTCP starts a platform over TCP.
func overTCP(t *testing.T, dir string) (at struct {
	URL, User, Password string
	ClientID            string `json:"client_id"`
	ClientSecret        string `json:"client_secret"`
}) {
	t.Helper()
	server := start(t, dir, nil, "platform", "serve", "--json", "--dir", filepath.Join(dir, "served"))
	if err := json.Unmarshal([]byte(server.line()), &at); err != nil {
		t.Fatal(err)
	}
	return at
}

// A login is tried, kept where only its user can read it, found by later
// commands, and forgotten.
func TestLogin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := overTCP(t, dir)
	file := filepath.Join(dir, ".config", "transect", "config-connection.json")
	write(t, dir, "wrong.txt", "wrong")
	write(t, dir, "password.txt", at.Password)
	write(t, dir, "secret.txt", at.ClientSecret)
	run := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		p := start(t, dir, []string{"TRANSECT_KEYRING=off"}, args...)
		stdout, code := p.end()
		if stderr = p.stderr.String(); code != want || strings.Contains(stdout+stderr, at.Password) {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
		}
		return stdout, stderr
	}

	run(4, "login", at.URL, "--user", at.User, "--password-file", "wrong.txt")
	run(5, "login", "http://127.0.0.1:1", "--user", at.User, "--password-file", "password.txt", "--max-outage", "0")
	if _, err := os.Stat(file); err == nil {
		t.Fatal("a login that was refused is kept")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"scope": "all", "user": "somebody", "client_secret": "old"}`), 0o644); err != nil {
		t.Fatal(err)
	}

	if _, told := run(0, "login", at.URL, "--user", at.User, "--password-file", "password.txt"); !strings.Contains(told, "logged in to "+at.URL+" as "+at.User) {
		t.Errorf("printed %s", told)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "old") || !strings.Contains(string(text), `"scope": "all"`) {
		t.Errorf("%v: kept %s", err, text)
	}
	run(0, "ls")
	if stdout, _ := run(0, "config"); !strings.Contains(stdout, file) {
		t.Errorf("config shows\n%s", stdout)
	}

	// A client, as a profile.
	run(0, "login", at.URL, "--client-id", at.ClientID, "--client-secret-file", "secret.txt", "--profile", "night")
	run(0, "ls", "--profile", "night")
	run(0, "logout", "--profile", "night")
	run(2, "ls", "--profile", "night")
	run(0, "ls")
	run(0, "logout")
	run(2, "ls")
	if text, _ := os.ReadFile(file); strings.Contains(string(text), at.User) {
		t.Errorf("left behind: %s", text)
	}
}

// On a terminal a login asks, without showing the password.
func TestLoginAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := overTCP(t, dir)
	tm := onTerminal(t, dir, []string{"TRANSECT_KEYRING=off"}, "login")
	tm.sees("Platform address: ")
	tm.keys(at.URL + "\r")
	tm.sees("User: ")
	tm.keys(at.User + "\r")
	tm.sees("Password: ")
	tm.keys(at.Password + "\r")
	tm.sees("logged in to ")
	if strings.Contains(tm.output(), at.Password) {
		t.Error("the password is shown")
	}
}

// Ctrl-C at a question ends the command, and nothing is said of its usage.
func TestLoginInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, last := range []string{"User: ", "Password: "} {
		tm := onTerminal(t, dir, []string{"TRANSECT_KEYRING=off"}, "login", "https://platform.example.com")
		tm.sees("User: ")
		if last != "User: " {
			tm.keys("somebody\r")
			tm.sees(last)
		}
		tm.keys(ctrlC)
		tm.sees("interrupted")
		if code := tm.ends(); code != 130 || strings.Contains(tm.output(), "canceled") {
			t.Errorf("at %s: exit code %d\n%s", last, code, tm.output())
		}
	}
}
