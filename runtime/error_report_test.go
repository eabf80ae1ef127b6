package runtime

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"transect/client/fault"
	"transect/runtime/vm"
)

func TestReport(t *testing.T) {
	t.Parallel()
	m := newMemory(t, nil)
	m.write(t, "a.lua", "first\n  local p = describe(id)\n")
	cause := fault.Hinted(fault.Of(&fault.ConnectionError{}, "no route"), "check the network")
	f := fault.In("projects.describe", fault.Of(&fault.ResponseError{Status: 404}, "gone"))
	f.(fault.Fault).Facts().Cause = cause
	err := &vm.ScriptError{Err: f, Frames: []vm.Frame{{File: "a.lua", Line: 2}, {File: "a.lua", Line: 2}, {File: "b.lua", Line: 9}}}

	Report(&m.Process, Output{}, err)
	want := `ResponseError: projects.describe: gone
  a.lua:2: local p = describe(id)
  from b.lua:9
  cause: no route
  hint: check the network
`
	if got := m.err.String(); got != want {
		t.Errorf("got\n%s", got)
	}

	m.err.Reset()
	Report(&m.Process, Output{JSON: true}, err)
	var line struct {
		Error, Operation, File, Source, Hint string
		Line, Status                         int
		Exit                                 int `json:"exit_code"`
	}
	if err := json.Unmarshal(m.err.Bytes(), &line); err != nil || strings.Count(m.err.String(), "\n") != 1 {
		t.Fatalf("%v in %s", err, m.err.String())
	}
	if line.Error != "ResponseError" || line.Operation != "projects.describe" || line.File != "a.lua" || line.Line != 2 ||
		line.Source != "local p = describe(id)" || line.Status != 404 || line.Exit != 1 || line.Hint != "check the network" {
		t.Errorf("%+v", line)
	}
}

func TestReportSaysNothingOfAnExit(t *testing.T) {
	t.Parallel()
	m := newMemory(t, nil)
	Report(&m.Process, Output{}, nil)
	Report(&m.Process, Output{}, &vm.Exit{Code: 3})
	if m.err.Len() > 0 {
		t.Errorf("printed %q", m.err.String())
	}
}

func TestColoursOnlyOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		terminal bool
		env      map[string]string
		want     bool
	}{
		{false, nil, false}, {true, nil, true},
		{true, map[string]string{"NO_COLOR": "1"}, false}, {true, map[string]string{"TERM": "dumb"}, false},
	} {
		m := newMemory(t, c.env)
		m.IsTerminal = func(any) bool { return c.terminal }
		Report(&m.Process, Output{}, errors.New("x"))
		if got := strings.Contains(m.err.String(), "\x1b["); got != c.want {
			t.Errorf("%+v: coloured %v", c, got)
		}
	}
}

func TestStackOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	for _, asked := range []string{"", "1"} {
		m := newMemory(t, map[string]string{"TRANSECT_DEBUG": asked})
		Report(&m.Process, Output{}, vm.Internal("out of cheese"))
		text := m.err.String()
		if !strings.Contains(text, "internal error: out of cheese") || !strings.Contains(text, "please report it") {
			t.Errorf("printed %q", text)
		}
		if strings.Contains(text, "goroutine") != (asked != "") {
			t.Errorf("TRANSECT_DEBUG=%s: printed %q", asked, text)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"  error('x')\r": "error('x')",
		`connect{ password = "pw", user = "me" }`: `connect{ password = "…", user = "me" }`,
		`c.client_secret='a\'b'`:                  `c.client_secret="…"`,
		`t["access_token"] = "abc`:                `t["access_token"] = "…"`,
		`password = args.password`:                `password = args.password`,
		strings.Repeat("é", maxSource+1):          strings.Repeat("é", maxSource) + " …",
	} {
		if got := quote(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A chunk's name is the script's to choose: it is shown, and moves no cursor.
func TestPositionsAreVisible(t *testing.T) {
	t.Parallel()
	m := newMemory(t, nil)
	job := Job{Code: `loadstring("error('boom')", "@a\27[2K\rb")()`}
	Report(&m.Process, Output{}, Run(t.Context(), &m.Process, job))
	if got := m.err.String(); strings.ContainsAny(got, "\x1b\r") || !strings.Contains(got, `a\x1b[2K`) {
		t.Errorf("printed %q", got)
	}
}
