package blob

import (
	"errors"
	"sync"
	"time"

	"transect/client/checksum"
)

// round brings pieces onto the disk and computes their checksums meanwhile. Those
// that come while one is under way share the next one: it takes as long for many
// as for one.
type round struct {
	data [][][]byte
	ripe bool     // it has waited for as long as it may
	sums []string // MD5 in hexadecimal
	err  error
	done chan struct{}
}

// patience is how long a round waits for pieces that are arriving, unless it has
// as many as are hashed side by side. Alone, each would cost the disk a turn of
// its own, and the processor three times as much.
const patience = 5 * time.Millisecond

// settle gives the checksum of a piece that was added to a pack, once it is on
// the disk. The round before may have taken it there, and have failed.
func (s *packs) settle(data []byte, p *pack, a *arrival) (sum string, err error) {
	sum, err = s.share(data, a)
	if err == nil {
		s.mu.Lock()
		err = p.failed
		s.mu.Unlock()
	}
	return sum, err
}

// arrival is a piece on its way to a round.
type arrival struct {
	packs *packs
	over  bool
}

// arrives notes that a piece is on its way.
func (s *packs) arrives() *arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arriving++
	return &arrival{packs: s}
}

// end notes that it is there, or does not come.
func (a *arrival) end() {
	a.packs.mu.Lock()
	defer a.packs.mu.Unlock()
	a.ends()
}

func (a *arrival) ends() {
	if !a.over {
		a.over = true
		a.packs.arriving--
		a.packs.turn.Signal()
	}
}

// ripen ends the waiting of a round.
func (s *packs) ripen(r *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ripe = true
	s.turn.Signal()
}

func (r *round) run(written []*pack, temporary bool) {
	var disk sync.WaitGroup
	if !temporary {
		disk.Go(func() {
			for _, p := range written {
				r.err = errors.Join(r.err, p.file.Sync())
			}
		})
	}
	r.sums = checksum.All(r.data)
	disk.Wait()
}

// share has a piece go with the next round.
func (s *packs) share(data []byte, a *arrival) (sum string, err error) {
	s.mu.Lock()
	a.ends()
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
	}
	r, i := s.next, len(s.next.data)
	r.data = append(r.data, [][]byte{data})
	if i > 0 {
		if len(r.data) == checksum.Width {
			s.turn.Signal()
		}
		s.mu.Unlock()
		<-r.done
		return r.sums[i], r.err
	}
	// The first one runs the round.
	if s.running || s.arriving > 0 { // what arrives while another one runs may stall as well
		defer time.AfterFunc(patience, func() { s.ripen(r) }).Stop()
	}
	for s.running || !r.ripe && s.arriving > 0 && len(r.data) < checksum.Width {
		s.turn.Wait()
	}
	s.running, s.next = true, nil
	written := s.written
	s.written = nil
	for _, p := range written {
		p.dirty = false
	}
	s.mu.Unlock()
	r.run(written, s.temporary)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range written {
		if r.err != nil { // a second try would succeed without the bytes
			p.failed, p.full = errors.Join(p.failed, r.err), true
			if s.current == p {
				s.current = nil
			}
		}
		if p.full && p.writing == 0 && !p.dirty {
			r.err = errors.Join(r.err, p.file.Close())
		}
	}
	s.running = false
	s.turn.Signal()
	close(r.done)
	return r.sums[0], r.err
}
