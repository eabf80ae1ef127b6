// Package runtime runs scripts: it makes the interpreter with its modules,
// connects it to a platform when a script asks for one, ends it on signals and
// time limits, and tells people what went wrong.
package runtime

import (
	"io"
	"os"
	"path/filepath"
	"time"
)

// World is everything of the process a run may touch. Nothing here or below
// reads the os package's globals, so that runs can be tested in memory.
type World struct {
	Args           []string // the command line without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(name string) (string, bool)
	Now            func() time.Time
	Dir            string // relative paths start here; "" is the process's folder
	IsTerminal     func(stream any) bool
	Signals        <-chan os.Signal // asks to stop; nil when nobody can
	Exit           func(code int)   // ends the process at once
}

// lookup is the value of an environment variable; an empty one counts as not set.
func (w *World) lookup(name string) string {
	value, _ := w.Env(name)
	return value
}

// path turns a path of the command line into one the process can use.
func (w *World) path(path string) string {
	if w.Dir == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(w.Dir, path)
}

// colours says whether text for people may be coloured.
func (w *World) colours() bool {
	return w.IsTerminal(w.Stderr) && w.lookup("NO_COLOR") == "" && w.lookup("TERM") != "dumb"
}
