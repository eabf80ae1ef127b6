package runtime

import (
	"context"
	"io"
	"net/url"
	"os"
	"sync/atomic"

	"transect/client"
	"transect/runtime/repl"
)

// promptName is the source name of code typed at the prompt.
const promptName = "prompt"

// Repl reads Lua from standard input and runs it as it arrives: interactively
// on a terminal, else as a filter that stops at the first error. On a terminal
// the timeout applies to each input, and Ctrl-C cancels the input only.
func Repl(ctx context.Context, p *Process, job Job) error {
	cfg := repl.Config{Name: stdinName, Version: job.Version, Quiet: job.Output.Quiet,
		Terminal: p.IsTerminal(p.Stdin), Out: repl.NewEdge(p.Stdout)}
	own := *p
	own.Stdout = cfg.Out
	var session atomic.Pointer[repl.Session] // set before its first prompt
	if !cfg.Terminal {
		cfg.Input = repl.Plain(p.Stdin, io.Discard)
	} else {
		cfg.Name = promptName
		cfg.Colours = p.IsTerminal(p.Stdout) && p.Getenv("NO_COLOR") == "" && p.Getenv("TERM") != "dumb"
		cfg.Edit = func(text string) (string, error) { return EditText(ctx, p, "input-*.lua", text) }
		if p.Stdin == os.Stdin && p.IsTerminal(p.Stdout) {
			cfg.Input = repl.Editing()
		}
		if cfg.Input == nil {
			cfg.Input = repl.Plain(p.Stdin, p.Stderr)
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
	job.stdin = cfg.Input
	return perform(ctx, &own, &job, func(x *Execution, ctx context.Context) error {
		return x.repl(ctx, cfg, &session)
	})
}

func (x *Execution) repl(ctx context.Context, cfg repl.Config, started *atomic.Pointer[repl.Session]) error {
	binding := x.loadModules()
	first := x.connector.named
	x.connector.tracing.Store(x.job.Trace)
	x.connector.traceable = true
	cfg.Interp = x.Interp
	cfg.Label = func() string {
		if x.job.DryRun {
			return x.connector.label() + " (dry run)"
		}
		return x.connector.label()
	}
	cfg.Failed = func(err error, source string) error { return withSource(cfg.Name, source, err) }
	cfg.Report = func(err error, source string) {
		out := *x.process
		out.Stderr = x.Interp.Options().Stderr
		out.IsTerminal = func(any) bool { return x.process.IsTerminal(x.process.Stderr) }
		Report(&out, x.job.Output, withSource(cfg.Name, source, err))
	}
	cfg.Trace = func(on bool) { x.connector.tracing.Store(on) }
	cfg.Attach = x.job.Hooks.Attach
	cfg.Profiles = func() ([]string, string) {
		return client.Profiles(x.process.Path(x.connector.named.Config)), x.connector.named.Profile
	}
	cfg.Profile = func(name string) error {
		named := first
		if name != "-" {
			named = Connection{Profile: name}.over(first)
			var s client.Settings
			if err := x.connector.fill(&s, named); err != nil {
				return err
			}
			if _, err := s.Resolve(); err != nil {
				return err
			}
		}
		x.connector.named = named
		binding.Reconnect()
		return nil
	}
	session := repl.New(cfg)
	started.Store(session)
	return withoutSuccess(session.Run(ctx))
}

// label names the platform for the prompt.
func (c *connector) label() string {
	if c.named.Local {
		return "local"
	}
	s := client.Settings{URL: c.named.URL, ConfigPath: c.process.Path(c.named.Config), Profile: c.named.Profile}
	s, _ = s.Resolve() // what is missing is reported when connecting
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "":
		return "transect"
	case c.named.Profile != "":
		return c.named.Profile + "@" + u.Host
	}
	return u.Host
}
