package runtime

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"transect/client"
	"transect/client/fault"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	m := newMemory(t, nil)
	m.IsTerminal = func(any) bool { return true }
	m.Stdin = strings.NewReader("\nbob\nsecret\nfor the script")
	r := newExecution(context.Background(), &m.Process, &Job{}, Connection{})
	defer r.Interp.Close()
	s := client.Settings{URL: "https://a.example.com", User: "eve", Password: "old", AccessToken: "t"}
	if err := r.connector.ask(context.Background(), &s); err != nil {
		t.Fatal(err)
	}
	if s.URL != "https://a.example.com" || s.User != "bob" || s.Password != "secret" || s.AccessToken != "" {
		t.Errorf("%+v", s)
	}
	if want := "Platform address [https://a.example.com]: User [eve]: Password: "; m.err.String() != want {
		t.Errorf("asked %q", m.err.String())
	}
	if rest, _ := io.ReadAll(m.Stdin); string(rest) != "for the script" {
		t.Errorf("left %q", rest)
	}
}

func TestAskIsNotAnswered(t *testing.T) {
	t.Parallel()
	m := newMemory(t, nil)
	m.IsTerminal = func(any) bool { return true }
	r := newExecution(context.Background(), &m.Process, &Job{}, Connection{})
	defer r.Interp.Close()
	err := r.connector.ask(context.Background(), &client.Settings{ConfigPath: empty(t)})
	if f := fault.Find(err); f == nil || f.Name() != "ConfigError" {
		t.Errorf("got %v", err)
	}
	// A broken file is reported before anything is asked.
	m.err.Reset()
	m.write(t, "broken.json", "{")
	err = r.connector.ask(context.Background(), &client.Settings{ConfigPath: m.Path("broken.json")})
	if err == nil || m.err.Len() > 0 {
		t.Errorf("got %v after %q", err, m.err.String())
	}
}

// A prompt that waits is left when the run ends.
func TestAskIsInterrupted(t *testing.T) {
	t.Parallel()
	in, keep, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	defer in.Close()
	m := newMemory(t, nil)
	m.Stdin = in
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Confirm(ctx, "Sure?"); err == nil {
		t.Error("went on")
	}
}

func empty(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/empty.json"
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
