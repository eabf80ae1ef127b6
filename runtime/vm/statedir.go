package vm

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// StateVariable is the environment variable that names the state folder.
const StateVariable = "TRANSECT_STATE_DIR"

// StateDir returns the folder of what must outlive a run on this machine: locks, journals, the state of scripts, the
// history of runs. It is TRANSECT_STATE_DIR, or the system's folder for such files, or a folder among the temporary
// ones without a home. It may not exist yet; make it with mode 0700.
func StateDir(env func(name string) (string, bool)) string {
	if dir, ok := env(StateVariable); ok && dir != "" {
		return dir
	}
	if state, ok := env("XDG_STATE_HOME"); ok && filepath.IsAbs(state) {
		return filepath.Join(state, "transect")
	}
	home, ok := env("HOME")
	switch {
	case filepath.Separator != '/':
		return filepath.Join(xdg.StateHome, "transect")
	case !ok || home == "":
		return sharedStateDir()
	case home == xdg.Home:
		return filepath.Join(xdg.StateHome, "transect")
	}
	return filepath.Join(home, ".local", "state", "transect")
}

// sharedStateDir returns the folder of a user without a home.
func sharedStateDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("transect-%d", os.Getuid()))
}

// StateDir returns the folder where this interpreter's modules keep what must outlive the run.
func (in *Interp) StateDir() string { return StateDir(in.HostEnv()) }
