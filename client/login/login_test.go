package login

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	system "github.com/zalando/go-keyring"

	"transect/client"
	"transect/client/fault"
)

// With a keyring the file holds everything but the secret, and the connection
// finds it there.
func TestLoginInTheKeyring(t *testing.T) {
	system.MockInit()
	file := filepath.Join(t.TempDir(), "config.json")
	me := client.Settings{URL: "https://platform.example.com", User: "me", Password: "open-sesame"}
	inKeyring, err := Keep(file, "night", me)
	if err != nil || !inKeyring {
		t.Fatal(inKeyring, err)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "open-sesame") {
		t.Fatalf("%v: %s", err, text)
	}
	found, err := client.Settings{ConfigPath: file, Profile: "night"}.Resolve()
	if err != nil || found.Password != "open-sesame" || found.URL != me.URL {
		t.Errorf("%v in %+v", err, found)
	}
	// Another user's password is not asked for.
	if _, err := (client.Settings{ConfigPath: file, Profile: "night", User: "other"}).Resolve(); err == nil || !strings.Contains(err.Error(), "no password") {
		t.Errorf("another user: %v", err)
	}
	if gone, err := Forget(file, "night"); err != nil || gone.User != "me" {
		t.Errorf("%v, %+v", err, gone)
	}
	if _, err := system.Get("transect", "me https://platform.example.com"); err != system.ErrNotFound {
		t.Errorf("left in the keyring: %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("an empty file stays")
	}
}

// A keyring that lost the secret is named.
func TestLoginThatTheKeyringLost(t *testing.T) {
	system.MockInit()
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(`{"url": "https://platform.example.com", "user": "me", "keyring": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (client.Settings{ConfigPath: file}).Resolve(); err == nil || !strings.Contains(err.Error(), "cannot be read from the system's keyring") {
		t.Error(err)
	}
}

// A login whose secret cannot be removed from the keyring is kept whole.
func TestLogoutWithoutTheKeyring(t *testing.T) {
	system.MockInitWithError(&exec.Error{Name: "dbus-launch", Err: exec.ErrNotFound})
	defer system.MockInit()
	file := filepath.Join(t.TempDir(), "config.json")
	text := `{"url": "https://platform.example.com", "user": "me", "keyring": true}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Forget(file, "")
	if f := fault.Find(err); f == nil || !strings.Contains(err.Error(), "cannot be removed from the system's keyring: this session has none") || f.Facts().Hint == "" {
		t.Error(err)
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != text {
		t.Errorf("%s, %v", kept, err)
	}
	if _, err := (client.Settings{ConfigPath: file}).Resolve(); err == nil || !strings.Contains(err.Error(), "this session has none") {
		t.Error(err)
	}
}
