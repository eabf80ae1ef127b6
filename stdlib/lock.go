package stdlib

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"transect/client/fault"
	"transect/runtime/vm"
)

// lockFunc lets one run at a time pass. The system frees the lock when its
// process ends, however it ends.
var lockFunc = vm.Func{
	Name: "lock", Doc: "Makes sure that no other run on this machine holds the lock of that name; it is held until the run ends. " +
		"A LockedError, exit code 6, says that another run has it.",
	Params:  []vm.Param{{Name: "name", Type: "string", Doc: "what must not be done twice at once, such as the folder that is ingested"}},
	Example: `require("script").lock("nightly ingest")`,
	Call: func(c *vm.Call) (any, error) {
		name := c.String("name")
		held := vm.State(c.In, lockKey{}, func() map[string]*flock.Flock { return map[string]*flock.Flock{} })
		if held[name] != nil {
			return nil, nil
		}
		folder := filepath.Join(c.In.StateDir(), "locks")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot make the folder of locks %s: %w", folder, err),
				"name another one in TRANSECT_STATE_DIR")
		}
		sum := sha256.Sum256([]byte(name))
		lock := flock.New(filepath.Join(folder, fmt.Sprintf("%x.lock", sum[:12])))
		free, err := lock.TryLock()
		if err != nil {
			return nil, fault.Of(&fault.FileError{}, "cannot lock %s: %w", lock.Path(), err)
		}
		if !free {
			return nil, fault.Hinted(fault.Of(&fault.LockedError{}, "another run holds the lock %q", name), "wait until it has ended, then run again")
		}
		held[name] = lock
		c.In.OnClose(func() { _ = lock.Unlock() }) // the end of the process does the same
		return nil, nil
	},
}

type lockKey struct{}
