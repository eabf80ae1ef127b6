package repl

import (
	"slices"
	"strings"

	"transect/runtime/engine/compile"
	"transect/runtime/lint"
	"transect/runtime/luafmt"
)

// scriptOf joins the inputs of a session to a script that passes transect check. The prompt has one variable
// of each name, which functions of earlier inputs see too: a second declaration becomes an assignment, and
// variables used or assigned before their declaration are declared first.
func scriptOf(inputs []string) string {
	first := usedBefore(inputs)
	checker := lint.New()
	for {
		code := join(inputs, first)
		found := checker.Analyse("", []byte(code))
		before := len(first)
		for _, p := range found.Problems {
			i := slices.IndexFunc(found.Names, func(n lint.Name) bool { return n.Line == p.Line && n.Column == p.Column })
			if i >= 0 && p.Rule == lint.AssignedGlobal && !slices.Contains(first, found.Names[i].Text) {
				first = append(first, found.Names[i].Text)
			}
		}
		if len(first) == before {
			return allowed(code, found.Problems)
		}
	}
}

// allowed marks the lines that check would report, as they ran. The end of a line may be within a string,
// which is left alone.
func allowed(code string, problems []lint.Problem) string {
	same := func(a, b word) bool { return a.text == b.text }
	for _, p := range problems {
		lines := strings.Split(code, "\n")
		if line := &lines[p.Line-1]; !strings.HasSuffix(*line, ignore) {
			*line += ignore
		}
		if marked := strings.Join(lines, "\n"); slices.EqualFunc(words(code), words(marked), same) {
			code = marked
		}
	}
	return code
}

const ignore = " -- check: ignore"

// join joins inputs, after a declaration of the names in first.
func join(inputs, first []string) string {
	declared := map[string]bool{}
	for _, name := range first {
		declared[name] = true
	}
	var b strings.Builder
	if len(first) > 0 {
		b.WriteString("local " + strings.Join(first, ", ") + "\n")
	}
	for _, text := range inputs {
		at := 0
		for _, l := range locals(text) {
			if declared[l.names[0]] { // then all are
				b.WriteString(text[at:l.from] + text[l.name:l.to])
				if at = l.to; !l.assigned {
					b.WriteString(" = nil")
				}
			}
			for _, name := range l.names {
				declared[name] = true
			}
		}
		b.WriteString(text[at:] + "\n")
	}
	if code, err := luafmt.Source("", []byte(b.String())); err == nil {
		return string(code)
	}
	return b.String()
}

// usedBefore lists the names that inputs use before they declare them, and names declared together with a
// known one.
func usedBefore(inputs []string) (first []string) {
	for {
		used, declared, before := map[string]bool{}, map[string]bool{}, len(first)
		for _, name := range first {
			declared[name] = true
		}
		for _, text := range inputs {
			for _, l := range locals(text) {
				again := slices.ContainsFunc(l.names, func(name string) bool { return declared[name] })
				for _, name := range l.names {
					if !declared[name] && (again || used[name]) {
						first = append(first, name)
					}
					declared[name] = true
				}
			}
			for _, w := range words(text) {
				used[w.text] = true
			}
		}
		if len(first) == before {
			return first
		}
	}
}

// local is a local statement outside of blocks.
type local struct {
	from, name, to int // where it and its first name begin, and its names end
	names          []string
	assigned       bool // the names get values, or it is a function
}

func locals(text string) (list []local) {
	depth, all := 0, words(text)
	for i, w := range all {
		switch w.text {
		case "do", "if", "function", "repeat":
			depth++
		case "end", "until":
			depth--
		}
		if w.text != "local" || depth > 0 || i+1 == len(all) {
			continue
		}
		l, rest := local{from: w.From, name: all[i+1].From}, all[i+1:]
		if l.assigned = rest[0].text == "function"; l.assigned {
			rest = rest[1:]
		}
		for ; len(rest) > 0; rest = rest[2:] {
			l.names, l.to = append(l.names, rest[0].text), rest[0].To
			if len(rest) < 2 || rest[1].text != "," {
				l.assigned = l.assigned || len(rest) > 1 && rest[1].text == "="
				break
			}
		}
		list = append(list, l)
	}
	return list
}

// word is a token with its text; tokens of strings do not count as words.
type word struct {
	compile.Token
	text string
}

func words(text string) (list []word) {
	for _, t := range compile.Tokens([]byte(text)) {
		if t.Kind != compile.Comment {
			list = append(list, word{t, text[t.From:t.To]})
		}
	}
	return list
}
