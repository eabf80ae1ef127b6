package vm

// Access is a kind of thing outside the interpreter that a script may reach.
type Access string

// The kinds of access, and what names the thing: a path, a path, host:port, the
// name of a variable, the path of a program, manager.operation.
const (
	Read  Access = "read"
	Write Access = "write"
	Net   Access = "net"
	Env   Access = "env"
	Exec  Access = "run"
	Op    Access = "ops"
)

// Permit says whether the script may reach something: nil, or the error to
// raise. Every function that touches the world asks before it does; paths are
// given as Interp.Path makes them.
func (in *Interp) Permit(a Access, what string) error {
	if in.opt.Permit == nil {
		return nil
	}
	return in.opt.Permit(a, what)
}
