package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Effect is a side effect of a script outside of the platform.
type Effect struct {
	Kind EffectKind
	What string // the path of a file, a command, an address
	To   string // the new path of a moved file
	// Answers reports whether the effect returns something that is only known once it happens.
	Answers bool
}

// EffectKind is the kind of an effect.
type EffectKind string

// The kinds of effects. Effects on files have paths.
const (
	CreateFile   EffectKind = "create file"
	ChangeFile   EffectKind = "change file"
	RemoveFile   EffectKind = "remove file"
	MoveFile     EffectKind = "move file"
	CreateFolder EffectKind = "create folder"
	RemoveFolder EffectKind = "remove folder"
	Download     EffectKind = "download"
	RunProgram   EffectKind = "run"
	SendRequest  EffectKind = "request"
	SendMail     EffectKind = "mail"
	KeepState    EffectKind = "keep"
	SubmitJob    EffectKind = "submit"
)

// Unknown reports whether a kind of effect does not exist.
func Unknown(kind EffectKind) bool {
	switch kind {
	case CreateFile, ChangeFile, RemoveFile, MoveFile, CreateFolder, RemoveFolder, Download, RunProgram,
		SendRequest, SendMail,
		KeepState, SubmitJob:
		return false
	}
	return true
}

// Effects decides whether an effect happens. Otherwise it is carried out in the shadow of the sandbox, if
// possible, where only the script sees it.
type Effects func(ctx context.Context, e Effect) (happens bool, err error)

// Guarded reports whether paths may be redirected or refused.
func (s *Sandbox) Guarded() bool { return s.Restricted() || s.effects != nil }

// Seals reports whether effects are subject to a decision.
func (s *Sandbox) Seals() bool { return s.effects != nil }

// Happens reports whether an effect may happen.
func (s *Sandbox) Happens(ctx context.Context, e Effect) (bool, error) {
	if s.effects == nil {
		return true, nil
	}
	return s.effects(ctx, e)
}

// changes reports whether a change of a file happens on disk. Temporary files of the script always do.
func (s *Sandbox) changes(ctx context.Context, kind EffectKind, path, to string) (bool, error) {
	if s.effects == nil || s.shadow.private(path) && (to == "" || s.shadow.private(to)) {
		return true, nil
	}
	return s.effects(ctx, Effect{Kind: kind, What: path, To: to})
}

// TempDir creates a temporary folder of the script, which Close removes. Changes in it are not effects.
func (s *Sandbox) TempDir(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err == nil {
		s.mu.Lock()
		s.temporary = append(s.temporary, dir)
		s.mu.Unlock()
		s.Private(dir)
	}
	return dir, err
}

// Private makes a folder, which is removed after the run or belongs to it, the script's own: changes in it
// are not effects.
func (s *Sandbox) Private(dir string) {
	if s.shadow != nil {
		s.shadow.own(filepath.Clean(dir), Canonical(dir))
	}
}

// IsPrivate reports whether changes to a path are not effects.
func (s *Sandbox) IsPrivate(path string) bool { return s.shadow != nil && s.shadow.private(path) }

// Sealed reports whether no effect happens: the run is a rehearsal, or only its writes to the platform were
// approved.
func (s *Sandbox) Sealed() bool { return s.sealed }

// Instead returns the path of a copy of a database, including files with further endings of its name, for a
// run that must not change it.
func (s *Sandbox) Instead(path string, endings ...string) (string, error) {
	s.shadow.mu.Lock()
	copied, err := s.shadow.fresh(filepath.Base(path))
	s.shadow.mu.Unlock()
	for _, ending := range append([]string{""}, endings...) {
		if err == nil {
			err = copyFile(path+ending, copied+ending, 0o600)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return copied, err
}

// Close removes temporary folders and the shadow.
func (s *Sandbox) Close() {
	for _, dir := range s.temporary {
		_ = os.RemoveAll(dir)
	}
	if s.shadow != nil {
		s.shadow.close()
	}
}
