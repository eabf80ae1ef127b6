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

// Sandbox gives a script access to files and the environment.
type Sandbox struct {
	permit  func(a Access, what string) error // nil: unrestricted
	sending func(n int64) error               // nil: no limit
	maxFile int                               // longest file ReadFile returns, in bytes
	env     environment
}

// Options of a Sandbox. Nil functions restrict nothing.
type Options struct {
	Permit  func(a Access, what string) error
	Sending func(n int64) error
	Env     func(name string) (string, bool)
	MaxFile int // bytes
}

// Open makes the sandbox of an interpreter.
func Open(o Options) *Sandbox {
	return &Sandbox{permit: o.Permit, sending: o.Sending, maxFile: o.MaxFile, env: environment{base: o.Env}}
}
