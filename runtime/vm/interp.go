// Package vm runs Lua: one interpreter, one lock, many tasks.
//
// It converts values and errors between Lua and Go, releases the interpreter
// lock during blocking calls, counts instructions, applies limits, and cancels
// runs in a way that pcall cannot catch. Tasks are structured: a scope waits for
// the tasks spawned in it.
//
// Modules (stdlib, bindings) come in through Blocking, Raise, ToLua, FromLua,
// Spawn and Interp; the runtime through RunFile and Session. luastd.New makes a
// complete interpreter with Lua's libraries; declared modules are in package
// module. Begin reading at clock.go, lock.go and run.go.
package vm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/sandbox"
)

// Options connect an interpreter with the outside world. Zero values mean the
// process's own streams, environment, clock and folder.
type Options struct {
	Stdout, Stderr io.Writer
	OutCopy        io.Writer // a copy of Stdout, if not nil
	ErrCopy        io.Writer // a copy of Stderr without status lines, if not nil
	Stdin          io.Reader
	Env            func(name string) (string, bool)
	// Located gives the context of a call its line in the script; nil when unused.
	Located func(ctx context.Context, position string) context.Context
	Now     func() time.Time
	Dir     string   // folder that relative paths start from; "" is the process's
	Script  string   // arg[0], and where require looks first
	Run     string   // ID of the run; "" when it has none
	DryRun  bool     // writes to the platform are planned, not sent
	Strict  bool     // what is doubtful is an error
	Agreed  bool     // the user has agreed to what the script writes
	Args    []string // arg[1], arg[2], …
	Command string   // line for a shell that runs the script once more; "" when there is none
	Path    []string // further folders for require

	// Size is set where interpreters live side by side: it returns how many bytes the values take that others lead to,
	// and may stop beyond most. The limits are then those of each run, stacks grow as needed, and deep calls are slower.
	Size func(from []lua.LValue, most uint64) uint64

	InRun *Run        // what the run keeps for the script; nil where there is none
	State map[any]any // of modules, see Set

	// Module returns the source of a module that is not a file; nil for none.
	Module func(name string) (file string, code []byte)
	// Visible shows the hidden characters of what the script prints on terminals.
	Visible bool

	Logger   *slog.Logger // where the log module writes; nil makes one from Log, on Stderr
	Log      Log
	Progress ProgressMode

	// Line is called with the line of each instruction, with the lock held, for
	// coverage. It is slow.
	Line func(file string, line int)

	Observer Observer // measures where the time goes; may be nil

	// Step is called before each instruction of a run with the thread, for a debugger. It is
	// slow. Raised is called where an error arises, before anything is left; caught says
	// whether the script catches it. Both hold the lock.
	Step   func(L *lua.LState)
	Raised func(L *lua.LState, v lua.LValue, caught bool)

	// Code receives each script and module before it runs. Optional.
	Code func(file string, code []byte)

	// Effects decide about what a script does outside of the platform: to files and state,
	// with programs, requests that write, mails and jobs. Everything happens when nil.
	Effects *sandbox.Effects

	Limits Limits
	Permit func(a sandbox.Access, what string) error // checks what the script may reach; nil permits everything

	// Leased is called before the script connects to anything or starts a program. It waits while a job is not
	// leased, and refuses when it is lost. Optional.
	Leased func() error

	// Sending is called before modules send n bytes, and may refuse. Optional.
	Sending func(n int64) error
}

// Set sets the value of a key that modules read with State.
func (o *Options) Set(key, value any) {
	o.State = maps.Clone(o.State)
	if o.State == nil {
		o.State = map[any]any{}
	}
	o.State[key] = value
}

// Log configures the log module.
type Log struct {
	JSON  bool // JSON lines instead of text
	Level slog.Level
}

// ProgressMode is how progress is shown on Options.Stderr.
type ProgressMode int

// ProgressAuto draws a bar on a terminal, writes JSON lines where the log does,
// and plain lines elsewhere.
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
	screen := &Console{out: o.Stderr, copy: o.ErrCopy, visible: o.Visible}
	o.Stderr, o.Stdout = screen, consoleOut{screen, o.Stdout, o.OutCopy}
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
	*sandbox.Sandbox

	opt    Options
	main   *lua.LState
	lock   *lock
	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup
	runs   sync.Mutex // one run at a time

	transfers sync.Map // the keys are *func(delta int64): who is notified
	items     itemCounter
	stop      gracefulStop
	memory    *memory
	run       atomic.Pointer[context.CancelCauseFunc] // ends the run under way, nil between runs

	// The lock guards everything below.
	loaders  map[string]func(L *lua.LState) lua.LValue
	state    map[any]any
	errors   *lua.LTable
	idle     []*guard
	idleDeep []*guard
	outside  Task // what protected calls outside of runs belong to
	deep     int  // threads with a whole stack of calls
	maxText  int
	closers  []func()
	current  *clock // of what runs, or ran last
	root     *Task  // of the run under way
	spent    int64  // instructions of earlier slices
	longest  int    // what one instruction may go through, in bytes; 0 while that is little
	built    int64  // bytes built since memory was measured
	blocked  int    // tasks that wait for something outside of Lua

	stoppedAt []Frame             // where the run under way was stopped
	locals    map[string][]string // names of the locals of compiled chunks, for suggestions
	written   map[string]writtenKeys
	lasting   *lua.LTable // locals of the prompt; nil elsewhere

	named   map[string]map[writtenCall][]NilArgument // of calls, by file
	doubted map[string]bool                          // what Doubt has warned of
	results map[string]*lua.LTable                   // metatables of results, by what they are of

	exact lua.LString // the last text that a script raised itself
	last  last        // details of the latest error that was a text
}

