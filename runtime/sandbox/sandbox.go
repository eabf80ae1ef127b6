// Package sandbox restricts what a script may reach: files, hosts, environment
// variables, programs and platform operations.
//
// A Policy holds the rules (command line and the manifest beside the script)
// and the budgets of one run, and records what the run reached for --learn. A
// Sandbox is the file system and environment as one interpreter sees them: it
// asks the policy and then opens exactly the file that was asked about, without
// following links that appeared in between.
//
// The interpreter (runtime/vm) and the modules use Sandbox; the runtime makes
// the Policy and installs Policy.Intercept in the client's chain. Begin reading at
// Policy.Permit and Sandbox.Open.
package sandbox

import "sync"

// Sandbox gives a script access to files and the environment.
type Sandbox struct {
	permit  func(a Access, what string) error // nil: unrestricted
	leased  func() error                      // nil: at any time
	sending func(n int64) error               // nil: no limit
	maxFile int                               // longest file ReadFile returns, in bytes
	fits    func(n int) error                 // nil: no limit of memory

	env      func(name string) (string, bool) // of the process
	mu       sync.RWMutex
	addedEnv map[string]string // for this interpreter
}

// Options of a Sandbox. Nil functions restrict nothing.
type Options struct {
	Permit  func(a Access, what string) error
	Leased  func() error // asked before connections and programs are permitted; may wait
	Sending func(n int64) error
	Env     func(name string) (string, bool)
	MaxFile int               // bytes
	Fits    func(n int) error // asked before n bytes are allocated to read a file
}

// Open makes the sandbox of an interpreter.
func Open(o Options) *Sandbox {
	return &Sandbox{permit: o.Permit, leased: o.Leased, sending: o.Sending, maxFile: o.MaxFile, fits: o.Fits, env: o.Env,
		addedEnv: map[string]string{}}
}

// Getenv looks up a variable without a permission check.
func (s *Sandbox) Getenv(name string) (string, bool) {
	if v, ok := s.env(name); ok {
		return v, true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.addedEnv[name]
	return v, ok
}

// Env reads an environment variable for the script.
func (s *Sandbox) Env(name string) (string, bool, error) {
	if err := s.Permit(Env, name); err != nil {
		return "", false, err
	}
	value, ok := s.Getenv(name)
	return value, ok, nil
}

// HostEnv returns the environment that decides about the host: proxies, the
// state folder. Variables added by a restricted script are not in it.
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
