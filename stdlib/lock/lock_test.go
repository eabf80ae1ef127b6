package lock

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
)

// held keeps the lock of the helper process from the garbage collector.
var held *Lock

// TestMain is also the other process of the tests: it takes a lock and waits to
// be killed.
func TestMain(m *testing.M) {
	if folder := os.Getenv("LOCK_AND_WAIT"); folder != "" {
		var err error
		if held, err = Take(context.Background(), request(folder)); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		select {}
	}
	os.Exit(m.Run())
}

func request(folder string) Request {
	return Request{Folder: folder, Name: "nightly", Script: "survey.lua", Now: time.Now}
}

func TestTakenOverFromAKilledProcess(t *testing.T) {
	folder := t.TempDir()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "LOCK_AND_WAIT="+folder)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	_, err = Take(t.Context(), request(folder))
	var locked *fault.LockedError
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), "(survey.lua), since ") {
		t.Fatalf("got %v", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	l, err := Take(t.Context(), request(folder))
	if err != nil {
		t.Fatal(err)
	}
	if l.Abandoned == nil || l.Abandoned.PID != other.Process.Pid {
		t.Errorf("abandoned by %+v, want process %d", l.Abandoned, other.Process.Pid)
	}
	l.Release()
	if l, err = Take(t.Context(), request(folder)); err != nil || l.Abandoned != nil {
		t.Errorf("after the release: abandoned by %+v, error %v", l.Abandoned, err)
	}
	l.Release()
}

func TestWait(t *testing.T) {
	folder := t.TempDir()
	first, err := Take(t.Context(), request(folder))
	if err != nil {
		t.Fatal(err)
	}
	r := request(folder)
	r.Wait = time.Minute
	told := ""
	r.Waiting = func(held string) { told = held; first.Release() }
	second, err := Take(t.Context(), r)
	if err != nil || told == "" {
		t.Fatalf("told %q, error %v", told, err)
	}
	defer second.Release()
	r.Wait, r.Waiting = 10*time.Millisecond, nil
	if _, err := Take(t.Context(), r); err == nil || !strings.Contains(err.Error(), "after a wait of 10ms") {
		t.Errorf("got %v", err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("told to stop"))
	r.Wait = time.Hour
	if _, err := Take(ctx, r); err == nil || err.Error() != "told to stop" {
		t.Errorf("got %v", err)
	}
}
