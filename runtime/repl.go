package runtime

import (
	"context"
	"io"
	"net/url"
	"os"
	"sync/atomic"

	"transect/bindings"
	"transect/client"
	"transect/runtime/module"
	"transect/runtime/repl"
	"transect/stdlib"
)

// promptName is what the code typed at the prompt is called in messages.
const promptName = "prompt"

// Repl reads Lua from standard input and runs it as it comes: on a terminal as
// a prompt, elsewhere as a filter that ends with the first error. On a terminal
// the job's time limit is that of one input, and Ctrl-C ends an input only.
func Repl(ctx context.Context, w *World, job Job) error {
	cfg := repl.Config{Name: stdinName, Version: job.Version, Quiet: job.Output.Quiet,
		Terminal: w.IsTerminal(w.Stdin), Out: repl.NewEdge(w.Stdout)}
	own := *w // what this session makes of the world
	own.Stdout = cfg.Out
	if !cfg.Terminal {
		cfg.Input = repl.Plain(w.Stdin, io.Discard)
		job.stdin = cfg.Input
		return perform(ctx, &own, &job, func(r *run, ctx context.Context) error { return r.repl(ctx, cfg, nil) })
	}
	cfg.Name = promptName
	if w.Stdin == os.Stdin && w.IsTerminal(w.Stdout) {
		cfg.Input = repl.Editing()
	}
	if cfg.Input == nil {
		cfg.Input = repl.Plain(w.Stdin, w.Stderr)
	}
	cfg.Timeout, job.Timeout = job.Timeout, 0
	deadly := make(chan os.Signal, 2) // signals that end the session
	own.Signals = deadly
	var started atomic.Pointer[repl.Session] // known before its first prompt: Ctrl-C cannot come too early
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case signal := <-w.Signals:
				if session := started.Load(); signal != os.Interrupt || session == nil || !session.Interrupt() {
					deadly <- signal
				}
			case <-ended:
				return
			}
		}
	}()
	job.stdin = cfg.Input
	return perform(ctx, &own, &job, func(r *run, ctx context.Context) error {
		return r.repl(ctx, cfg, &started)
	})
}

func (r *run) repl(ctx context.Context, cfg repl.Config, started *atomic.Pointer[repl.Session]) error {
	module.Preload(r.in, stdlib.Modules()...)
	binding := bindings.Open(r.in, r.connector.connect)
	first := r.connector.named
	r.connector.tracing.Store(r.job.Trace)
	r.connector.traceable = true
	cfg.Interp = r.in
	cfg.Label = func() string {
		if r.job.DryRun {
			return r.connector.label() + " (dry run)"
		}
		return r.connector.label()
	}
	cfg.Failed = func(err error, source string) error { return quoting(cfg.Name, source, err) }
	cfg.Report = func(err error, source string) {
		out := *r.world
		out.Stderr = r.in.Options().Stderr
		out.IsTerminal = func(any) bool { return r.world.IsTerminal(r.world.Stderr) }
		Report(&out, r.job.Output, quoting(cfg.Name, source, err))
	}
	cfg.Trace = func(on bool) { r.connector.tracing.Store(on) }
	cfg.Profiles = func() ([]string, string) {
		return client.Profiles(r.world.path(r.connector.named.Config)), r.connector.named.Profile
	}
	cfg.Profile = func(name string) error {
		named := first
		if name != "-" {
			named = Connection{Profile: name}.over(first)
			if _, err := r.connector.resolved(named); err != nil {
				return err
			}
		}
		r.connector.named = named
		binding.Reconnect()
		return nil
	}
	session := repl.New(cfg)
	if started != nil {
		started.Store(session)
	}
	return succeeded(session.Run(ctx))
}

// resolved is what a connection comes to, with the configuration file's
// values, before anything is sent.
func (c *connector) resolved(named Connection) (client.Settings, error) {
	var s client.Settings
	if err := c.fill(&s, named); err != nil {
		return s, err
	}
	return s.Resolve()
}

// label names the platform that operations go to, for people to see before
// they type.
func (c *connector) label() string {
	if c.named.Local {
		return "local"
	}
	s := client.Settings{URL: c.named.URL, ConfigPath: c.world.path(c.named.Config), Profile: c.named.Profile}
	s, _ = s.Resolve() // what is missing is told when it is connected
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "":
		return "transect"
	case c.named.Profile != "":
		return c.named.Profile + "@" + u.Host
	}
	return u.Host
}
