// Package debug stops a script at breakpoints, steps and errors, and shows its variables.
//
// A Debugger is called for each instruction (vm.Options.Step) and for each error (vm.Options.Raised). Where
// the script should stop, it calls Debugger.Stopped with the interpreter lock held, so that no other task
// runs Lua. Console is the debugger of a terminal, package dap serves editors. Begin reading with Step.
package debug

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// Action defines how a stopped script continues.
type Action int

// Continue runs to the next breakpoint, Into to the next line, Over to the next line of the same function or
// its caller, Out to its caller. Quit ends the run.
const (
	Continue Action = iota
	Into
	Over
	Out
	Quit
)

// Catch defines the errors at which the script stops.
type Catch int32

// Uncaught errors are errors that no code of the script catches.
const (
	Uncaught Catch = iota
	All
	Never
)

// Debugger decides where a script stops. Its methods may be called from any goroutine,
// except Step and Raised.
type Debugger struct {
	Stopped func(*Stop) Action                // decides what to do, and blocks the script meanwhile
	Logged  func(text, file string, line int) // of log points
	Path    func(file string) string          // makes the names of files comparable

	onlyErrors bool

	pause  atomic.Bool
	held   atomic.Bool
	catch  atomic.Int32
	mu     sync.Mutex
	points map[string]map[int]*Breakpoint // by file and line
	lastID int

	// The interpreter lock guards everything below.
	paths   map[string]string
	globals *lua.LTable // before the script started
	tasks   *tasks
	stop    *Stop
	goOn    chan struct{} // closed when the script continues
	action  Action
	task    *vm.Task // being stepped
	depth   int
	last    lua.LValue // the error stopped at
}

// New returns a debugger that stops at uncaught errors.
func New(path func(string) string) *Debugger {
	return &Debugger{Path: path, points: map[string]map[int]*Breakpoint{}, paths: map[string]string{},
		tasks:  &tasks{numbers: map[*vm.Task]int{}, threads: map[*vm.Task]*lua.LState{}},
		Logged: func(string, string, int) {}}
}

// OnError returns a debugger that shows where an uncaught error is raised. It does not stop the script, which
// runs at full speed.
func OnError(path func(string) string, show func(*Stop)) *Debugger {
	d := New(path)
	d.onlyErrors = true
	d.Stopped = func(s *Stop) Action {
		show(s)
		return Continue
	}
	return d
}

var _ interface{ Prepare(*vm.Options) } = (*Debugger)(nil) // a part of runs

// Prepare adds the debugger's hooks to the options of an interpreter.
func (d *Debugger) Prepare(opt *vm.Options) {
	opt.Raised = d.Raised
	if !d.onlyErrors {
		opt.Step = d.Step
	}
}

// TakenFromLedger logs a write that an earlier start of the run has made.
func (d *Debugger) TakenFromLedger(operation string) {
	d.Logged(operation+" is not sent: its result is taken from the ledger of the run", "", 0)
}

// Pause stops the script at its next instruction. It returns false if a previous pause has not happened yet:
// the script waits for something.
func (d *Debugger) Pause() bool { return !d.pause.Swap(true) }

// Interrupts converts the first Ctrl-C while a script runs to a pause. It passes other signals on, including
// Ctrl-C at the prompt, and a second one while the script waits.
func (d *Debugger) Interrupts(in <-chan os.Signal) <-chan os.Signal {
	out := make(chan os.Signal, 1)
	go func() {
		for s := range in {
			if s != os.Interrupt || d.held.Load() || !d.Pause() {
				out <- s
			}
		}
	}()
	return out
}

// StopAtStart stops at the first line. Call it before the run.
func (d *Debugger) StopAtStart() { d.action = Into }

// Catch sets the errors at which the script stops.
func (d *Debugger) Catch(c Catch) { d.catch.Store(int32(c)) }

