package repl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
)

const (
	maxEntries = 1000      // inputs
	maxJoined  = 400       // bytes of a multi-line input stored as one line
	maxHistory = 256 << 10 // bytes at which the file is truncated
)

// history is the file of inputs, shared by all prompts of the user. Each input is appended as it is typed, so
// that concurrent or killed prompts lose nothing.
type history struct {
	path   string
	failed bool
	warn   func(string)
}

func openHistory(dir string, warn func(string)) *history {
	return &history{path: filepath.Join(dir, "history"), warn: warn}
}

// read returns the entries, oldest first.
func (h *history) read() []string {
	content, err := os.ReadFile(h.path)
	if err != nil {
		if !os.IsNotExist(err) {
			h.fail(err)
		}
		return nil
	}
	lines := slices.DeleteFunc(strings.Split(strings.ToValidUTF8(string(content), "?"), "\n"),
		func(line string) bool { return line == "" })
	return lines[max(0, len(lines)-maxEntries):]
}

// add appends one-line entries.
func (h *history) add(entries []string) {
	if h.failed || len(entries) == 0 {
		return
	}
	if err := h.append(strings.Join(entries, "\n") + "\n"); err != nil {
		h.fail(err)
	}
}

func (h *history) append(text string) error {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	lock := flock.New(h.path + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err = errors.Join(err, f.Close()); err != nil || info.Size() < maxHistory {
		return err
	}
	return h.truncate()
}

// truncate keeps the newest half.
func (h *history) truncate() error {
	content, err := os.ReadFile(h.path)
	if err != nil {
		return err
	}
	content = content[len(content)-min(len(content), maxHistory/2):]
	if at := bytes.IndexByte(content, '\n'); at >= 0 {
		content = content[at+1:]
	}
	return atomicfile.Write(h.path, content, 0o600)
}

// fail reports once that the history does not work; the prompt continues without it.
func (h *history) fail(err error) {
	h.failed = true
	h.warn(fmt.Sprintf("the history is not available: %v", err))
}

// remember adds an input to the history of the editor, and to the file unless it
// may contain a secret or begins with a space.
func (s *Session) remember(text string) {
	if s.history == nil || strings.TrimSpace(text) == "" || text == showRest {
		return
	}
	entries := entriesOf(text)
	if e := s.cfg.Input.editor; e != nil {
		e.remember(entries...)
	}
	if !secret(text) && !strings.HasPrefix(text, " ") {
		s.history.add(entries)
	}
}

// entriesOf joins the lines of an input when that does not change its meaning.
func entriesOf(text string) []string {
	lines := strings.Split(text, "\n")
	if len(text) <= maxJoined && !strings.Contains(text, "--") && !strings.Contains(text, "[[") &&
		!strings.Contains(text, "[=") && !strings.Contains(text, "\\\n") {
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
		}
		return []string{strings.Join(lines, " ")}
	}
	var entries []string
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			entries = append(entries, strings.TrimRight(line, "\r"))
		}
	}
	return entries
}
