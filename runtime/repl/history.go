package repl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
)

const (
	mostRemembered = 1000      // inputs
	longestEntry   = 400       // bytes of several lines that are kept as one
	largestHistory = 256 << 10 // bytes of the file, from which it is cut down
)

// history is the file of what was typed, for every prompt of this person. Each
// input is added when it was typed: what one prompt adds another does not
// lose, and a killed one has lost nothing.
type history struct {
	path   string
	failed bool
	tell   func(string)
}

func openHistory(dir string, tell func(string)) *history {
	return &history{path: filepath.Join(dir, "history"), tell: tell}
}

// read gives what is remembered, oldest first.
func (h *history) read() []string {
	content, err := os.ReadFile(h.path)
	if err != nil {
		if !os.IsNotExist(err) {
			h.fail(err)
		}
		return nil
	}
	return lastLines(content)
}

func lastLines(content []byte) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.ToValidUTF8(string(content), "?"), "\n") {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-mostRemembered):]
}

// add remembers entries of one line each.
func (h *history) add(entries []string) {
	if h.failed || len(entries) == 0 {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		h.fail(err)
		return
	}
	lock := flock.New(h.path + ".lock")
	if err := lock.Lock(); err != nil {
		h.fail(err)
		return
	}
	defer func() { _ = lock.Unlock() }()
	if err := h.append(strings.Join(entries, "\n") + "\n"); err != nil {
		h.fail(err)
	}
}

func (h *history) append(text string) error {
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
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
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil || info.Size() < largestHistory {
		return err
	}
	return h.cut()
}

// cut keeps the newest half, beside and then in place of the old file.
func (h *history) cut() error {
	content, err := os.ReadFile(h.path)
	if err != nil {
		return err
	}
	content = content[len(content)-min(len(content), largestHistory/2):]
	if at := bytes.IndexByte(content, '\n'); at >= 0 {
		content = content[at+1:]
	}
	return atomicfile.Write(h.path, content, 0o600)
}

// fail tells once that nothing is remembered: the prompt works without.
func (h *history) fail(err error) {
	h.failed = true
	h.tell(fmt.Sprintf("what is typed will not be remembered: %v", err))
}

// keep remembers an input: in the editor, and in the file unless it may hold a
// secret or begins with a space.
func (s *Session) keep(text string) {
	if s.history == nil || strings.TrimSpace(text) == "" {
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

// entriesOf makes one line of an input of several, where that means the same.
func entriesOf(text string) []string {
	lines := strings.Split(text, "\n")
	if len(text) <= longestEntry && !strings.Contains(text, "--") && !strings.Contains(text, "[[") &&
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
