package vm

import "sync"

// movement passes on how many bytes transfers move, from whoever moves them to
// whoever shows it. Any goroutine may use it.
type movement struct {
	mu       sync.Mutex
	watchers map[int]func(delta int64)
	next     int
}

// Moved reports bytes that a transfer moved; negative when some must be moved
// once more.
func (in *Interp) Moved(delta int64) {
	in.movement.mu.Lock()
	defer in.movement.mu.Unlock()
	for _, watch := range in.movement.watchers {
		watch(delta)
	}
}

// WatchMoved calls watch with what transfers report, until stop is called.
func (in *Interp) WatchMoved(watch func(delta int64)) (stop func()) {
	m := &in.movement
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watchers == nil {
		m.watchers = map[int]func(int64){}
	}
	id := m.next
	m.next++
	m.watchers[id] = watch
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, id)
	}
}
