package debug

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"transect/client/human"
	"transect/runtime/vm"
)

// Console is the debugger of a terminal: it prints where the script stops, and reads commands.
type Console struct {
	In       io.Reader
	Out      io.Writer
	debugger *Debugger

	stop     *Stop
	task     int // the selected task
	level    int
	previous string            // command, for an empty line
	lines    chan string       // read from In; closed at its end
	sources  map[string]string // text of files
}

// NewConsole returns a console for a debugger.
func NewConsole(d *Debugger, in io.Reader, out io.Writer) *Console {
	c := &Console{In: in, Out: out, debugger: d, sources: map[string]string{}}
	d.Stopped = c.stopped
	d.Logged = func(text, file string, line int) {
		if file != "" {
			text = fmt.Sprintf("%s:%d: %s", file, line, text)
		}
		c.print("%s", human.Visible(text))
	}
	return c
}

const help = `c, continue        go on to the next breakpoint       s, step       to the next line, into functions
n, next            to the next line of the function   o, out        to the end of the function
b, break LINE [if CONDITION]                          b FILE:LINE   in another file
breaks             list the breakpoints               delete N      remove a breakpoint
w, where           the stack                          up, down      another function of it
l, locals          variables of the function          upvalues      of the functions around it
globals            global variables of the script     list          the source around
tasks              what runs                          task N        another task
catch MODE         stop at errors that nothing catches (uncaught), at all of them (all), at none (off)
q, quit            end the run                        p EXPRESSION  or any Lua: evaluate it here
An empty line repeats step, next and out. Ctrl-C stops a script that runs.`

func (c *Console) print(format string, args ...any) {
	fmt.Fprintf(c.Out, format+"\n", args...)
}

// stopped prints where the script is and executes commands until it continues.
func (c *Console) stopped(s *Stop) Action {
	c.stop, c.task, c.level = s, s.Task(), 0
	c.announce()
	for {
		line, ok := c.read()
		if !ok {
			c.print("")
			return Quit
		}
		name, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			name = c.previous
		}
		action, goesOn := actions[name]
		c.previous = ""
		if goesOn && argument == "" {
			if action != Continue {
				c.previous = name
			}
			c.stop.Follow(c.task)
			return action
		}
		c.command(name, strings.TrimSpace(argument), line)
	}
}

var actions = map[string]Action{"c": Continue, "continue": Continue, "s": Into, "step": Into, "n": Over, "next": Over,
	"o": Out, "out": Out, "q": Quit, "quit": Quit}

// announce prints where and why the script stopped.
func (c *Console) announce() {
	s := c.stop
	switch {
	case s.Reason == "exception":
		c.print("stopped at an error: %s", human.Visible(s.Text))
	case s.Breakpoint != nil:
		c.print("breakpoint %d", s.Breakpoint.ID)
		if s.Text != "" {
			c.print("%s", human.Visible(s.Text))
		}
	case s.Reason == "pause":
		c.print("stopped")
	}
	if s.Waiting > 0 {
		c.print("%s", InProgress(s))
	}
	c.where(false)
}

// InProgress returns a note about calls in progress, whose time limits continue.
func InProgress(s *Stop) string {
	return human.Count(int64(s.Waiting), "call") +
		" in progress: time limits of requests go on while the script is stopped"
}

// read reads a command; it returns false at the end of the input or of the run.
func (c *Console) read() (string, bool) {
	fmt.Fprint(c.Out, "debug> ")
	if c.lines == nil {
		c.lines = make(chan string)
	}
	go func() {
		line, err := readLine(c.In)
		if err != nil && line == "" {
			close(c.lines)
			return
		}
		c.lines <- line
	}()
	select {
	case line, more := <-c.lines:
		return line, more
	case <-c.stop.Done():
		return "", false
	}
}

// readLine reads no more than a line: the script may read the rest.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := in.Read(b)
		if n == 1 && b[0] == '\n' {
			return string(line), nil
		}
		line = append(line, b[:n]...)
		if err != nil {
			return string(line), err
		}
	}
}

func (c *Console) command(name, argument, line string) {
	level, _ := strconv.Atoi(argument)
	switch name {
	case "":
	case "h", "help", "?":
		c.print(help)
	case "b", "break":
		c.breakAt(argument)
	case "breaks":
		c.breaks()
	case "delete":
		c.delete(level)
	case "w", "where", "bt":
		c.where(true)
	case "up":
		c.selectLevel(c.task, c.level+1)
	case "down":
		c.selectLevel(c.task, c.level-1)
	case "l", "locals":
		c.variables(Visible(c.here()), "no local variables here")
	case "upvalues":
		c.variables(c.here().Upvalues(), "the function uses no variables of functions around it")
	case "globals":
		c.variables(c.stop.Globals(c.here()), "the script has set no global variables")
	case "list":
		c.list()
	case "tasks":
		c.tasks()
	case "task":
		c.selectLevel(level, 0)
	case "catch":
		c.catch(argument)
	case "p", "print":
		c.evaluate(argument)
	default:
		c.evaluate(line)
	}
}

