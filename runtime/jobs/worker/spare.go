package worker

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"
)

// How long a process is there for further jobs. A job that takes longer than that
// does not notice the start of a process.
const (
	keptIdle = time.Second
	keptOld  = 10 * time.Second
)

// spare are processes that wait for another job of the same script and settings.
// Each has ended a job well, and found itself as it was before (runtime.Process.Again).
type spare struct {
	most int

	mu     sync.Mutex
	idle   []*process // the longest first
	closed bool
}

// begin hands the output of the process to an attempt. It sets what the process
// prints when the job has ended and another one may follow.
func (p *process) begin(a *attempt) {
	if p.mark = ""; time.Since(p.born) < keptOld {
		p.mark = rand.Text()
	}
	p.out.begin(a.book, nil, p.mark)
	p.err.begin(a.book, a.last.see, p.mark)
}

// end ends a process that has nothing in hand.
func (p *process) end() {
	killGroup(p.cmd.Process)
	<-p.exited
	p.outputs.drain()
	_ = p.link.Close()
}

// take is a process for a job; nil when none waits.
func (s *spare) take(settings string) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.idle {
		if p.settings == settings && !p.gone() {
			s.idle = slices.Delete(s.idle, i, i+1)
			p.waits.Stop()
			return p
		}
	}
	return nil
}

func (p *process) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// keep lets a process wait for a while.
func (s *spare) keep(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go p.end()
		return
	}
	s.idle = append(s.idle, p)
	p.waits = time.AfterFunc(keptIdle, func() { s.dismiss(p) })
	if len(s.idle) > s.most {
		go s.dismiss(s.idle[0])
	}
}

func (s *spare) dismiss(p *process) {
	s.mu.Lock()
	i := slices.Index(s.idle, p)
	if i >= 0 {
		s.idle = slices.Delete(s.idle, i, i+1)
	}
	s.mu.Unlock()
	if i >= 0 {
		p.end()
	}
}

// close ends all that wait, now and later.
func (s *spare) close() {
	s.mu.Lock()
	s.closed = true
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, p := range idle {
		p.end()
	}
}
