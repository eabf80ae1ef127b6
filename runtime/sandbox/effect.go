package sandbox

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client/fault"
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

// Effects decide which effects happen.
type Effects struct {
	// Happens reports whether an effect happens. Otherwise it is carried out in the shadow, if possible, where only
	// the script sees it.
	Happens func(ctx context.Context, e Effect) (bool, error)
	None    bool // no effect happens: the run is a rehearsal, or only its writes to the platform were approved
	Shadow  Shadow
}

// Shadow holds file changes that are not made on disk, see runtime/shadow.
type Shadow interface {
	// Own makes folders the script's: what it changes in them is changed on disk. Private reports whether a path is
	// in one.
	Own(folders ...string)
	Private(path string) bool
	// Changed reports whether anything was changed.
	Changed() bool
	// Look returns a path as the script sees it, absolute and without links, and the location of its content, ""
	// when there is none. It follows a link at the end if follow is set.
	Look(path string, follow bool) (seen, real string)
	Stat(path string, follow bool) (fs.FileInfo, error)
	Open(path string, flag int, perm os.FileMode) (*os.File, error)
	// Create returns a folder in which a file will be created under the name of a path.
	Create(path string) (folder *os.Root, name string, err error)
	// Copy returns the path of a copy of a file, including files with further endings of its name.
	Copy(path string, endings ...string) (string, error)
	MakeFolder(path string) error
	Remove(path string, all bool) error
	Rename(from, to string) error
	Close()
}

// NotPlanned returns the error for a file whose content or change cannot be planned.
func NotPlanned(path string) error {
	return fault.Hinted(fault.Of(&fault.PlanError{}, "%s is a device or a pipe: what is done with it cannot be planned",
		path), "use a file, or run the script without a plan")
}

// Guarded reports whether paths may be redirected or refused.
func (s *Sandbox) Guarded() bool { return s.Restricted() || s.effects != nil }

// Seals reports whether effects are subject to a decision.
func (s *Sandbox) Seals() bool { return s.effects != nil }

// Happens reports whether an effect may happen.
func (s *Sandbox) Happens(ctx context.Context, e Effect) (bool, error) {
	if s.effects == nil {
		return true, nil
	}
	return s.effects.Happens(ctx, e)
}

// changes reports whether a change of a file happens on disk. Temporary files of the script always do.
func (s *Sandbox) changes(ctx context.Context, kind EffectKind, path, to string) (bool, error) {
	if s.effects == nil || s.effects.Shadow.Private(path) && (to == "" || s.effects.Shadow.Private(to)) {
		return true, nil
	}
	return s.effects.Happens(ctx, Effect{Kind: kind, What: path, To: to})
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
	if s.effects != nil {
		s.effects.Shadow.Own(filepath.Clean(dir), Canonical(dir))
	}
}

// IsPrivate reports whether changes to a path are not effects.
func (s *Sandbox) IsPrivate(path string) bool {
	return s.effects != nil && s.effects.Shadow.Private(path)
}

// Sealed reports whether no effect happens.
func (s *Sandbox) Sealed() bool { return s.effects != nil && s.effects.None }

// Instead returns the path of a copy of a database, including files with further endings of its name, for a
// run that must not change it.
func (s *Sandbox) Instead(path string, endings ...string) (string, error) {
	return s.effects.Shadow.Copy(path, endings...)
}

// Close removes temporary folders and the shadow.
func (s *Sandbox) Close() {
	for _, dir := range s.temporary {
		_ = os.RemoveAll(dir)
	}
	if s.effects != nil {
		s.effects.Shadow.Close()
	}
}
