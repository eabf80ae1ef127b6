package stdlib

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/suggest"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/scripts"
	"transect/stdlib/lock"
)

var scriptModule = &module.Module{
	Name: "script",
	Doc:  "The script itself: its arguments and its exit code.",
	Lazy: scriptFuncs,
}

func scriptFuncs() []module.Func {
	return []module.Func{
		{
			Name: "args",
			Doc: "Declares the script's arguments and reads them from the command line, as --name value, --name=value, " +
				"--flag, or by position. Names listed without a key are positional, in that order. A declaration is a type " +
				"(string, number, integer, boolean, strings) or a table: type first, then default, doc, choices, optional, env, " +
				"short (a letter: -f), " +
				"value (its name in the help) and complete (what the shell completes: projects, missions, names, analytics, " +
				"products, files, folders). " +
				"Arguments without default that are not optional must be given. --help prints what was declared and ends the run.",
			Params: []module.Param{{Name: "declared", Type: "table",
				Doc: "the arguments; _doc describes the script, _example has command lines"}},
			Returns: "a table of the values",
			Call: func(c *module.Call) (any, error) {
				spec, err := readArgSpec(c.Table("declared"))
				c.Must(err)
				opt := c.In.Options()
				spec.Program = program(opt.Script)
				if spec.HelpAsked(opt.Args) {
					if _, err := io.WriteString(opt.Stdout, spec.Usage()); err != nil {
						return nil, err
					}
					vm.Stop(c.L, &vm.Exit{})
				}
				values, err := spec.Parse(opt.Args, func(name string) (string, bool) {
					text, ok, err := c.In.Env(name)
					if err != nil {
						c.Raise(err)
					}
					return text, ok
				})
				if err != nil {
					vm.Raise(c.L, err) // of the command line, not of this function
				}
				return values, nil
			},
		},
		{
			Name: "exit", Doc: "Ends the run with an exit code: 0 success, 3 finished but some items failed.",
			Params: []module.Param{{Name: "code", Type: "integer", Doc: "0 to 255", Default: 0, Min: new(0.0), Max: new(255.0)}},
			Call:   func(c *module.Call) (any, error) { vm.Stop(c.L, &vm.Exit{Code: c.Int("code")}); return nil, nil },
		},
		{
			Name: "fail_items",
			Doc: "Ends a run that finished although some items failed: exit code 3, after a line with their number; 5 when " +
				"all were files of ingest.run that failed by a temporary cause, such as an outage. With 0 the script continues.",
			Params: []module.Param{{Name: "failed", Type: "integer", Doc: "how many failed", Min: new(0.0)},
				{Name: "total", Type: "integer", Doc: "of how many", Optional: true}},
			Call: func(c *module.Call) (any, error) {
				failed, total, of := c.Int("failed"), c.Int("total"), ""
				if c.Has("total") {
					of = fmt.Sprintf(" of %d", total)
				}
				if failed > 0 || of != "" {
					c.In.SetItems(vm.Items{Done: int64(max(0, total-failed)), Failed: int64(failed)})
				}
				if failed > 0 {
					items := "items"
					if of == "" && failed == 1 {
						items = "item"
					}
					c.In.Options().Logger.Warn(fmt.Sprintf("finished, but %d%s %s failed", failed, of, items))
					vm.Stop(c.L, c.In.FailedItems(int64(failed)))
				}
				return nil, nil
			},
		},
		{
			Name: "usage_error",
			Doc: "Ends the run because of a user error, such as a name that does not exist: exit code 2. The " +
				"message is printed without the script's source.",
			Params: []module.Param{{Name: "message", Type: "string", Doc: "what is wrong"},
				{Name: "hint", Type: "string", Doc: "what to do", Optional: true}},
			Call: func(c *module.Call) (any, error) {
				vm.Raise(c.L, fault.Hinted(fault.Of(&fault.UsageError{}, "%s", c.String("message")), "%s", c.String("hint")))
				return nil, nil
			},
		},
		{
			Name: "confirm",
			Doc: "Asks a yes/no question on the terminal; the default is no. In a rehearsal (--dry-run) the answer is " +
				"yes. Without a terminal it is a UsageError.",
			Params: []module.Param{{Name: "question", Type: "string", Doc: "what is asked"},
				{Name: "hint", Type: "string", Doc: "what to do when there is no terminal, such as give --yes", Optional: true}},
			Returns: "whether the answer was yes",
			Call:    confirm,
		},
		{
			Name: "rehearsal", Doc: "Reports whether the run is a rehearsal: with --dry-run nothing is written to the platform.",
			Returns: "true or false",
			Call:    func(c *module.Call) (any, error) { return c.In.Options().DryRun, nil },
		},
		{
			Name: "nearest", Doc: "Finds the name most like a misspelt one, for a message such as did you mean.",
			Params: []module.Param{{Name: "name", Type: "string", Doc: "what was given"},
				{Name: "known", Type: "table", Doc: "list of the known names"}},
			Returns: "the name; nil when none is similar",
			Call: func(c *module.Call) (any, error) {
				var names []string
				for t, i := c.Table("known"), 1; i <= table.Length(t); i++ {
					names = append(names, table.Element(t, i).String())
				}
				if near := suggest.Nearest(c.String("name"), names); near != "" {
					return near, nil
				}
				return nil, nil
			},
		},
		{
			Name: "checkpoint", Doc: "Marks a point between two pieces of work. A run that is being terminated (SIGTERM, with " +
				"--grace) ends here and not in the middle of the next piece. " +
				"task.map and loops over a search do this by themselves, before each item.",
			Call: func(c *module.Call) (any, error) { vm.Checkpoint(c.L); return nil, nil },
		},
		{
			Name: "lock", Doc: "Makes sure that no other run on this machine holds the lock of that name. It is released when " +
				"the run ends. " +
				"When another run holds it, it is a LockedError, exit code 6.",
			Params: []module.Param{{Name: "name", Type: "string",
				Doc: "what must not be done twice at once, such as the folder that is ingested"}},
			Call: func(c *module.Call) (any, error) {
				name, locks, opt := c.String("name"), runLocks(c.In), c.In.Options()
				if locks[name] {
					return nil, nil
				}
				folder := LockFolder(c.In.StateDir())
				if c.In.Sealed() { // a rehearsal does not block other runs
					var err error
					folder, err = c.In.Sandbox.TempDir("transect-")
					c.Must(err)
				}
				l, err := lock.Take(c.Context(),
					lock.Request{Folder: folder, Name: name, Script: opt.Script, Now: opt.Now})
				c.Must(err)
				locks[name] = true
				c.In.OnClose(l.Release)
				return nil, nil
			},
		},
		{
			Name: "path", Doc: "The script's file, from the root.",
			Returns: "its path; nil at the prompt and for a script inside transect",
			Call: func(c *module.Call) (any, error) {
				path, err := scriptPath(c)
				if path == "" {
					return nil, err
				}
				return path, nil
			},
		},
		{
			Name: "dir", Doc: "The folder of the script's file, for files next to it: templates, lists.",
			Returns: "its path; at the prompt the current folder",
			Call: func(c *module.Call) (any, error) {
				path, err := scriptPath(c)
				if path == "" && err == nil {
					return filepath.Abs(c.In.Path("."))
				}
				return filepath.Dir(path), err
			},
		},
	}
}

