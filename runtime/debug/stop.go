package debug

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/runtime/vm"
)

// Stop describes where and why a script is stopped. It may be used until Debugger.Stopped returns, on its
// goroutine.
type Stop struct {
	Reason     string // breakpoint, step, pause or exception
	Text       string // of an error
	Breakpoint *Breakpoint
	Waiting    int // tasks that wait for something outside, whose deadlines continue

	debugger *Debugger
	thread   *lua.LState
	task     *vm.Task
	followed int // task to step next; 0 for the stopped one
	levels   map[int][]*vm.Level
}

// maxLevels limits the functions of a stack that are shown.
const maxLevels = 200

// Task returns the number of the stopped task.
func (s *Stop) Task() int { return s.debugger.tasks.number(s.task) }

// Tasks lists the numbers of the running tasks; the main task is 1.
func (s *Stop) Tasks() []int { return s.debugger.tasks.live() }

// Follow makes the next step apply to another task.
func (s *Stop) Follow(task int) { s.followed = task }

// Levels returns the functions that a task is in, innermost first.
func (s *Stop) Levels(task int) []*vm.Level {
	if cached, ok := s.levels[task]; ok {
		return cached
	}
	if s.levels == nil {
		s.levels = map[int][]*vm.Level{}
	}
	thread := s.thread
	if task != s.Task() {
		_, thread = s.debugger.tasks.thread(task)
	}
	if thread != nil {
		s.levels[task] = vm.Levels(thread, maxLevels)
	}
	return s.levels[task]
}

// Path returns the full path of a level's file.
func (s *Stop) Path(l *vm.Level) string { return s.debugger.path(l.File) }

// Evaluate runs an expression or statements with the variables of a function of the
// stopped task.
func (s *Stop) Evaluate(level int, code string) ([]lua.LValue, error) {
	levels := s.Levels(s.Task())
	return levels[min(level, len(levels)-1)].Evaluate(s.thread, code)
}

// EvaluateAt is like Evaluate, with the variables of a level of any task.
func (s *Stop) EvaluateAt(l *vm.Level, code string) ([]lua.LValue, error) {
	return l.Evaluate(s.thread, code)
}

// Done is closed when the run should end.
func (s *Stop) Done() <-chan struct{} { return vm.Context(s.thread).Done() }

// Show formats a value in one line, of at most size bytes.
func (s *Stop) Show(v lua.LValue, size int) (text string) {
	err := vm.Elsewhere(s.thread, func(L *lua.LState) {
		text = (&vm.Printer{L: L, Depth: 3, Items: 20, Width: 200, Size: size, OneLine: true, Secrets: true}).Text(v)
	})
	if err != nil {
		return v.Type().String() + " that cannot be shown: " + err.Error()
	}
	return text
}

// Variable formats the value of a variable in one line, unless its name suggests a secret; a module is shown
// by its name.
func (s *Stop) Variable(v vm.Variable, size int) string {
	if vm.IsSecretName(v.Name) {
		return "…"
	}
	if v.Value.Type() == lua.LTTable {
		if name := vm.Modules(s.thread)[v.Value]; name != "" {
			return "module " + name
		}
	}
	return s.Show(v.Value, size)
}

// Globals returns the global variables that the script defined.
func (s *Stop) Globals(l *vm.Level) []vm.Variable {
	all, _ := s.Inside(l.Globals(), 0, math.MaxInt)
	return slices.DeleteFunc(all, func(v vm.Variable) bool {
		return s.debugger.globals != nil && s.debugger.globals.RawGetString(v.Name) != lua.LNil
	})
}

// Inside lists at most most entries of a table or a record, from an index, and the total number.
func (s *Stop) Inside(v lua.LValue, from, most int) (list []vm.Variable, total int) {
	add := func(v vm.Variable) {
		if total++; total > from && len(list) < most {
			list = append(list, v)
		}
	}
	if t, ok := v.(*lua.LTable); ok {
		i := 0
		for k, v := range vm.Entries(t) {
			name := k.String()
			if k == lua.LNil {
				i++
				k = lua.LNumber(i)
			}
			if k.Type() == lua.LTNumber {
				name = "[" + k.String() + "]"
			}
			add(vm.Variable{Name: name, Value: v, Set: func(v lua.LValue) { t.RawSet(k, v) }})
		}
	}
	if r, ok := bindings.RecordOf(v); ok {
		_ = vm.Elsewhere(s.thread, func(L *lua.LState) { // fields are decoded from what is there
			for _, f := range r.Fields {
				add(vm.Variable{Name: f, Value: L.GetField(v, f)})
			}
		})
	}
	return list, total
}

// HasInside reports whether Inside lists anything.
func HasInside(v lua.LValue) bool {
	if t, ok := v.(*lua.LTable); ok {
		first, _ := t.Next(lua.LNil)
		return first != lua.LNil
	}
	r, ok := bindings.RecordOf(v)
	return ok && len(r.Fields) > 0
}

// Visible returns the local variables of a level that are not shadowed.
func Visible(l *vm.Level) []vm.Variable {
	var list []vm.Variable
	for _, v := range l.Locals() {
		list = slices.DeleteFunc(list, func(earlier vm.Variable) bool { return earlier.Name == v.Name })
		list = append(list, v)
	}
	return list
}

var expression = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([^{}]+)\}`) })

// fill replaces the expressions in the text of a log point.
func (s *Stop) fill(text string) string {
	return expression().ReplaceAllStringFunc(text, func(match string) string {
		values, err := s.Evaluate(0, match[1:len(match)-1])
		if err != nil {
			return "{" + err.Error() + "}"
		}
		return s.Line(values)
	})
}

// Line formats a list of values like print, tables in Lua syntax.
func (s *Stop) Line(values []lua.LValue) string {
	line := ""
	for i, v := range values {
		if i > 0 {
			line += ", "
		}
		if text, ok := v.(lua.LString); ok {
			line += string(text)
		} else {
			line += s.Show(v, 4000)
		}
	}
	return cmp.Or(line, "nil")
}

// tasks numbers the tasks in the order in which they began to run Lua.
type tasks struct {
	numbers map[*vm.Task]int
	threads map[*vm.Task]*lua.LState // where each ran last
	last    int
}

// manyTasks is the number of tasks from which ended ones are forgotten.
const manyTasks = 1000

func (t *tasks) seen(task *vm.Task, L *lua.LState) {
	if t.numbers[task] == 0 {
		if len(t.numbers) >= manyTasks {
			t.live()
		}
		t.last++
		t.numbers[task] = t.last
	}
	t.threads[task] = L
}

func (t *tasks) number(task *vm.Task) int { return t.numbers[task] }

func (t *tasks) live() (list []int) {
	for task, n := range t.numbers {
		if task.Ended() {
			delete(t.numbers, task)
			delete(t.threads, task)
		} else {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

func (t *tasks) thread(number int) (*vm.Task, *lua.LState) {
	for task, n := range t.numbers {
		if n == number && !task.Ended() {
			return task, t.threads[task]
		}
	}
	return nil, nil
}
