package runtime

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/client"
	"transect/platform"
	"transect/stdlib"
)

// memory is a process in memory, with what it wrote.
type memory struct {
	Process
	out, err bytes.Buffer
	exited   chan int
	signals  chan os.Signal
}

func newMemory(t *testing.T, env map[string]string) *memory {
	m := &memory{exited: make(chan int, 1), signals: make(chan os.Signal, 2)}
	m.Process = Process{
		Stdin: strings.NewReader(""), Stdout: &m.out, Stderr: &m.err,
		Env:        func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Now:        func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Dir:        t.TempDir(),
		IsTerminal: func(any) bool { return false },
		Signals:    m.signals,
		Exit:       func(code int) { m.exited <- code },
		Backend:    func(p *Process) Backend { return &testBackend{dir: p.Dir} },
		Extensions: []bindings.Extension{ingest.Module, lookup.Module},
		Library:    stdlib.Modules,
	}
	return m
}

func (m *memory) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRunInMemory(t *testing.T) {
	t.Parallel()
	m := newMemory(t, map[string]string{"WHO": "world"})
	m.write(t, "hello.lua", `print("hello " .. os.getenv("WHO"), ...)`)
	if err := Run(context.Background(), &m.Process, Job{Script: "hello.lua", Args: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	if got := m.out.String(); got != "hello world\tx\n" {
		t.Errorf("printed %q", got)
	}
}

// One process may run many scripts at a time: nothing is shared.
func TestLocalPlatformInMemory(t *testing.T) {
	t.Parallel()
	for range 3 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			m := newMemory(t, nil)
			job := Job{Code: `#require("projects").search{}`, Connection: Connection{Local: true, LocalDir: "local"}}
			if err := Run(context.Background(), &m.Process, job); err != nil {
				t.Fatal(err)
			}
			if m.out.String() != "0\n" {
				t.Errorf("printed %q", m.out.String())
			}
		})
	}
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	t.Parallel()
	m := newMemory(t, nil)
	ctx, release := m.CancelOnSignal(context.Background())
	defer release()
	m.signals <- os.Interrupt
	<-ctx.Done()
	m.signals <- os.Interrupt
	if code := <-m.exited; code != ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// testBackend is the local platform in a folder of the process.
type testBackend struct {
	dir    string
	opened *platform.Platform
}

func (*testBackend) Address() string               { return platform.Address }
func (*testBackend) Folder(string) (string, error) { return "", nil }

func (b *testBackend) Open(ctx context.Context, dir string, _ bool, _ *slog.Logger) (s client.Settings, t http.RoundTripper, err error) {
	if b.opened, err = platform.Open(ctx, platform.Options{Dir: filepath.Join(b.dir, dir)}); err != nil {
		return s, nil, err
	}
	c := b.opened.Credentials()
	return client.Settings{URL: platform.Address, User: c.User, Password: c.Password}, b.opened.RoundTripper(), nil
}

func (b *testBackend) Close() error {
	if b.opened == nil {
		return nil
	}
	return b.opened.Close()
}
