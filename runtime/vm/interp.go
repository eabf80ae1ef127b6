// Package vm is the interpreter room: one Lua interpreter, one lock, many
// tasks. It owns what crosses the border between Lua and Go — values, errors,
// blocking calls, cancellation — and the way modules declare themselves, so
// that modules only say what they do.
package vm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Options is everything an interpreter may touch of the outside world. Zero
// values mean the process's own streams, environment, clock and folder.
type Options struct {
	Stdout, Stderr io.Writer
	OutCopy        io.Writer // gets what Stdout gets, if not nil
	ErrCopy        io.Writer // gets what Stderr gets, but for status lines, if not nil
	Stdin          io.Reader
	Env            func(name string) (string, bool)
	Now            func() time.Time
	Dir            string   // folder that relative paths start from; "" is the process's
	Script         string   // arg[0], and where require looks first
	Args           []string // arg[1], arg[2], …
	Path           []string // further folders for require

	Logger   *slog.Logger // where the log module writes; nil makes one from Log, on Stderr
	Log      Log
	Progress ProgressMode

	// Line is told each line that runs, again and again, with the lock held:
	// for coverage. It slows everything down.
	Line func(file string, line int)

	Limits Limits
	Permit func(a Access, what string) error // says what the script may reach; everything when nil

	// Sending is told how many bytes modules are about to send, and may refuse.
	// Optional.
	Sending func(n int64) error
}

// Log says how the log module writes.
type Log struct {
	JSON  bool // JSON lines instead of text
	Level slog.Level
}

// ProgressMode says how progress is shown on Options.Stderr.
type ProgressMode int

// Auto draws a bar on a terminal, writes JSON lines where the log does, and
// plain lines elsewhere.
const (
	ProgressAuto ProgressMode = iota
	ProgressBar
	ProgressPlain
	ProgressJSON
	ProgressQuiet
)

func (o Options) withDefaults() Options {
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	// A progress line at the bottom of the terminal must survive other output.
	screen := &Screen{out: o.Stderr, copy: o.ErrCopy}
	o.Stderr, o.Stdout = screen, beside{screen, o.Stdout, o.OutCopy}
	if o.Logger == nil {
		o.Logger = newLogger(o.Stderr, o.Log)
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Interp is an interpreter and the handle modules get. Its methods may be
// called from any goroutine unless they say otherwise; runs follow one another.
type Interp struct {
	opt    Options
	main   *lua.LState
	lock   *lock
	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup
	runs   sync.Mutex // one run at a time

	movement movement
	environ  environ
	tally    tally
	drain    drain
	stopping sync.Mutex              // guards run, which Interrupt uses without the lock
	run      context.CancelCauseFunc // ends the run under way, nil between runs

	// Everything below belongs to whoever holds the lock.
	modules map[string]*Module
	loading map[string]*loading
	state   map[any]any
	types   map[*Type]*lua.LTable
	errors  *lua.LTable
	idle    []*lua.LState
	owner   map[*lua.LState]*lua.LState
	maxText int
	closers []func()
	spent   int64    // instructions
	folders []string // where require finds modules, true paths

	stoppedAt []Frame     // where the run under way was stopped
	protos    protos      // for naming what an error is about
	lasting   *lua.LTable // locals of the prompt; nil elsewhere
}

// OnClose has f called when the interpreter closes. Only for code that runs
// with the lock, as every function called from Lua does.
func (in *Interp) OnClose(f func()) { in.closers = append(in.closers, f) }

var errClosed = errors.New("the interpreter was closed")

// New makes an interpreter with the standard libraries. Cancelling ctx ends
// its runs; Close must be called.
func New(ctx context.Context, opt Options) *Interp {
	in := &Interp{
		opt:     opt.withDefaults(),
		lock:    newLock(),
		modules: map[string]*Module{},
		loading: map[string]*loading{},
		state:   map[any]any{},
		types:   map[*Type]*lua.LTable{},
		owner:   map[*lua.LState]*lua.LState{},
		maxText: defaultMaxText,
		drain:   drain{asked: make(chan struct{})},
	}
	in.environ.base, in.opt.Env = in.opt.Env, in.environ.lookup
	in.ctx, in.cancel = context.WithCancelCause(ctx)
	if most := in.opt.Limits.Memory; most > 0 {
		in.maxText = int(min(int64(in.maxText), most))
		in.watchMemory()
	}
	in.main = newMainThread()
	in.main.SetContext(&clock{Context: in.ctx, in: in, done: in.ctx.Done()})
	in.openErrors()
	in.openBase()
	in.openChunks()
	in.openBounds()
	in.openText()
	in.openTable()
	in.openCoroutines()
	in.openOS()
	in.openStreams()
	in.openRequire()
	in.openDebug()
	in.openArgs()
	return in
}

// Close cancels what still runs, waits for it, and frees the interpreter.
func (in *Interp) Close() {
	in.cancel(errClosed)
	in.runs.Lock()
	defer in.runs.Unlock()
	in.tasks.Wait()
	in.lock.acquire()
	defer in.lock.release()
	for _, f := range in.closers {
		f()
	}
	in.main.Close()
}

// Interrupt ends the run under way with err as its outcome, as Ctrl-C at the
// prompt does; the interpreter stays usable. Call it from a Lua function or
// from any other goroutine.
func (in *Interp) Interrupt(err error) {
	in.stopping.Lock()
	stop := in.run
	in.stopping.Unlock()
	if stop != nil {
		stop(err)
	}
}

// Options returns the outside world of this interpreter, defaults filled in.
func (in *Interp) Options() Options { return in.opt }

// Path turns a path given by a script into one the process can use: relative
// ones start from Options.Dir.
func (in *Interp) Path(path string) string {
	if in.opt.Dir == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(in.opt.Dir, path)
}

// Of returns the interpreter a Lua thread belongs to.
func Of(L *lua.LState) *Interp { return clockOf(L).in }

// State returns what a module keeps per interpreter under key, made by init
// when asked for first. Only for code that runs with the lock, as every
// function called from Lua does. Keys follow the rules of context keys.
func State[T any](in *Interp, key any, init func() T) T {
	if v, ok := in.state[key]; ok {
		return v.(T)
	}
	v := init()
	in.state[key] = v
	return v
}

// Context ends when the interpreter is closed or its run is cancelled from
// outside. What a module keeps running beside the script must end with it.
func (in *Interp) Context() context.Context { return in.ctx }

// Globals lists what every script finds, and of tables what they hold. Not for
// code called from Lua, which has the lock already.
func (in *Interp) Globals() map[string][]string {
	in.lock.acquire()
	defer in.lock.release()
	names := map[string][]string{}
	in.main.G.Global.ForEach(func(k, v lua.LValue) {
		names[k.String()] = nil
		if t, ok := v.(*lua.LTable); ok && t != in.main.G.Global {
			fields := []string{}
			t.ForEach(func(k, _ lua.LValue) { fields = append(fields, k.String()) })
			names[k.String()] = fields
		}
	})
	return names
}