func (c *Console) levels() []*vm.Level { return c.stop.Levels(c.task) }

func (c *Console) here() *vm.Level { return c.levels()[c.level] }

// selectLevel selects the task and level for commands.
func (c *Console) selectLevel(task, level int) {
	switch levels := c.stop.Levels(task); {
	case len(levels) == 0:
		c.print("there is no task %d that runs Lua; tasks lists them", task)
	case level < 0 || level >= len(levels):
		c.print("there is no further function in this direction; where prints the stack")
	default:
		c.task, c.level = task, level
		c.where(false)
	}
}

// where prints the selected function, or the whole stack.
func (c *Console) where(all bool) {
	for i, l := range c.levels() {
		if !all && i != c.level {
			continue
		}
		mark, in := "  ", ""
		if i == c.level {
			mark = "> "
		}
		if l.Function != "" {
			in = " in " + l.Function
		}
		if c.task != 1 {
			in += fmt.Sprintf(" of task %d", c.task)
		}
		c.print("%s%s:%d%s: %s", mark, l.File, l.Line, in, human.Visible(strings.TrimSpace(c.source(l.File, l.Line))))
	}
}

// source returns a line of a script.
func (c *Console) source(file string, line int) string {
	text, read := c.sources[file]
	if !read {
		code, _ := os.ReadFile(c.debugger.Path(file)) // a script without a file is shown without lines
		text = string(code)
		c.sources[file] = text
	}
	if lines := strings.Split(text, "\n"); line >= 1 && line <= len(lines) {
		return lines[line-1]
	}
	return ""
}

func (c *Console) list() {
	const around = 5
	here := c.here()
	for n := max(1, here.Line-around); n <= here.Line+around; n++ {
		text, mark := c.source(here.File, n), " "
		if n == here.Line {
			mark = ">"
		}
		if text != "" || n == here.Line {
			c.print("%s%5d  %s", mark, n, human.Visible(strings.ReplaceAll(text, "\t", "  ")))
		}
	}
}

func (c *Console) variables(list []vm.Variable, none string) {
	if len(list) == 0 {
		c.print("%s", none)
	}
	for _, v := range list {
		c.print("%s = %s", v.Name, human.Visible(c.stop.Variable(v, 600)))
	}
}

func (c *Console) evaluate(code string) {
	values, err := c.stop.EvaluateAt(c.here(), code)
	if err != nil {
		c.print("%s", human.Visible(err.Error()))
	} else if len(values) > 0 {
		c.print("%s", human.Visible(c.stop.Line(values)))
	}
}

func (c *Console) tasks() {
	for _, n := range c.stop.Tasks() {
		at, mark := "", "  "
		if levels := c.stop.Levels(n); len(levels) > 0 {
			at = fmt.Sprintf(" at %s:%d", levels[0].File, levels[0].Line)
		}
		if n == c.stop.Task() {
			mark = "> "
		}
		c.print("%stask %d%s", mark, n, at)
	}
}

func (c *Console) catch(mode string) {
	modes := map[string]Catch{"uncaught": Uncaught, "all": All, "off": Never}
	m, ok := modes[mode]
	if !ok {
		c.print("catch wants uncaught, all or off, such as: catch all")
		return
	}
	c.debugger.Catch(m)
}

// breakAt sets a breakpoint: LINE, FILE:LINE, with or without "if CONDITION".
func (c *Console) breakAt(argument string) {
	at, condition, _ := strings.Cut(argument, " if ")
	file, number, other := cutLast(strings.TrimSpace(at))
	if !other {
		file, number = c.here().File, at
	}
	line, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		c.print("break wants a line, such as: break 12, or: break %s:12 if n > 3", c.here().File)
		return
	}
	point := &Breakpoint{Line: line, Condition: strings.TrimSpace(condition)}
	if err := c.debugger.Add(file, point); err != nil {
		c.print("%s", err)
		return
	}
	c.print("breakpoint %d at %s:%d", point.ID, file, point.Line)
}

// cutLast splits FILE:LINE.
func cutLast(text string) (file, line string, found bool) {
	i := strings.LastIndex(text, ":")
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+1:], true
}

func (c *Console) breaks() {
	list := c.debugger.Breakpoints("")
	for _, b := range list {
		condition := ""
		if b.Condition != "" {
			condition = " if " + b.Condition
		}
		c.print("%d  %s:%d%s", b.ID, b.File, b.Line, condition)
	}
	if len(list) == 0 {
		c.print("no breakpoints; break LINE sets one")
	}
}

func (c *Console) delete(id int) {
	for _, b := range c.debugger.Breakpoints("") {
		if b.ID == id {
			c.debugger.Remove(b)
			return
		}
	}
	c.print("there is no breakpoint %d; breaks lists them", cmp.Or(id, 0))
}