// Step is called before each instruction.
func (d *Debugger) Step(L *lua.LState) {
	task := vm.CurrentTask(L)
	if d.stop != nil {
		if task != d.stop.task {
			d.wait(L)
		}
		return // code evaluated by the debugger
	}
	file, line, first := vm.Position(L)
	if line == 0 || strings.HasPrefix(file, "@") { // in a built-in module
		return
	}
	d.tasks.seen(task, L)
	if d.globals == nil {
		d.globals = L.NewTable()
		L.G.Global.ForEach(func(k, _ lua.LValue) { d.globals.RawSet(k, lua.LTrue) })
	}
	switch {
	case d.pause.Swap(false):
		d.hold(L, &Stop{Reason: "pause"})
	case d.stepped(L, task, first):
		d.hold(L, &Stop{Reason: "step"})
	case first:
		d.last = nil
		if b := d.point(d.path(file), line); b != nil {
			d.reach(L, b)
		}
	}
}

// stepped reports whether a step ends here.
func (d *Debugger) stepped(L *lua.LState, task *vm.Task, first bool) bool {
	if d.action == Continue || d.task != nil && task != d.task {
		return false
	}
	if d.action == Into && first {
		return true
	}
	switch depth := vm.Depth(L); {
	case depth < d.depth:
		return true // returned to the caller
	case depth == d.depth:
		return d.action == Over && first
	}
	return false
}

// reach is called at a breakpoint.
func (d *Debugger) reach(L *lua.LState, b *Breakpoint) {
	s := d.begin(L, &Stop{Reason: "breakpoint", Breakpoint: b})
	if b.Condition != "" {
		switch values, err := s.Evaluate(0, b.Condition); {
		case err != nil:
			s.Text = "the condition of the breakpoint failed: " + err.Error()
		case len(values) == 0 || lua.LVIsFalse(values[0]):
			d.end()
			return
		}
	}
	if b.Log != "" && s.Text == "" {
		d.Logged(s.fill(b.Log), b.File, b.Line)
		d.end()
		return
	}
	d.ask(L, s)
}

// Raised is called where an error is raised.
func (d *Debugger) Raised(L *lua.LState, v lua.LValue, caught bool) {
	mode := Catch(d.catch.Load())
	if d.stop != nil || mode == Never || mode == Uncaught && caught || v == d.last || vm.CurrentTask(L) == nil {
		return
	}
	d.last = v
	d.tasks.seen(vm.CurrentTask(L), L)
	d.hold(L, &Stop{Reason: "exception", Text: vm.RaisedText(v)})
}

// hold stops the script until a command continues it.
func (d *Debugger) hold(L *lua.LState, s *Stop) { d.ask(L, d.begin(L, s)) }

// begin blocks the other tasks.
func (d *Debugger) begin(L *lua.LState, s *Stop) *Stop {
	s.debugger, s.thread, s.task = d, L, vm.CurrentTask(L)
	s.Waiting = vm.Of(L).Waiting()
	d.stop, d.goOn = s, make(chan struct{})
	return s
}

// end unblocks the other tasks.
func (d *Debugger) end() {
	d.stop = nil
	close(d.goOn)
}

func (d *Debugger) ask(L *lua.LState, s *Stop) {
	d.pause.Store(false)
	d.held.Store(true)
	d.action = d.Stopped(s)
	d.held.Store(false)
	d.task, d.depth = s.task, vm.Depth(L)
	if task, thread := d.tasks.thread(s.followed); task != nil && task != s.task {
		if d.task, d.depth = task, vm.Depth(thread); waits(thread) {
			d.depth--
		}
	}
	if d.action == Quit {
		d.action = Continue
		vm.Of(L).Interrupt(&vm.Exit{Code: quitCode})
	}
	d.end()
}

// waits reports whether a Go function is running, as in a waiting task.
func waits(L *lua.LState) bool {
	_, line, _ := vm.Position(L)
	return line == 0
}

// quitCode is the exit code of a run ended by the debugger.
const quitCode = 130

// wait blocks another task while the script is stopped.
func (d *Debugger) wait(L *lua.LState) {
	goOn := d.goOn
	for d.stop != nil && d.goOn == goOn {
		if _, err := vm.Wait(L, goOn); err != nil {
			return
		}
	}
}

// path returns the comparable name of a file.
func (d *Debugger) path(file string) string {
	path, ok := d.paths[file]
	if !ok {
		path = filepath.Clean(d.Path(file))
		d.paths[file] = path
	}
	return path
}
