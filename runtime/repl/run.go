package repl

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"transect/runtime"
	textedit "transect/runtime/editor"
)

// promptName is the source name of code typed at the prompt.
const promptName = "prompt"

// Attach describes the running script with a name. A part of the job provides it for the prompt.
type Attach func(name string) (string, error)

// Run reads Lua from standard input and runs it as it arrives: interactively
// on a terminal, else as a filter that stops at the first error. On a terminal
// the timeout applies to each input, and Ctrl-C cancels the input only.
func Run(ctx context.Context, p *runtime.Process, job runtime.Job) error {
	cfg := Config{Name: runtime.StdinName, Version: job.Version, Quiet: job.Output.Quiet,
		Terminal: p.IsTerminal(p.Stdin), Out: NewEdge(p.Stdout)}
	own := *p
	own.Stdout = cfg.Out
	var session atomic.Pointer[Session] // set before its first prompt
	if !cfg.Terminal {
		cfg.Input = plainInput(p.Stdin, io.Discard)
	} else {
		cfg.Name = promptName
		cfg.Colours = p.IsTerminal(p.Stdout) && p.Getenv("NO_COLOR") == "" && p.Getenv("TERM") != "dumb"
		cfg.Edit = func(text string) (string, error) { return textedit.Edit(ctx, p, "input-*.lua", text) }
		if p.Stdin == os.Stdin && p.IsTerminal(p.Stdout) {
			cfg.Input = editingInput()
		}
		if cfg.Input == nil {
			cfg.Input = plainInput(p.Stdin, p.Stderr)
		}
		cfg.Input.Terminal, _ = p.Stdin.(*os.File)
		cfg.Timeout, job.Timeout = job.Timeout, 0
		fatal := make(chan os.Signal, 2) // signals that end the session
		own.Signals = fatal
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			for {
				select {
				case signal := <-p.Signals:
					if s := session.Load(); signal != os.Interrupt || s == nil || !s.Interrupt() {
						fatal <- signal
					}
				case <-ended:
					return
				}
			}
		}()
	}
	job.Stdin = cfg.Input
	return runtime.Perform(ctx, &own, &job, func(x *runtime.Execution, ctx context.Context) error {
		return serve(ctx, x, cfg, &session)
	})
}

// serve reads and runs input within a run.
func serve(ctx context.Context, x *runtime.Execution, cfg Config, started *atomic.Pointer[Session]) error {
	connections := x.Connections(x.Open())
	p, job := x.Process(), x.Job()
	cfg.Interp = x.Interp
	cfg.Label = func() string {
		if job.DryRun {
			return connections.Label() + " (dry run)"
		}
		return connections.Label()
	}
	cfg.Failed = func(err error, source string) error { return runtime.WithSource(cfg.Name, source, err) }
	cfg.Report = func(err error, source string) {
		out := *p
		out.Stderr = x.Interp.Options().Stderr
		out.IsTerminal = func(any) bool { return p.IsTerminal(p.Stderr) }
		runtime.Report(&out, job.Output, runtime.WithSource(cfg.Name, source, err))
	}
	cfg.Trace, cfg.Attach = connections.Trace, runtime.PartOf[Attach](job.Parts)
	cfg.Profiles, cfg.Profile = connections.Profiles, connections.Use
	session := newSession(cfg)
	started.Store(session)
	return runtime.WithoutSuccess(session.Run(ctx))
}
