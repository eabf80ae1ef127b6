// Package debug stops a script at breakpoints, steps and errors, and shows its
// variables.
//
// A Debugger is told of each instruction (vm.Options.Step) and of each error
// (vm.Options.Raised). Where the script is to stop, it calls Debugger.Stopped with the
// interpreter lock held, so that no other task runs Lua. Console is the debugger of a
// terminal, package dap that of editors. Begin reading with Step.
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

// Action is how a stopped script goes on.
type Action int

// Continue runs to the next breakpoint, Into to the next line, Over to the next line of
// the same function or of what called it, Out to what called it. Quit ends the run.
const (
	Continue Action = iota
	Into
	Over
	Out
	Quit
)

// Catch says at which errors the script stops.
type Catch int32

// Uncaught are errors that no code of the script takes.
const (
	Uncaught Catch = iota
	All
	Never
)

// Debugger decides where a script stops. Its methods may be called from any goroutine,
// except Step and Raised.
type Debugger struct {
	Stopped func(*Stop) Action                // asks what to do, and holds the script meanwhile
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
	globals *lua.LTable // as they were before the script
	tasks   *tasks
	stop    *Stop
	goOn    chan struct{} // closed when the script goes on
	action  Action
	task    *vm.Task // that is stepped
	depth   int
	last    lua.LValue // the error stopped at
}

// New makes a debugger that stops at errors that nothing catches.
func New(path func(string) string) *Debugger {
	return &Debugger{Path: path, points: map[string]map[int]*Breakpoint{}, paths: map[string]string{},
		tasks:  &tasks{numbers: map[*vm.Task]int{}, threads: map[*vm.Task]*lua.LState{}},
		Logged: func(string, string, int) {}}
}

// OnError makes a debugger that shows where an error arose that nothing catches, and
// does not stop the script, which runs as fast as without it.
func OnError(path func(string) string, show func(*Stop)) *Debugger {
	d := New(path)
	d.onlyErrors = true
	d.Stopped = func(s *Stop) Action {
		show(s)
		return Continue
	}
	return d
}

// Prepare makes an interpreter with these options tell the debugger what happens.
func (d *Debugger) Prepare(opt *vm.Options) {
	opt.Raised = d.Raised
	if !d.onlyErrors {
		opt.Step = d.Step
	}
}

// TakenFromLedger tells of a write that an earlier start of the run has made.
func (d *Debugger) TakenFromLedger(operation string) {
	d.Logged(operation+" is not sent: its result is taken from the ledger of the run", "", 0)
}

// Pause stops the script at its next instruction. It reports false when that was asked
// for before and has not happened: the script waits for something.
func (d *Debugger) Pause() bool { return !d.pause.Swap(true) }

// Interrupts makes of the first Ctrl-C of a script that runs a request to stop. It passes
// other signals on: also Ctrl-C at the prompt, and the second one where the script waits.
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

// Catch sets at which errors the script stops.
func (d *Debugger) Catch(c Catch) { d.catch.Store(int32(c)) }

// Step is called before each instruction.
func (d *Debugger) Step(L *lua.LState) {
	task := vm.CurrentTask(L)
	if d.stop != nil {
		if task != d.stop.task {
			d.wait(L)
		}
		return // code that the debugger evaluates
	}
	file, line, first := vm.Position(L)
	if line == 0 || strings.HasPrefix(file, "@") { // of a module in the program
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
		return true // back in what called it
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

// Raised is called where an error arises.
func (d *Debugger) Raised(L *lua.LState, v lua.LValue, caught bool) {
	mode := Catch(d.catch.Load())
	if d.stop != nil || mode == Never || mode == Uncaught && caught || v == d.last || vm.CurrentTask(L) == nil {
		return
	}
	d.last = v
	d.tasks.seen(vm.CurrentTask(L), L)
	d.hold(L, &Stop{Reason: "exception", Text: vm.RaisedText(v)})
}

// hold stops the script until somebody says how it goes on.
func (d *Debugger) hold(L *lua.LState, s *Stop) { d.ask(L, d.begin(L, s)) }

// begin holds the other tasks.
func (d *Debugger) begin(L *lua.LState, s *Stop) *Stop {
	s.debugger, s.thread, s.task = d, L, vm.CurrentTask(L)
	s.Waiting = vm.Of(L).Waiting()
	d.stop, d.goOn = s, make(chan struct{})
	return s
}

// end lets the others go on.
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

// waits reports whether a Go function runs, which a task that waits is in.
func waits(L *lua.LState) bool {
	_, line, _ := vm.Position(L)
	return line == 0
}

// quitCode is the exit code of a run that the debugger ends.
const quitCode = 130

// wait keeps another task from going on before the stopped one.
func (d *Debugger) wait(L *lua.LState) {
	goOn := d.goOn
	for d.stop != nil && d.goOn == goOn {
		if _, err := vm.Wait(L, goOn); err != nil {
			return
		}
	}
}

// path is the comparable name of a file.
func (d *Debugger) path(file string) string {
	path, known := d.paths[file]
	if !known {
		path = filepath.Clean(d.Path(file))
		d.paths[file] = path
	}
	return path
}
