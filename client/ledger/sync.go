package ledger

import "sync"

// Sync makes everything noted so far survive a power loss. Concurrent callers share one flush.
func (l *Ledger) Sync() error {
	if l.remote != nil {
		return nil // the remote has stored everything accepted
	}
	l.mu.Lock()
	upTo := l.size
	l.mu.Unlock()
	if err := l.disk.wait(upTo, l.flush); err != nil {
		return unwritable(l.path, err)
	}
	return nil
}

func (l *Ledger) flush() (int64, error) {
	l.mu.Lock()
	size := l.size
	l.mu.Unlock()
	return size, l.file.Sync()
}

// syncer lets concurrent callers share one flush.
type syncer struct {
	mu       sync.Mutex
	done     *sync.Cond
	synced   int64
	flushing bool
}

func (s *syncer) wait(upTo int64, flush func() (int64, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = sync.NewCond(&s.mu)
	}
	for s.synced < upTo {
		if s.flushing {
			s.done.Wait()
			continue
		}
		s.flushing = true
		s.mu.Unlock()
		size, err := flush()
		s.mu.Lock()
		s.flushing = false
		s.done.Broadcast()
		if err != nil {
			return err
		}
		s.synced = max(s.synced, size)
	}
	return nil
}
