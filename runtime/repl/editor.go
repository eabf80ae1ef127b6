package repl

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/peterh/liner"

	"transect/runtime/tty"
)

// editor edits lines on a terminal. Between lines the terminal mode is restored,
// so that input of scripts is echoed and Ctrl-C is a signal.
type editor struct {
	state *liner.State
	found liner.ModeApplier
	raw   liner.ModeApplier

	mu  sync.Mutex
	add []string // to the history, before the next line
}

// remember adds to the history from the next line on: while a line is edited,
// the history is locked.
func (e *editor) remember(entries ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.add = append(e.add, entries...)
}

// editingInput reads lines from the process's terminal with editing. It returns nil
// when the terminal does not support it.
func editingInput() *Input {
	if !liner.TerminalSupported() {
		return nil
	}
	found, err := liner.TerminalMode()
	if err != nil {
		return nil
	}
	e := &editor{state: liner.NewLiner(), found: found}
	if e.raw, err = liner.TerminalMode(); err != nil {
		e.close()
		return nil
	}
	e.state.SetCtrlCAborts(true)
	e.state.SetMultiLineMode(true)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	e.state.SetBeep(false)
	_ = e.found.ApplyMode() // succeeded above
	in := newInput()
	in.editor = e
	in.read = e.read
	in.prompt = func(text string) { _, _ = io.WriteString(os.Stdout, text) }
	return in
}

func (e *editor) read(prompt string) (string, error) {
	_ = e.raw.ApplyMode() // if one of these fails, the prompt below does, too
	_ = tty.DisableSignals(os.Stdin)
	defer func() { _ = e.found.ApplyMode() }()
	e.mu.Lock()
	for _, entry := range e.add {
		e.state.AppendHistory(entry)
	}
	e.add = nil
	e.mu.Unlock()
	line, err := e.state.Prompt(prompt)
	if errors.Is(err, liner.ErrPromptAborted) {
		err = errAborted
	}
	return line, err
}

func (e *editor) close() {
	_ = e.state.Close() // the session is over
	_ = e.found.ApplyMode()
}
