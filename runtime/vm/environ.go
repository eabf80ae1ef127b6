package vm

import "sync"

// environ is the environment of the interpreter: that of Options, and what
// was added to it for this interpreter alone. Any goroutine may use it.
type environ struct {
	base  func(name string) (string, bool)
	mu    sync.RWMutex
	added map[string]string
}

func (e *environ) lookup(name string) (string, bool) {
	if v, ok := e.base(name); ok {
		return v, true
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	v, ok := e.added[name]
	return v, ok
}

// OutsideEnv is the environment that decides about the world around the
// script, such as proxies and the state folder. With walls around the script
// it leaves out what the script added.
func (in *Interp) OutsideEnv() func(name string) (string, bool) {
	if in.Walled() {
		return in.environ.base
	}
	return in.opt.Env
}

// AddEnv adds a variable to the environment this interpreter's modules see.
// One that is there already stays as it is.
func (in *Interp) AddEnv(name, value string) {
	in.environ.mu.Lock()
	defer in.environ.mu.Unlock()
	if in.environ.added == nil {
		in.environ.added = map[string]string{}
	}
	if _, there := in.environ.added[name]; !there {
		in.environ.added[name] = value
	}
}
