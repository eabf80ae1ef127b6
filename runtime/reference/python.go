package reference

import (
	_ "embed"
	"slices"
	"strings"
)

// PythonCall pairs a call of the platform's Python SDK with ours. Python is empty if the SDK has none.
type PythonCall struct {
	Manager string `json:"manager"`
	Python  string `json:"python,omitempty"`
	Lua     string `json:"lua"`
	Note    string `json:"note,omitempty"` // renamed arguments, and arguments that only we have
}

// The calls of the SDK with the names of their arguments: those after * go by
// name only, those with ? may be left out.
//
//go:embed python_calls.txt
var pythonSDK string

// pythonPage is the guide that lists the calls.
const pythonPage = "python"

// pythonCalls pairs each call of the SDK with the operation of its name, in the order of the operations;
// operations that the SDK lacks come last in a manager.
func (r *Reference) pythonCalls() (calls []PythonCall) {
	arguments := map[string][]string{} // of the SDK, by the full name of ours
	names := map[string]string{}
	for line := range strings.Lines(pythonSDK) {
		words := strings.Fields(line)
		_, e, err := r.Find(words[0])
		if err != nil {
			panic(err) // the list is part of the program
		}
		arguments[e.FullName()], names[e.FullName()] = words[1:], words[0]
	}
	for _, g := range r.Managers {
		var ours []PythonCall
		for _, e := range g.Operations {
			call := PythonCall{Manager: g.Name, Lua: "sdk." + e.FullName() + e.luaArguments()}
			if name, ok := names[e.FullName()]; ok {
				call.Python, call.Note = "sdk."+name+pythonArguments(arguments[e.FullName()]), e.pythonNote(arguments[e.FullName()])
				calls = append(calls, call)
			} else {
				ours = append(ours, call)
			}
		}
		calls = append(calls, ours...)
	}
	return calls
}

// pythonArguments returns the required arguments, and … for the others.
func pythonArguments(names []string) string {
	var list []string
	byName, more := false, false
	for _, name := range names {
		switch {
		case name == "*":
			byName = true
		case strings.HasSuffix(name, "?"):
			more = true
		case byName:
			list = append(list, name+"=")
		default:
			list = append(list, name)
		}
	}
	if more {
		list = append(list, "…")
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// luaArguments returns the required arguments as they are written, and … for the others.
func (e *Entry) luaArguments() string {
	var positional, named []string
	more := false
	for _, p := range e.Parameters {
		switch {
		case !p.Required:
			more = true
		case p.Positional:
			positional = append(positional, p.Name)
		default:
			named = append(named, p.Name+" =")
		}
	}
	if more {
		named = append(named, "…")
	}
	table := "{ " + strings.Join(named, ", ") + " }"
	switch {
	case len(named) == 0:
		return "(" + strings.Join(positional, ", ") + ")"
	case len(positional) == 0:
		return table
	}
	return "(" + strings.Join(append(positional, table), ", ") + ")"
}

// pythonNote describes which arguments are renamed, and which the SDK lacks.
func (e *Entry) pythonNote(python []string) string {
	var notes, more []string
	for _, p := range e.Parameters {
		i := slices.IndexFunc(python, func(name string) bool {
			name = strings.TrimSuffix(name, "?")
			return name == p.Name || slices.Contains(p.Aliases, name)
		})
		if i < 0 {
			more = append(more, p.Name)
		} else if name := strings.TrimSuffix(python[i], "?"); name != p.Name {
			notes = append(notes, name+" is also "+p.Name)
		}
	}
	if len(more) > 0 {
		notes = append(notes, "also takes "+strings.Join(more, ", "))
	}
	return strings.Join(notes, "; ")
}

// callSections returns tables of calls, one per manager.
func callSections(calls []PythonCall) (sections []section) {
	if len(calls) > 0 {
		sections = append(sections, section{title: "Calls",
			text: "the Python SDK's and ours; … marks optional arguments, (none) a call that the SDK lacks"})
	}
	for _, c := range calls {
		if sections[len(sections)-1].title != c.Manager {
			sections = append(sections, section{title: c.Manager})
		}
		last := &sections[len(sections)-1]
		python := c.Python
		if python == "" {
			python = "(none)"
		}
		last.rows = append(last.rows, []string{python, c.Lua, c.Note})
	}
	return sections
}
