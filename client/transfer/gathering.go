package transfer

import (
	"sync"
	"time"

	"transect/client/checksum"
)

// patience is how long a file waits for others to be hashed with.
const patience = 10 * time.Millisecond

// gathering are files in memory that wait to be hashed side by side, which takes
// less than half of the time that each for itself does.
type gathering struct {
	mu      sync.Mutex
	waiting []*gathered
	stats   *Stats
}

type gathered struct {
	file *held
	sum  chan string
}

// sum hashes a file that is held. It waits a moment for others where there is
// nothing to lose: when the files before it wait for their connections anyway.
func (g *gathering) sum(file *held, queued int) string {
	one := &gathered{file, make(chan string, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, one)
	switch n := len(g.waiting); {
	case n == checksum.Width, queued < checksum.Width:
		all := g.take()
		g.mu.Unlock()
		g.hash(all)
	default:
		if n == 1 {
			time.AfterFunc(patience, g.end)
		}
		g.mu.Unlock()
	}
	return <-one.sum
}

// end hashes what waits.
func (g *gathering) end() {
	g.mu.Lock()
	all := g.take()
	g.mu.Unlock()
	g.hash(all)
}

func (g *gathering) take() []*gathered {
	all := g.waiting
	g.waiting = nil
	return all
}

func (g *gathering) hash(all []*gathered) {
	if len(all) == 0 {
		return
	}
	data := make([][][]byte, len(all))
	for i, one := range all {
		for n := range one.file.blocks {
			data[i] = append(data[i], one.file.block(n))
		}
	}
	from := time.Now()
	sums := checksum.All(data)
	g.stats.since(onCPU, from)
	for i, one := range all {
		one.sum <- sums[i]
	}
}
