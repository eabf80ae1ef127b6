package vm

import (
	"context"
	"math/rand/v2"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Run is a script's access to the run that it is a start of.
type Run struct {
	ID      string
	Started func() (time.Time, error) // of its first start
	Folder  func() (string, error)    // that stays as long as the run
	Kept    func(name string) (value []byte, known bool, err error)
	Keep    func(name string, value []byte) error
	Label   func(ctx context.Context, label string) context.Context // distinguishes writes
	Again   func(ctx context.Context) context.Context               // writes are sent, whatever was noted
	Seed    func() uint64                                           // of random numbers
	// Ingested notes the ID of an ingest that begins.
	Ingested func(id string) error
}

// Random returns the source of random numbers of the task that runs L. Each
// start of a run draws the same numbers.
func Random(L *lua.LState) *rand.Rand {
	c := clockOf(L)
	if c.task == nil {
		return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if c.task.random == nil {
		SeedRandom(L, c.in.seed())
	}
	return c.task.random
}

// SeedRandom restarts the random numbers of the task that runs L.
func SeedRandom(L *lua.LState, seed uint64) {
	if t := clockOf(L).task; t != nil {
		t.random = rand.New(rand.NewPCG(seed, t.path))
	}
}

func (in *Interp) seed() uint64 {
	if run := in.opt.InRun; run != nil {
		return run.Seed()
	}
	return State(in, seedKey{}, rand.Uint64)
}

type seedKey struct{}

// mix derives a task's path from its parent's path and its number there.
func mix(parent, n uint64) uint64 {
	x := parent*0x9e3779b97f4a7c15 + n
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	return x ^ x>>27
}
