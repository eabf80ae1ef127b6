package stdlib

import (
	"path/filepath"

	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/lock"
)

// lockFunc lets one run at a time pass.
var lockFunc = module.Func{
	Name: "lock", Doc: "Makes sure that no other run on this machine holds the lock of that name; it is held until the run ends. " +
		"A LockedError, exit code 6, says that another run has it.",
	Params: []module.Param{{Name: "name", Type: "string", Doc: "what must not be done twice at once, such as the folder that is ingested"}},
	Call: func(c *module.Call) (any, error) {
		name := c.String("name")
		held := runLocks(c.In)
		if held[name] {
			return nil, nil
		}
		opt := c.In.Options()
		l, err := lock.Take(c.Context(), lock.Request{Folder: LockFolder(c.In.StateDir()), Name: name, Script: opt.Script, Now: opt.Now})
		if err != nil {
			return nil, err
		}
		held[name] = true
		c.In.OnClose(l.Release)
		return nil, nil
	},
}

type lockKey struct{}

func runLocks(in *vm.Interp) map[string]bool {
	return vm.State(in, lockKey{}, func() map[string]bool { return map[string]bool{} })
}

// LockFolder is where the locks are, below the state folder.
func LockFolder(stateDir string) string { return filepath.Join(stateDir, "locks") }

// HoldsLock records that the run has a lock already: a script that asks for it
// gets it. Not while Lua runs.
func HoldsLock(in *vm.Interp, name string) { runLocks(in)[name] = true }