// scriptPath returns the absolute path of the script, "" when there is none.
func scriptPath(c *module.Call) (string, error) {
	name := c.In.Options().Script
	if name == "" || scripts.IsRef(name) {
		return "", nil
	}
	return filepath.Abs(c.In.Path(name))
}

type lockKey struct{}

func runLocks(in *vm.Interp) map[string]bool {
	return vm.State(in, lockKey{}, func() map[string]bool { return map[string]bool{} })
}

// LockFolder returns the folder of locks in a state folder.
func LockFolder(stateDir string) string { return filepath.Join(stateDir, "locks") }

// HoldsLock records that the run already has a lock, so that the script gets it at once. Call it only while
// no Lua runs.
func HoldsLock(in *vm.Interp, name string) { runLocks(in)[name] = true }

// program returns how a script is called from a shell.
func program(script string) string {
	if s, ok := scripts.Find(script); ok && scripts.IsRef(script) {
		return s.Program()
	}
	return "transect run " + cmp.Or(filepath.ToSlash(script), "SCRIPT")
}

// confirm asks a yes/no question on the terminal.
func confirm(c *module.Call) (any, error) {
	opt, question := c.In.Options(), c.String("question")
	if opt.DryRun || opt.Agreed {
		return true, nil
	}
	in, isFile := opt.Stdin.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) {
		vm.Raise(c.L, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no terminal to ask: %s", question), "%s",
			c.String("hint")))
	}
	fmt.Fprintf(opt.Stderr, "%s (yes/no) [no]: ", human.Visible(question))
	var answer string
	answered := make(chan struct{})
	go func() { // the read itself cannot be cancelled
		defer close(answered)
		answer = readAnswer(in)
	}()
	if _, err := vm.Wait(c.L, answered); err != nil {
		return nil, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// readAnswer reads up to the end of the line and no further.
func readAnswer(in io.Reader) string {
	var line strings.Builder
	var b [1]byte
	for {
		n, err := in.Read(b[:])
		if n > 0 && b[0] != '\n' {
			line.WriteByte(b[0])
		} else if n > 0 || err != nil {
			return line.String()
		}
	}
}
