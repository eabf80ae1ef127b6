// Package lock provides named locks between processes of one machine, on flock files: the kernel releases a
// lock when its process ends, however it ends. A JSON file next to each lock names its holder; one left by a
// killed process is overwritten. The Lua module script and unattended runs use it. Start reading at Take.
package lock

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/wait"
)

// Holder describes the process that holds a lock.
type Holder struct {
	Name   string    `json:"name"`
	PID    int       `json:"pid"`
	Since  time.Time `json:"since"`
	Script string    `json:"script,omitempty"`
}

// Describe returns, for example, "process 4711 (survey.lua), since 14:02:11 (12m3s)".
func (h *Holder) Describe(now time.Time) string {
	text := fmt.Sprintf("process %d", h.PID)
	if h.Script != "" {
		text += " (" + h.Script + ")"
	}
	since := h.Since.In(now.Location())
	layout := time.TimeOnly
	if now.Sub(since) > 12*time.Hour {
		layout = time.DateTime
	}
	return text + fmt.Sprintf(", since %s (%s)", since.Format(layout), human.Ago(now.Sub(since)))
}

// Lock is an acquired lock.
type Lock struct {
	flock      *flock.Flock
	holderPath string

	// Abandoned is the previous holder if it ended without releasing the lock.
	Abandoned *Holder
}

// Request describes the lock to take.
type Request struct {
	Folder string // of the locks; created when missing
	Name   string
	Script string        // of the run that takes it
	Wait   time.Duration // how long to wait for the holder
	Now    func() time.Time

	Waiting func(holder string) // called once before waiting; optional
}

// retry is the interval between two attempts.
const retry = 50 * time.Millisecond

// Take acquires a lock. When it is held for longer than Wait, a LockedError
// names the holder.
func Take(ctx context.Context, r Request) (*Lock, error) {
	if err := os.MkdirAll(r.Folder, 0o700); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot create the folder of locks: %w", err),
			"set TRANSECT_STATE_DIR to a writable folder")
	}
	sum := sha256.Sum256([]byte(r.Name))
	path := filepath.Join(r.Folder, fmt.Sprintf("%x.lock", sum[:12]))
	l := &Lock{flock: flock.New(path), holderPath: path + ".json"}
	start := r.Now()
	for first := true; ; first = false {
		free, err := l.flock.TryLock()
		if err != nil {
			return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot take the lock %q: %w", r.Name, err),
				"set TRANSECT_STATE_DIR to a writable folder")
		}
		if free {
			l.Abandoned = l.holder()
			return l, l.writeHolder(&Holder{Name: r.Name, PID: os.Getpid(), Since: r.Now(), Script: r.Script})
		}
		if r.Now().Sub(start) >= r.Wait {
			return nil, l.refused(r)
		}
		if first && r.Waiting != nil {
			r.Waiting(l.holderText(r.Now()))
		}
		if wait.Sleep(ctx, retry) != nil {
			return nil, context.Cause(ctx)
		}
	}
}

func (l *Lock) refused(r Request) error {
	waited := ""
	if r.Wait > 0 {
		waited = " after a wait of " + r.Wait.String()
	}
	return fault.Hinted(fault.Of(&fault.LockedError{}, "another run still holds the lock %q%s: %s", r.Name, waited,
		l.holderText(r.Now())),
		"run again when it has ended")
}

// holderText describes the holder, whose file may not be written yet.
func (l *Lock) holderText(now time.Time) string {
	if h := l.holder(); h != nil {
		return h.Describe(now)
	}
	return "a process that has just started"
}

func (l *Lock) holder() *Holder {
	text, err := os.ReadFile(l.holderPath)
	if err != nil {
		return nil
	}
	h := &Holder{}
	if json.Unmarshal(text, h) != nil || h.PID == 0 {
		return nil
	}
	return h
}

func (l *Lock) writeHolder(h *Holder) error {
	text, err := json.Marshal(h)
	if err == nil {
		err = os.WriteFile(l.holderPath, text, 0o600)
	}
	if err != nil {
		l.Release()
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot record the holder of the lock %q: %w", h.Name, err),
			"free disk space, or set TRANSECT_STATE_DIR to another folder")
	}
	return nil
}

// Release releases the lock.
func (l *Lock) Release() {
	_ = os.Remove(l.holderPath)
	_ = l.flock.Unlock() // otherwise the kernel does it at exit
}
