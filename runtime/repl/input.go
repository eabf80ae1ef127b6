package repl

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
)

// errAborted is Ctrl-C while a line was typed.
var errAborted = errors.New("the line was given up")

// Input gives the lines that are typed, to the prompt and to scripts that read
// standard input. Reading from a terminal cannot be broken off: a reading that
// nobody waits for any more is left under way, and its line goes to whoever
// asks next.
type Input struct {
	read   func(prompt string) (string, error)
	prompt func(text string) // shows another prompt while a reading is under way
	editor *editor           // nil where lines are not edited

	mu      sync.Mutex
	pending chan typed
	ctx     context.Context // of the run under way: its end ends the script's reading
	rest    string          // of a line, for the script
	aborts  chan struct{}
	onAbort func()
}

type typed struct {
	line string
	err  error
}

// Plain reads lines without editing. Prompts, if any, go to out.
func Plain(from io.Reader, out io.Writer) *Input {
	in := newInput()
	lines := bufio.NewReader(from)
	in.prompt = func(text string) { _, _ = io.WriteString(out, text) } // the reading behind it tells of trouble
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

func newInput() *Input {
	return &Input{aborts: make(chan struct{}, 1), ctx: context.Background(), onAbort: func() {}}
}

// next is the next line.
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

// abort gives up the line that is typed.
func (in *Input) abort() {
	select {
	case in.aborts <- struct{}{}:
	default:
	}
}

// during lets a script read while it runs.
func (in *Input) during(ctx context.Context) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ctx, in.rest = ctx, ""
}

// Read gives a script what is typed while it runs.
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
