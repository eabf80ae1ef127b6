package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"transect/client"
	"transect/client/declare"
)

// ruleTexts say what is done with a write whose answer was lost.
var ruleTexts = []struct {
	rule declare.Rule
	text string
}{
	{declare.BySearch, "searched by its arguments, newest first; one that fits is taken, none: sent, several: `UnknownOutcomeError`"},
	{declare.ByList, "the same, on the whole list of its subject"},
	{declare.ByKey, "sent again, for the platform refuses a second one; then found by its key"},
	{declare.BySteps, "each of its steps is settled by itself"},
	{declare.Probe, "its subject is read; sent unless it is so already"},
	{declare.Ask, "nothing shows it: `UnknownOutcomeError`"},
	{declare.Repeat, "sent again: the state is the same"},
	{declare.Gone, "sent again: what is not found is deleted"},
	{declare.NoRequest, "there is no request"},
}

// ruleTable lists the writes by what becomes of a lost one.
func ruleTable() string {
	by := map[declare.Rule][]string{}
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			if s.Effect != declare.Read {
				by[s.Unknown.Rule] = append(by[s.Unknown.Rule], "`"+s.FullName()+"`")
			}
		}
	}
	var b strings.Builder
	b.WriteString("| a lost one is … | writes |\n|---|---|\n")
	for _, r := range ruleTexts {
		names := strings.Join(by[r.rule], ", ")
		switch r.rule {
		case declare.Repeat:
			names = fmt.Sprintf("the other %d operations that set something", len(by[r.rule]))
		case declare.Gone:
			names = fmt.Sprintf("the %d that delete", len(by[r.rule]))
		}
		if len(by[r.rule]) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", r.text, names)
		}
	}
	return b.String()
}

// The page about runs that survive has the rules of the declarations. With
// TRANSECT_UPDATE set the test writes them into it.
func TestSurvivingPage(t *testing.T) {
	const path, begin, end = "../../docs/surviving.md", "<!-- rules -->\n", "<!-- end of rules -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("the marks of the table are missing")
	}
	want := ruleTable()
	if table != want {
		if os.Getenv("TRANSECT_UPDATE") == "" {
			t.Errorf("the table is old, run this test with TRANSECT_UPDATE=1:\n%s", want)
		} else if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(string(text), "\n"); n > 150 {
		t.Errorf("%d lines: at most 150", n)
	}
	if strings.Contains(strings.ToLower(string(text)), "exactly "+"once") {
		t.Error("it promises what nobody can")
	}
}
