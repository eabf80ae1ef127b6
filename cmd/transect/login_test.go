package main

import (
	"encoding/json"
	"os"
	"os/exec"
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
	for _, name := range []string{"../night", "a\x1b[31m", "a\u202eb", "a\nb", " ", "-x", strings.Repeat("x", 65)} {
		_, told := run(2, "login", at.URL, "--user", at.User, "--password-file", "password.txt", "--profile="+name)
		if !strings.Contains(told, "cannot be the name of a profile") || strings.Contains(told, "\x1b") {
			t.Errorf("the profile %q: %s", name, told)
		}
	}
	for _, user := range []string{"a\x1b[31m", "a\u202eb", strings.Repeat("x", 1001)} {
		_, told := run(2, "login", at.URL, "--user", user, "--password-file", "password.txt")
		if !strings.Contains(told, "the user is longer than 1000 bytes, or has characters that are not shown") {
			t.Errorf("the user %q: %s", user, told)
		}
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

// A login in the keyring of a desktop, a real Secret Service: the secret is in no
// file, later commands find it, and a session without a keyring says so.
func TestLoginInASecretService(t *testing.T) {
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no ", program, " here")
		}
	}
	t.Parallel()
	dir := t.TempDir()
	at := overTCP(t, dir)
	write(t, dir, "password.txt", at.Password)
	write(t, dir, "session.sh", `set -e
printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
transect login "$1" --user "$2" --password-file password.txt
transect ls
transect config
transect login "$1" --user "$2" --password-file password.txt --profile site
transect logout --profile site
DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere transect logout && exit 9
transect logout
transect ls && exit 9
exit 0
`)
	cmd := exec.Command("dbus-run-session", "--", "sh", "session.sh", at.URL, at.User)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), at.Password) {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"the secret is in the system's keyring", "there are no projects", "(set)  ", "the system's keyring\n",
		"cannot be removed from the system's keyring", "nothing was removed", "no platform was named"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}
