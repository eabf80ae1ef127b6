package repl

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
)

// errAborted is Ctrl-C while a line is typed.
var errAborted = errors.New("the line was discarded")

// Input provides the typed lines to the prompt and to scripts that read standard
// input. A read from a terminal cannot be cancelled: an abandoned read stays
// pending, and its line goes to the next reader.
type Input struct {
	read   func(prompt string) (string, error)
	prompt func(text string) // shows another prompt while a read is pending
	editor *editor           // nil without editing

	// Terminal is where lines are typed; nil if it is not a terminal.
	Terminal *os.File

	mu      sync.Mutex
	pending chan typed
	ctx     context.Context // of the current run: its end cancels reads of the script
	rest    string          // of a line, for the script
	aborts  chan struct{}
	onAbort func()
}

type typed struct {
	line string
	err  error
}

// plainInput reads lines without editing. Prompts, if any, go to out.
func plainInput(from io.Reader, out io.Writer) *Input {
	in := newInput()
	lines := bufio.NewReader(from)
	in.prompt = func(text string) { _, _ = io.WriteString(out, text) } // a failure shows in the read that follows
	in.read = func(prompt string) (string, error) {
		in.prompt(prompt)
		line, err := lines.ReadString('\n')
		if line != "" {
			err = nil
		}
		return strings.TrimRight(line, "\r\n"), err
	}
	return in
}

// TerminalFile returns the terminal that lines are typed on, or nil. Nothing is read from it while an input
// runs, so that commands can use it.
func (in *Input) TerminalFile() *os.File { return in.Terminal }

func newInput() *Input {
	return &Input{aborts: make(chan struct{}, 1), ctx: context.Background(), onAbort: func() {}}
}

// next reads a line.
func (in *Input) next(ctx context.Context, prompt string) (string, error) {
	in.mu.Lock()
	pending := in.pending
	if pending == nil {
		pending = make(chan typed, 1)
		in.pending = pending
		go func() {
			line, err := in.read(prompt)
			pending <- typed{line, err}
		}()
	} else {
		in.prompt(prompt)
	}
	in.mu.Unlock()
	select {
	case t := <-pending:
		in.mu.Lock()
		in.pending = nil
		in.mu.Unlock()
		return t.line, t.err
	case <-in.aborts:
		return "", errAborted
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// abort discards the line that is typed.
func (in *Input) abort() {
	select {
	case in.aborts <- struct{}{}:
	default:
	}
}

// during lets a script read until ctx ends.
func (in *Input) during(ctx context.Context) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ctx, in.rest = ctx, ""
}

// Read provides a script with input.
func (in *Input) Read(p []byte) (int, error) {
	in.mu.Lock()
	ctx, rest := in.ctx, in.rest
	in.mu.Unlock()
	if rest == "" {
		line, err := in.next(ctx, "")
		if errors.Is(err, errAborted) {
			in.onAbort()
		}
		if err != nil {
			return 0, err
		}
		rest = line + "\n"
	}
	n := copy(p, rest)
	in.mu.Lock()
	in.rest = rest[n:]
	in.mu.Unlock()
	return n, nil
}

func (in *Input) close() {
	if in.editor != nil {
		in.editor.close()
	}
}
