// Package lock lets one process on this machine do a thing at a time. The
// system frees a lock when its process ends, however it ends. Beside each lock
// a small file tells who holds it; one that was left behind by a process that
// was killed is taken over.
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
)

// Holder is who holds a lock.
type Holder struct {
	Name   string    `json:"name"`
	PID    int       `json:"pid"`
	Since  time.Time `json:"since"`
	Script string    `json:"script,omitempty"`
}

// String is "process 4711 (survey.lua), since 14:02:11 (12m3s)", the last two
// as seen at a moment.
func (h *Holder) at(now time.Time) string {
	text := fmt.Sprintf("process %d", h.PID)
	if h.Script != "" {
		text += " (" + h.Script + ")"
	}
	since := h.Since.In(now.Location())
	layout := time.TimeOnly
	if now.Sub(since) > 12*time.Hour {
		layout = time.DateTime
	}
	return text + fmt.Sprintf(", since %s (%s)", since.Format(layout), max(0, now.Sub(since)).Round(time.Second))
}

// Lock is a lock that is held.
type Lock struct {
	flock *flock.Flock
	told  string // path of the file that tells who holds it

	// Left is the process that held it before and ended without giving it
	// back, or nil.
	Left *Holder
}

// Request is a lock to take.
type Request struct {
	Folder string        // of the locks; made when needed
	Name   string        // what must not be done twice at once
	Script string        // of the run that wants it
	Wait   time.Duration // how long to wait for another one
	Now    func() time.Time

	Waiting func(held string) // told once, before waiting; optional
}

// retry is how often a lock that another one holds is tried.
const retry = 50 * time.Millisecond

// Take takes a lock. A LockedError says who has it.
func Take(ctx context.Context, r Request) (*Lock, error) {
	if err := os.MkdirAll(r.Folder, 0o700); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot make the folder of locks: %w", err),
			"name a folder that can be written in TRANSECT_STATE_DIR")
	}
	sum := sha256.Sum256([]byte(r.Name))
	path := filepath.Join(r.Folder, fmt.Sprintf("%x.lock", sum[:12]))
	l := &Lock{flock: flock.New(path), told: path + ".json"}
	start := r.Now()
	for first := true; ; first = false {
		free, err := l.flock.TryLock()
		if err != nil {
			return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot take the lock %q: %w", r.Name, err),
				"name a folder that can be written in TRANSECT_STATE_DIR")
		}
		if free {
			l.Left = l.holder()
			return l, l.tell(&Holder{Name: r.Name, PID: os.Getpid(), Since: r.Now(), Script: r.Script})
		}
		if r.Now().Sub(start) >= r.Wait {
			return nil, l.refused(r)
		}
		if first && r.Waiting != nil {
			r.Waiting(l.who(r.Now()))
		}
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (l *Lock) refused(r Request) error {
	waited := ""
	if r.Wait > 0 {
		waited = " after a wait of " + r.Wait.String()
	}
	return fault.Hinted(fault.Of(&fault.LockedError{}, "another run still holds the lock %q%s: %s", r.Name, waited, l.who(r.Now())),
		"run again when it has ended")
}

// who is the holder for reading. It has no name yet in the moment between the
// lock and the file that tells of it.
func (l *Lock) who(now time.Time) string {
	if h := l.holder(); h != nil {
		return h.at(now)
	}
	return "a process that has just begun"
}

func (l *Lock) holder() *Holder {
	text, err := os.ReadFile(l.told)
	if err != nil {
		return nil
	}
	h := &Holder{}
	if json.Unmarshal(text, h) != nil || h.PID == 0 {
		return nil
	}
	return h
}

func (l *Lock) tell(h *Holder) error {
	text, err := json.Marshal(h)
	if err == nil {
		err = os.WriteFile(l.told, text, 0o600)
	}
	if err != nil {
		l.Free()
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot write who holds the lock %q: %w", h.Name, err),
			"make room, or name another folder in TRANSECT_STATE_DIR")
	}
	return nil
}

// Free gives the lock back.
func (l *Lock) Free() {
	_ = os.Remove(l.told)
	_ = l.flock.Unlock() // the end of the process does the same
}

// Describe says who left a lock behind.
func (l *Lock) Describe(now time.Time) string { return l.Left.at(now) }