// OnClose registers f to be called when the interpreter closes. It needs the
// lock, which functions called from Lua hold.
func (in *Interp) OnClose(f func()) { in.closers = append(in.closers, f) }

var errClosed = errors.New("the interpreter was closed")

// New makes an interpreter with the standard libraries. Cancelling ctx ends
// its runs; Close must be called.
func New(ctx context.Context, opt Options) *Interp {
	in := &Interp{
		opt:     opt.withDefaults(),
		lock:    newLock(),
		loaders: make(map[string]func(L *lua.LState) lua.LValue, 128),
		state:   map[any]any{},
		locals:  map[string][]string{},
		named:   map[string]map[writtenCall][]NilArgument{},
		doubted: map[string]bool{},
		results: map[string]*lua.LTable{},
		written: map[string]writtenKeys{},
		maxText: defaultMaxText,
	}
	maps.Copy(in.state, opt.State)
	in.stop.requested, in.stop.request = context.WithCancelCause(context.Background())
	in.ctx, in.cancel = context.WithCancelCause(ctx)
	if most := in.opt.Limits.Memory; most > 0 {
		in.maxText = int(min(int64(in.maxText), most))
	}
	if opt.Size != nil {
		in.memory = newMemory(in.opt.Limits.Memory, in)
	} else if in.memory = newMemory(in.opt.Limits.Memory, nil); in.memory.most > 0 {
		go in.watchMemory()
	}
	in.Sandbox = sandbox.Open(sandbox.Options{Permit: opt.Permit, Leased: opt.Leased, Sending: opt.Sending,
		Env: in.opt.Env, MaxFile: in.maxText, Fits: in.Fits, Effects: opt.Effects})
	in.opt.Env = in.Getenv
	in.main = newMainThread(opt.Size != nil)
	in.main.SetContext(&clock{Context: in.ctx, in: in})
	in.openErrors()
	in.openArithmetic()
	in.openProtect()
	in.openCoroutines()
	in.openArgs()
	return in
}

// Close cancels the run and its tasks, waits for them, and frees the interpreter.
func (in *Interp) Close() {
	in.cancel(errClosed)
	in.runs.Lock()
	defer in.runs.Unlock()
	in.tasks.Wait()
	in.acquire()
	defer in.release()
	for _, f := range in.closers {
		f()
	}
	in.Sandbox.Close()
	in.main.Close()
}

// Locked calls f with the interpreter lock held. Code called from Lua holds it
// already and must not use it.
func (in *Interp) Locked(f func(L *lua.LState)) {
	in.acquire()
	defer in.release()
	f(in.main)
}

// AddLoader sets what require calls for a module that is not a file. It needs
// the lock.
func (in *Interp) AddLoader(name string, load func(L *lua.LState) lua.LValue) {
	in.loaders[name] = load
}

// Loader returns the loader of a module, or nil. It needs the lock.
func (in *Interp) Loader(name string) func(L *lua.LState) lua.LValue { return in.loaders[name] }

// Loaders lists the modules that have a loader, sorted. It needs the lock.
func (in *Interp) Loaders() []string { return slices.Sorted(maps.Keys(in.loaders)) }

// MaxText returns the limit of what one call of a string function may build, in bytes.
func (in *Interp) MaxText() int { return in.maxText }

// TempDir makes a temporary folder that is removed when the interpreter closes.
func (in *Interp) TempDir(pattern string) (string, error) {
	for _, a := range []sandbox.Access{sandbox.Write, sandbox.Read} {
		if err := in.Permit(a, os.TempDir()); err != nil {
			return "", err
		}
	}
	return in.Sandbox.TempDir(pattern)
}

// Interrupt ends the run under way with err as its outcome, as Ctrl-C at the
// prompt does; the interpreter stays usable. Call it from a Lua function or
// from any other goroutine.
func (in *Interp) Interrupt(err error) {
	if stop := in.run.Load(); stop != nil {
		(*stop)(err)
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

// State returns per-interpreter state of a module, made by init at first use. It
// needs the lock, which functions called from Lua hold. Keys follow the rules of
// context keys.
func State[T any](in *Interp, key any, init func() T) T {
	if v, ok := in.state[key]; ok {
		return v.(T)
	}
	v := init()
	in.state[key] = v
	return v
}

// Context ends when the interpreter is closed or cancelled from outside.
// Background work of modules must end with it.
func (in *Interp) Context() context.Context { return in.ctx }

// Globals lists the global names, and of tables their fields. Code called from
// Lua holds the lock already and must not use it.
func (in *Interp) Globals() map[string][]string {
	names := map[string][]string{}
	in.Locked(func(L *lua.LState) {
		L.G.Global.ForEach(func(k, v lua.LValue) {
			names[k.String()] = nil
			if t, ok := v.(*lua.LTable); ok && t != L.G.Global {
				fields := []string{}
				t.ForEach(func(k, _ lua.LValue) { fields = append(fields, k.String()) })
				names[k.String()] = fields
			}
		})
	})
	return names
}

// defaultMaxText bounds what one call of a string function may build, in bytes.
// Such a call is a single instruction, which the clock cannot interrupt.
const defaultMaxText = 256 << 20
