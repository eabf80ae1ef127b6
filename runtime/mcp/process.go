package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"transect/client/human"
	"transect/runtime/tty"
)

// process is a command line of transect.
type process struct {
	cmd    *exec.Cmd
	stop   context.CancelFunc // terminates it, and kills it if it does not end
	ended  chan struct{}
	output func() string           // so far
	answer func() (string, result) // once it has ended
	agreed bool                    // approved by a person: it outlives the session
	once   sync.Once
	text   string // its response
	result result
}

// prepare returns a process of transect with arguments, in the folder of the scripts. Its output is kept
// within limits.
func (s *server) prepare(asker string, words ...string) (*process, *bounded) {
	ctx, stop := context.WithCancel(context.Background())
	out := &bounded{}
	p := &process{stop: stop, ended: make(chan struct{}), output: out.String}
	p.cmd = exec.CommandContext(ctx, s.Program[0], append(s.Program[1:], words...)...)
	p.cmd.Dir, p.cmd.Env = s.Folder, append(os.Environ(), "TRANSECT_ASKED_BY="+asker)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	p.cmd.WaitDelay = 10 * time.Second
	tty.Detach(p.cmd)
	return p, out
}

func (p *process) start() error {
	if err := p.cmd.Start(); err != nil {
		p.stop()
		return fmt.Errorf("cannot start transect: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // the error is in its exit code
		close(p.ended)
		p.stop()
	}()
	return nil
}

// over waits for the end of a process, and reports whether it ended in time.
func (p *process) over(ctx context.Context, most time.Duration) bool {
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	select {
	case <-p.ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// atOnce runs a short command line, and stops it after a time limit.
func (s *server) atOnce(ctx context.Context, c *call, input string, words ...string) (string, result, error) {
	p, out := s.prepare(c.asker, words...)
	if err := s.complete(ctx, p, out, input); err != nil {
		return "", result{}, err
	}
	return p.output(), result{State: "done", ExitCode: p.cmd.ProcessState.ExitCode()}, nil
}

// complete runs a process to its end, and stops it when there is more output than is kept, or after a minute.
func (s *server) complete(ctx context.Context, p *process, out *bounded, input string) error {
	p.cmd.Stdin, out.full = strings.NewReader(input), p.stop
	if err := p.start(); err != nil {
		return err
	}
	if !p.over(ctx, time.Minute) {
		p.stop()
		<-p.ended
		return errors.New("it took longer than a minute and was stopped: ask for less")
	}
	return nil
}

// begin starts a script's process, registered under a name for follow and stop.
func (s *server) begin(name string, p *process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for id, one := range s.processes {
		switch {
		case one.running():
			running++
		case len(s.processes) > maxKept:
			delete(s.processes, id)
		}
	}
	if one := s.processes[name]; one != nil && one.running() {
		return fmt.Errorf("%s runs already: follow it", name)
	}
	if running >= maxProcess {
		return fmt.Errorf("%s run already: follow or stop one", human.Count(running, "script"))
	}
	if err := p.start(); err != nil {
		return err
	}
	s.processes[name] = p
	return nil
}

func (s *server) process(name string) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[name]
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// stopAll ends the processes that no person approved.
func (s *server) stopAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.processes {
		if !p.agreed && p.running() {
			p.stop()
			<-p.ended
		}
	}
}

// bounded keeps the beginning of the text written to it.
type bounded struct {
	most int    // bytes; 0 for maxAnswer
	full func() // optional: called once, when there is more

	mu   sync.Mutex
	text bytes.Buffer
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := cmp.Or(b.most, maxAnswer) - b.text.Len()
	b.text.Write(p[:min(len(p), room)])
	if len(p) > room && !b.cut {
		b.cut = true
		if b.full != nil {
			b.full()
		}
	}
	return len(p), nil
}

// whole returns the text, in whole lines if it was cut.
func (b *bounded) whole() (text string, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text = b.text.String()
	if end := strings.LastIndexByte(text, '\n'); b.cut && end > 0 {
		text = text[:end+1]
	}
	return text, b.cut
}

// String returns the text for an answer.
func (b *bounded) String() string {
	text, cut := b.whole()
	if !cut {
		return human.Visible(text)
	}
	return fmt.Sprintf("%s\n… cut after %s: ask for less, such as with limit, filter or fields\n",
		human.Visible(text), human.Size(int64(len(text))))
}
