package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Effect is something that a script does outside of the platform.
type Effect struct {
	Kind EffectKind
	What string // the path of a file, a command, an address
	To   string // the new path of a file that is moved
	// Answers reports that the effect returns what only its happening can tell.
	Answers bool
}

// EffectKind says what an effect does.
type EffectKind string

// The kinds of effects. Those of files have paths.
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

// Unknown reports whether there is no such kind of effect.
func Unknown(kind EffectKind) bool {
	switch kind {
	case CreateFile, ChangeFile, RemoveFile, MoveFile, CreateFolder, RemoveFolder, Download, RunProgram,
		SendRequest, SendMail,
		KeepState, SubmitJob:
		return false
	}
	return true
}

// Effects decides whether an effect happens. One that does not is carried out in the
// shadow of the sandbox, if it can be, where only the script sees it.
type Effects func(ctx context.Context, e Effect) (happens bool, err error)

// Guarded reports whether paths may lead elsewhere than on the disk, or be refused.
func (s *Sandbox) Guarded() bool { return s.Restricted() || s.effects != nil }

// Seals reports whether effects are decided about.
func (s *Sandbox) Seals() bool { return s.effects != nil }

// Happens reports whether an effect may happen.
func (s *Sandbox) Happens(ctx context.Context, e Effect) (bool, error) {
	if s.effects == nil {
		return true, nil
	}
	return s.effects(ctx, e)
}

// changes reports whether a change of a file happens on the disk. Temporary files of the
// script are its own.
func (s *Sandbox) changes(ctx context.Context, kind EffectKind, path, to string) (bool, error) {
	if s.effects == nil || s.shadow.private(path) && (to == "" || s.shadow.private(to)) {
		return true, nil
	}
	return s.effects(ctx, Effect{Kind: kind, What: path, To: to})
}

// TempDir makes a temporary folder of the script, which Close removes. What happens in it
// is no effect.
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

// Private makes a folder, which is removed after the run or belongs to it, the script's
// own: what happens in it is no effect.
func (s *Sandbox) Private(dir string) {
	if s.shadow != nil {
		s.shadow.own(filepath.Clean(dir), Canonical(dir))
	}
}

// IsPrivate reports whether what happens to a path is no effect.
func (s *Sandbox) IsPrivate(path string) bool { return s.shadow != nil && s.shadow.private(path) }

// Sealed reports whether no effect happens: the run is a rehearsal, or only its writes to
// the platform were agreed to.
func (s *Sandbox) Sealed() bool { return s.sealed }

// Instead returns the path of a copy of a database, with the further files that its name
// with an ending has, for a run that must not change it.
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

// Close removes temporary folders, and what was carried out in the shadow.
func (s *Sandbox) Close() {
	for _, dir := range s.temporary {
		_ = os.RemoveAll(dir)
	}
	if s.shadow != nil {
		s.shadow.close()
	}
}
