// Package sandbox restricts the access of a script to files, hosts, environment variables, programs and
// platform operations.
//
// A Policy holds the rules (command line and the manifest next to the script) and the budgets of one run, and
// records accesses for --learn. A Sandbox is the file system and environment as one interpreter sees them: it
// checks the policy and then opens exactly the checked file, without following links that appeared in
// between.
//
// The interpreter (runtime/vm) and the modules use Sandbox; the runtime creates the Policy and installs
// Policy.Intercept in the client's chain. Begin reading at Policy.Permit and Sandbox.Open.
package sandbox

import (
	"os"
	"sync"
)

// Sandbox gives a script access to files and the environment.
type Sandbox struct {
	permit  func(a Access, what string) error // nil: unrestricted
	leased  func() error                      // nil: at any time
	sending func(n int64) error               // nil: no limit
	maxFile int                               // longest file ReadFile returns, in bytes
	fits    func(n int) error                 // nil: no limit of memory
	effects *Effects                          // nil: everything happens

	env       func(name string) (string, bool) // of the process
	mu        sync.RWMutex
	temporary []string          // folders that Close removes
	addedEnv  map[string]string // for this interpreter, unless the process has them
	setEnv    map[string]string // for this interpreter, whatever the process has
}

// Options are the options of a Sandbox. Nil functions restrict nothing.
type Options struct {
	Permit  func(a Access, what string) error
	Leased  func() error // called before connections and programs are permitted; may wait
	Sending func(n int64) error
	Env     func(name string) (string, bool)
	MaxFile int               // bytes
	Fits    func(n int) error // called before n bytes are allocated to read a file
	Effects *Effects          // everything happens when nil
}

// Open returns the sandbox of an interpreter.
func Open(o Options) *Sandbox {
	return &Sandbox{permit: o.Permit, leased: o.Leased, sending: o.Sending, maxFile: o.MaxFile, fits: o.Fits, env: o.Env,
		effects: o.Effects, addedEnv: map[string]string{}}
}

// Getenv looks up a variable without a permission check.
func (s *Sandbox) Getenv(name string) (string, bool) {
	s.mu.RLock()
	v, ok := s.setEnv[name]
	s.mu.RUnlock()
	if ok {
		return v, true
	}
	if v, ok := s.env(name); ok {
		return v, true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok = s.addedEnv[name]
	return v, ok
}

// SetEnv sets a variable of this interpreter and of the programs it starts.
func (s *Sandbox) SetEnv(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.setEnv == nil {
		s.setEnv = map[string]string{}
	}
	s.setEnv[name] = value
}

// Environ returns the environment of programs that the script starts; nil for the process's.
func (s *Sandbox) Environ() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.setEnv == nil {
		return nil
	}
	all := os.Environ()
	for name, value := range s.setEnv {
		all = append(all, name+"="+value)
	}
	return all
}

// Env reads an environment variable for the script.
func (s *Sandbox) Env(name string) (string, bool, error) {
	if err := s.Permit(Env, name); err != nil {
		return "", false, err
	}
	value, ok := s.Getenv(name)
	return value, ok, nil
}

// HostEnv returns the environment for settings of the host: proxies, the state folder. Variables added by a
// restricted script are not in it.
func (s *Sandbox) HostEnv() func(name string) (string, bool) {
	if s.Restricted() {
		return s.env
	}
	return s.Getenv
}

// AddEnv adds a variable unless it is already set.
func (s *Sandbox) AddEnv(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, set := s.addedEnv[name]; !set {
		s.addedEnv[name] = value
	}
}
