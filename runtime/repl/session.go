package repl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/transport"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/runtime/vm/mistake"
)

// stuckAfter is how long an interrupted input may continue before the session
// offers to end with it.
const stuckAfter = 2 * time.Second

var errInterrupted = errors.New("interrupted")

// Session is one prompt.
type Session struct {
	cfg     Config
	lua     *vm.Session
	known   map[string]*module.Module
	history *history
	lines   []string // all inputs
	inputs  []input  // inputs that ran
	more    *page    // rest of the last output
	last    page     // the last output, from its start
	fresh   bool     // the rest was offered by the last input
	paging  bool     // the output is for the pager
	typed   string   // the last input, for :edit

	recorded string // the file of :record, "" for none
	script   string // the text last written to it

	standard map[string]bool // globals of every session

	aborted     int  // number of discarded lines
	lastAborted bool // the last line was discarded

	before      atomic.Value                    // lines of the unfinished input, a string
	running     atomic.Pointer[context.Context] // of the current run; it is done between runs
	busy        atomic.Bool                     // with an input, which may be several runs
	interrupted atomic.Bool                     // the current input is
	stuck       atomic.Bool                     // the current input cannot be cancelled
}

// newSession makes a session.
func newSession(cfg Config) *Session {
	s := &Session{cfg: cfg, lua: cfg.Interp.NewSession(), known: maps.Clone(module.Preloaded(cfg.Interp))}
	s.lua.Waits = s.waits
	cfg.Input.onAbort = s.interrupt
	s.defineHelp()
	s.standard = map[string]bool{"_": true}
	s.lua.Inspect(func(locals, globals *lua.LTable) {
		for _, t := range []*lua.LTable{locals, globals} {
			t.ForEach(func(k, _ lua.LValue) { s.standard[k.String()] = true })
		}
	})
	return s
}

// source returns everything typed, for quoting lines of it.
func (s *Session) source() string { return strings.Join(s.lines, "\n") }

// evaluate runs a text and prints its values.
func (s *Session) evaluate(text string) error {
	first := len(s.lines)
	s.lines = append(s.lines, strings.Split(text, "\n")...)
	s.typed = text
	used := s.preload(text)
	code := text
	if returnsValues(text) {
		code = "return " + text
	}
	// Line numbers of errors count from the first input.
	values, err := s.run(func() ([]lua.LValue, error) {
		return s.lua.Run(s.cfg.Name, strings.Repeat("\n", first)+code)
	})
	if err != nil {
		if k := classify(text); k == expression || k == statement {
			s.keep(input{text: text, failed: transport.Redact(err.Error())})
		}
		return err
	}
	s.keep(input{text: text, modules: used})
	err = s.show(values)
	if len(values) == 1 && values[0] == lua.LNil && zeroth().MatchString(text) {
		s.note("hint: " + mistake.Zero)
	}
	return err
}

// zeroth matches the end of a text that reads element 0.
var zeroth = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w)\]]\s*\[\s*0\s*\]\s*$`) })

// show sets _ to the first value and prints all.
func (s *Session) show(values []lua.LValue) error {
	if len(values) == 0 {
		return nil
	}
	s.lua.Set("_", values[0])
	if s.cfg.Terminal {
		s.cfg.Out.newline()
	}
	_, err := s.run(func() ([]lua.LValue, error) {
		return nil, s.lua.Do(func(L *lua.LState) error {
			s.more = s.format(L, values)
			return nil
		})
	})
	if err != nil || s.more == nil {
		return err
	}
	if s.last = *s.more; s.paging {
		return nil
	}
	return s.showPage()
}

// preload requires the modules and managers that a text names as globals.
func (s *Session) preload(text string) []string {
	var used []string
	for _, name := range identifiersOf(text) {
		if s.known[name] == nil {
			continue
		}
		taken := lua.LNil
		s.lua.Inspect(func(locals, globals *lua.LTable) {
			if taken = locals.RawGetString(name); taken == lua.LNil {
				taken = globals.RawGetString(name)
			}
		})
		if taken == lua.LNil {
			values, err := s.lua.Run(s.cfg.Name, fmt.Sprintf("return require(%q)", name))
			if err != nil || len(values) == 0 {
				continue // the text itself reports what is missing
			}
			s.lua.Set(name, values[0])
		}
		used = append(used, name)
	}
	return used
}

// run runs f with Ctrl-C and the timeout of the input.
func (s *Session) run(f func() ([]lua.LValue, error)) ([]lua.LValue, error) {
	ctx, cancel := context.WithCancel(s.cfg.Interp.Context())
	defer cancel()
	s.running.Store(&ctx)     // before interrupted is read: interrupt sets that first
	if s.interrupted.Load() { // earlier in the same input
		return nil, errInterrupted
	}
	s.cfg.Input.during(ctx)
	if s.cfg.Timeout > 0 {
		late := fault.Hinted(fault.Of(&fault.TimeoutError{}, "the input reached its time limit of %s", s.cfg.Timeout),
			"give it more time with --timeout")
		timer := time.AfterFunc(s.cfg.Timeout, func() { s.cfg.Interp.Interrupt(late) })
		defer timer.Stop()
	}
	if screen, ok := s.cfg.Interp.Options().Stderr.(*vm.Console); ok {
		defer screen.SetStatus("")
	}
	return f()
}

// Interrupt handles Ctrl-C: it cancels the current run, or discards the line
// that is typed. False means that the run cannot be cancelled, as was printed,
// and the session should end.
func (s *Session) Interrupt() bool {
	switch {
	case s.stuck.Load():
		return false
	case !s.busy.Load():
		s.cfg.Input.abort()
	default:
		s.interrupt()
	}
	return true
}

func (s *Session) interrupt() {
	if !s.busy.Load() || !s.interrupted.CompareAndSwap(false, true) {
		return
	}
	if run := s.running.Load(); run != nil && (*run).Err() == nil { // otherwise the next run of the input does not start
		s.cfg.Interp.Interrupt(errInterrupted) // at once: the script must not use what it failed to read
		go s.insist(*run)
	}
}

// insist interrupts the run until it ends: the first attempt may have come before its start.
func (s *Session) insist(run context.Context) {
	for began := time.Now(); ; {
		select {
		case <-run.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
		s.cfg.Interp.Interrupt(errInterrupted)
		if time.Since(began) > stuckAfter && s.stuck.CompareAndSwap(false, true) {
			s.note("the input cannot be cancelled; press Ctrl-C again to end the session")
		}
	}
}

// waits explains why an input has not ended although its code has.
func (s *Session) waits(tasks int) {
	if !s.cfg.Terminal || s.cfg.Quiet {
		return
	}
	run := *s.running.Load()
	time.AfterFunc(time.Second, func() {
		if run.Err() == nil {
			s.note("waiting for " + human.Count(tasks, "task") + " of this input; Ctrl-C cancels")
		}
	})
}

// note prints a message besides the values.
func (s *Session) note(text string) {
	_, _ = fmt.Fprintln(s.cfg.Interp.Options().Stderr, text) // its error cannot be reported anywhere
}
