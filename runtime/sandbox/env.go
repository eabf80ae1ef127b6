package sandbox

import "sync"

// environment is the process environment plus the variables added for one
// interpreter. Safe for concurrent use.
type environment struct {
	base  func(name string) (string, bool)
	mu    sync.RWMutex
	added map[string]string
}

// Getenv looks up a variable without a permission check.
func (s *Sandbox) Getenv(name string) (string, bool) {
	if v, ok := s.env.base(name); ok {
		return v, true
	}
	s.env.mu.RLock()
	defer s.env.mu.RUnlock()
	v, ok := s.env.added[name]
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
		return s.env.base
	}
	return s.Getenv
}

// AddEnv adds a variable unless it is already set.
func (s *Sandbox) AddEnv(name, value string) {
	s.env.mu.Lock()
	defer s.env.mu.Unlock()
	if s.env.added == nil {
		s.env.added = map[string]string{}
	}
	if _, set := s.env.added[name]; !set {
		s.env.added[name] = value
	}
}
