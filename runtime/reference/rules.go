package reference

import "transect/runtime/lint"

func newRulesPage() *Page {
	return &Page{Name: "check", Title: "check: the rules of transect check", Rules: lint.Rules(), Text: `
transect check finds mistakes without running a script. Nothing is reported unless it is certain. Exceptions
are allowed for a line by a comment at its end, for a script by one on a line of its own, for a command by a flag:

    total = 0 -- check: allow assigned-global
    -- check: allow unused-variable, undeclared-global
    transect check --allow own-module src/

"-- check: ignore" at the end of a line allows everything in it.`[1:]}
}

func rulesSection(rules []lint.Rule) section {
	s := section{title: "Rules, each with the smallest script that breaks it"}
	for _, r := range rules {
		s.rows = append(s.rows, []string{r.Name, r.Doc, "`" + r.Example + "`"})
	}
	return s
}
