package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	protocol "github.com/google/go-dap"

	"transect/testdata/flightgen"
)

// ide is an editor that debugs over the Debug Adapter Protocol. It writes messages as
// Visual Studio Code does, by hand.
type ide struct {
	*home
	in       io.WriteCloser
	messages chan protocol.Message
	seq      int
	thread   int                     // that stopped last
	events   []protocol.EventMessage // that nobody has asked for yet
	printed  map[string]string       // by category
	wait     func() error
}

func edit(h *home) *ide {
	h.t.Helper()
	cmd := h.command("dap")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cmd.Process.Kill() })
	e := &ide{home: h, in: in, messages: make(chan protocol.Message), printed: map[string]string{}, wait: cmd.Wait}
	go func() {
		defer close(e.messages)
		for reader := bufio.NewReader(out); ; {
			m, err := protocol.ReadProtocolMessage(reader)
			if err != nil {
				return
			}
			e.messages <- m
		}
	}()
	return e
}

func (e *ide) write(text string) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		e.t.Fatal(err)
	}
}

// send sends a request and returns its number.
func (e *ide) send(command, arguments string) int {
	e.t.Helper()
	e.seq++
	e.write(fmt.Sprintf(`{"command":%q,"arguments":%s,"type":"request","seq":%d}`, command, arguments, e.seq))
	return e.seq
}

// receive takes the next message; nil at the end of the connection.
func (e *ide) receive() protocol.Message {
	e.t.Helper()
	select {
	case m := <-e.messages:
		if o, ok := m.(*protocol.OutputEvent); ok {
			e.printed[o.Body.Category] += o.Body.Output
		}
		return m
	case <-time.After(testTimeout):
		e.t.Fatalf("no message; printed: %v", e.printed)
		return nil
	}
}

// answer is the answer to a request.
func answer[T protocol.Message](e *ide, to int) T {
	e.t.Helper()
	for {
		switch m := e.receive().(type) {
		case nil:
			e.t.Fatal("the connection ended")
		case protocol.EventMessage:
			e.events = append(e.events, m)
		case protocol.ResponseMessage:
			if m.GetResponse().RequestSeq != to {
				e.t.Fatalf("an answer to another request: %+v", m)
			}
			wanted, ok := m.(T)
			if !ok {
				e.t.Fatalf("answered %T, not %T: %s", m, wanted, m.GetResponse().Message)
			}
			return wanted
		}
	}
}

// ask sends a request and returns its answer.
func ask[T protocol.Message](e *ide, command, arguments string) T {
	e.t.Helper()
	return answer[T](e, e.send(command, arguments))
}

// refused sends a request that is answered by an error.
func (e *ide) refused(command, arguments, why string) {
	e.t.Helper()
	r := ask[*protocol.ErrorResponse](e, command, arguments)
	if r.Success || !strings.Contains(r.Message, why) || r.Body.Error == nil {
		e.t.Fatalf("%s was answered %+v, not refused with %q", command, r, why)
	}
}

// event waits for an event.
func event[T protocol.EventMessage](e *ide) T {
	e.t.Helper()
	for {
		for i, m := range e.events {
			if wanted, ok := m.(T); ok {
				e.events = slices.Delete(e.events, 0, i+1)
				return wanted
			}
		}
		e.events = nil
		switch m := e.receive().(type) {
		case nil:
			e.t.Fatal("the connection ended")
		case protocol.EventMessage:
			e.events = append(e.events, m)
		default:
			e.t.Fatalf("unexpected: %+v", m)
		}
	}
}

// launch begins a session as far as breakpoints are set.
func (e *ide) launch(configuration string) {
	e.t.Helper()
	c := ask[*protocol.InitializeResponse](e, "initialize", `{"clientID":"vscode","clientName":"Visual Studio Code",`+
		`"adapterID":"transect","pathFormat":"path","linesStartAt1":true,"columnsStartAt1":true,"supportsVariableType":true,`+
		`"supportsVariablePaging":true,"supportsRunInTerminalRequest":true,"locale":"en"}`)
	if !c.Body.SupportsConfigurationDoneRequest || len(c.Body.ExceptionBreakpointFilters) != 2 {
		e.t.Fatalf("capabilities %+v", c.Body)
	}
	ask[*protocol.LaunchResponse](e, "launch", `{"name":"Debug","type":"transect","request":"launch",`+
		`"__configurationTarget":6,"__sessionId":"0b3c","cwd":`+quoted(e.dir)+`,`+configuration+`}`)
	event[*protocol.InitializedEvent](e)
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // texts always marshal
	return string(b)
}

// breaks sets the breakpoints of a file.
func (e *ide) breaks(file, points string) []protocol.Breakpoint {
	e.t.Helper()
	return ask[*protocol.SetBreakpointsResponse](e, "setBreakpoints", `{"source":{"name":"x","path":`+quoted(file)+
		`},"breakpoints":[`+points+`],"sourceModified":false}`).Body.Breakpoints
}

func (e *ide) catch(filters string) {
	e.t.Helper()
	ask[*protocol.SetExceptionBreakpointsResponse](e, "setExceptionBreakpoints", `{"filters":[`+filters+`]}`)
}

func (e *ide) configured() {
	e.t.Helper()
	ask[*protocol.ConfigurationDoneResponse](e, "configurationDone", `{}`)
}

// stops waits until the script stops, which shall be at a line for a reason.
func (e *ide) stops(reason string, line int) *protocol.StoppedEvent {
	e.t.Helper()
	s := event[*protocol.StoppedEvent](e)
	e.thread = s.Body.ThreadId
	frames := e.stack(s.Body.ThreadId)
	if s.Body.Reason != reason || frames[0].Line != line || !s.Body.AllThreadsStopped {
		e.t.Fatalf("stopped for %s at %+v, not for %s at line %d; printed: %v", s.Body.Reason, frames[0], reason, line, e.printed)
	}
	return s
}

func (e *ide) stack(thread int) []protocol.StackFrame {
	e.t.Helper()
	return ask[*protocol.StackTraceResponse](e, "stackTrace",
		fmt.Sprintf(`{"threadId":%d,"startFrame":0,"levels":20}`, thread)).Body.StackFrames
}

// scope are the variables of a scope, as "name = value" or "name: type = value".
func (e *ide) scope(frame int, name string) (texts []string, list []protocol.Variable) {
	e.t.Helper()
	for _, s := range ask[*protocol.ScopesResponse](e, "scopes", fmt.Sprintf(`{"frameId":%d}`, frame)).Body.Scopes {
		if s.Name == name {
			return e.inside(s.VariablesReference, "")
		}
	}
	e.t.Fatalf("there is no scope %s", name)
	return nil, nil
}

func (e *ide) inside(reference int, more string) (texts []string, list []protocol.Variable) {
	e.t.Helper()
	list = ask[*protocol.VariablesResponse](e, "variables",
		fmt.Sprintf(`{"variablesReference":%d%s}`, reference, more)).Body.Variables
	for _, v := range list {
		texts = append(texts, v.Name+": "+v.Type+" = "+v.Value)
	}
	return texts, list
}

func (e *ide) evaluates(frame int, context, code, want string) {
	e.t.Helper()
	r := ask[*protocol.EvaluateResponse](e, "evaluate",
		fmt.Sprintf(`{"expression":%s,"frameId":%d,"context":%q}`, quoted(code), frame, context))
	if r.Body.Result != want {
		e.t.Fatalf("%s is %q, not %q", code, r.Body.Result, want)
	}
}

// goOn lets the script go on; a step is one of the task that stopped.
func (e *ide) goOn(command string) {
	e.t.Helper()
	e.steps(command, e.thread)
}

func (e *ide) steps(command string, thread int) {
	e.t.Helper()
	e.send(command, fmt.Sprintf(`{"threadId":%d}`, thread))
	r := e.receive()
	for _, ok := r.(protocol.EventMessage); ok; _, ok = r.(protocol.EventMessage) {
		e.events = append(e.events, r.(protocol.EventMessage))
		r = e.receive()
	}
	if a, ok := r.(protocol.ResponseMessage); !ok || !a.GetResponse().Success {
		e.t.Fatalf("%s was answered %+v", command, r)
	}
}

// ends waits for the end of the script and ends the session.
func (e *ide) ends(code int) {
	e.t.Helper()
	if x := event[*protocol.ExitedEvent](e); x.Body.ExitCode != code {
		e.t.Fatalf("exit code %d, not %d; printed: %v", x.Body.ExitCode, code, e.printed)
	}
	event[*protocol.TerminatedEvent](e)
	ask[*protocol.DisconnectResponse](e, "disconnect", `{"restart":false,"terminateDebuggee":true}`)
	if err := e.wait(); err != nil {
		e.t.Fatalf("the server ended with %v", err)
	}
}

func equalTexts(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDebugInEditor(t *testing.T) {
	t.Parallel()
	e := edit(newHome(t, 0, flightgen.Options{}))
	script := e.file("main.lua", `local sdk = require("sdk")
total = 0
local function add(n, options)
  local double = n * 2
  total = total + double
  return double
end
local big = {}
for i = 1, 250 do big[i] = i end
local quarry = sdk.projects.create{ name = "Quarry", company = sdk.users.describe().company }
for i = 1, 3 do
  add(i, { name = "x", token = "geheim", ["a b"] = { 1 } })
end
print(total, big.x, quarry.name, arg[1], os.getenv("SEASON"))
io.stderr:write("done\n")
`)
	e.launch(`"program":` + quoted(script) + `,"args":["flight"],"local":true,"env":{"SEASON":"spring"},"stopOnEntry":true`)
	e.refused("stackTrace", `{"threadId":1}`, "the script is not stopped")

	points := e.breaks(script, `{"line":5,"condition":"n == 2"},{"line":4,"condition":"n =="},{"line":7},{"line":99}`)
	var said []string
	for _, p := range points {
		said = append(said, fmt.Sprintf("%v %d %s", p.Verified, p.Line, strings.ReplaceAll(p.Message, script, "main.lua")))
	}
	equalTexts(t, said, "true 5 ",
		"false 4 the condition n == is not an expression: (debugger):1: the script ends in the middle of a statement",
		"true 7 ", "false 99 main.lua has no code at line 99 or after it")
	if lost := e.breaks(filepath.Join(e.dir, "none.lua"), `{"line":1}`); lost[0].Verified || lost[0].Message == "" {
		t.Fatalf("a breakpoint in no file: %+v", lost)
	}
	points = e.breaks(script, `{"line":5,"condition":"n == 2"},{"line":6,"logMessage":"made {double} of {n}"},{"line":14}`)
	e.catch(`"uncaught"`)
	e.configured()
	e.stops("entry", 1)
	e.goOn("next")
	e.stops("step", 2)
	e.goOn("continue")

	s := e.stops("breakpoint", 5)
	if len(s.Body.HitBreakpointIds) != 1 || s.Body.HitBreakpointIds[0] != points[0].Id {
		t.Fatalf("%+v, breakpoints %+v", s.Body, points)
	}
	frames := e.stack(s.Body.ThreadId)
	if len(frames) != 2 || frames[1].Line != 12 || frames[0].Source.Path != script || frames[0].Name != "the function of line 3" ||
		frames[1].Name != "main.lua" {
		t.Fatalf("stack %+v", frames)
	}
	texts, locals := e.scope(frames[0].Id, "Locals")
	equalTexts(t, texts, "n: number = 2", `options: table = { ["a b"] = { 1 }, name = "x", token = … }`, "double: number = 4")
	texts, inside := e.inside(locals[1].VariablesReference, "")
	equalTexts(t, texts, "a b: table = { 1 }", `name: string = "x"`, "token: string = …")
	if inside[0].EvaluateName != `options["a b"]` || inside[1].EvaluateName != "options.name" {
		t.Fatalf("%+v", inside)
	}
	texts, _ = e.scope(frames[0].Id, "Globals")
	equalTexts(t, texts, "total: number = 2")
	texts, list := e.scope(frames[1].Id, "Locals")
	if i := slices.IndexFunc(list, func(v protocol.Variable) bool { return v.Name == "quarry" }); i < 0 ||
		list[i].Type != "project" {
		t.Fatalf("locals of the script %v", texts)
	} else if fields, _ := e.inside(list[i].VariablesReference, ""); !slices.Contains(fields, `name: string = "Quarry"`) {
		t.Fatalf("fields of the record %v", fields)
	}
	i := slices.IndexFunc(list, func(v protocol.Variable) bool { return v.Name == "big" })
	if list[i].IndexedVariables != 250 || list[i].NamedVariables != 0 {
		t.Fatalf("a long list %+v", list[i])
	}
	texts, _ = e.inside(list[i].VariablesReference, `,"filter":"indexed","start":200,"count":2`)
	equalTexts(t, texts, "[201]: number = 201", "[202]: number = 202")

	e.evaluates(frames[0].Id, "repl", "n, double, total", "2, 4, 2")
	e.evaluates(frames[0].Id, "watch", "options.name .. n", `"x2"`)
	e.evaluates(frames[1].Id, "watch", "i", "2")
	e.evaluates(frames[0].Id, "hover", "options.name", `"x"`)
	e.evaluates(frames[0].Id, "hover", "options.token", "…")
	e.evaluates(frames[0].Id, "repl", "options.token", "…")
	e.evaluates(frames[0].Id, "repl", "total = 100", "")
	hover := func(code string) string {
		return fmt.Sprintf(`{"expression":%q,"frameId":%d,"context":"hover"}`, code, frames[0].Id)
	}
	e.refused("evaluate", hover("print(1)"), "only variables and fields")
	e.refused("evaluate", hover("n.x.y"), "attempt to index")
	e.refused("evaluate", fmt.Sprintf(`{"expression":"n n","frameId":%d,"context":"repl"}`, frames[0].Id), "(debugger):1")
	_, locals = e.scope(frames[0].Id, "Locals")
	scope := ask[*protocol.ScopesResponse](e, "scopes", fmt.Sprintf(`{"frameId":%d}`, frames[0].Id)).Body.Scopes[0]
	set := func(reference int, name, value string) string {
		return fmt.Sprintf(`{"variablesReference":%d,"name":%q,"value":%q}`, reference, name, value)
	}
	r := ask[*protocol.SetVariableResponse](e, "setVariable", set(scope.VariablesReference, "double", "n + 5"))
	if r.Body.Value != "7" {
		t.Fatalf("set to %+v", r.Body)
	}
	ask[*protocol.SetVariableResponse](e, "setVariable", set(locals[1].VariablesReference, "name", `"y"`))
	e.evaluates(frames[0].Id, "repl", "double, options.name", "7, y")
	e.refused("setVariable", set(scope.VariablesReference, "nothing", "1"), "no variable nothing")
	e.refused("exceptionInfo", `{"threadId":1}`, "not stopped at an error")

	e.goOn("stepOut")
	e.stops("step", 11)
	e.refused("scopes", fmt.Sprintf(`{"frameId":%d}`, frames[0].Id), "has gone on")
	e.goOn("continue")
	e.stops("breakpoint", 14)
	e.goOn("continue")
	e.ends(0)
	if out := e.printed["stdout"]; out != "113\tnil\tQuarry\tflight\tspring\n" {
		t.Errorf("printed %q", out)
	}
	if log := e.printed["console"]; log != "made 2 of 1\nmade 7 of 2\nmade 6 of 3\n" {
		t.Errorf("logged %q", log)
	}
	if !strings.Contains(e.printed["stderr"], "done\n") {
		t.Errorf("standard error %q", e.printed["stderr"])
	}
}

// An error stops the script where it arises, and its variables are those of the moment.
func TestDebugErrorsInEditor(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	script := h.file("fails.lua", `pcall(error, "caught")
local function dive(name)
  local deep = nil
  return deep.fields[name]
end
dive("x")
`)
	for filters, caught := range map[string]bool{`"uncaught"`: false, `"all"`: true, `"uncaught","all"`: true} {
		e := edit(h)
		e.launch(`"program":"fails.lua"`)
		e.refused("setExceptionBreakpoints", `{"filters":["some"]}`, "no filter some")
		e.catch(filters)
		e.configured()
		if caught {
			if s := e.stops("exception", 1); s.Body.Text != "caught" {
				t.Fatalf("%+v", s.Body)
			}
			e.goOn("continue")
		}
		s := e.stops("exception", 4)
		if !strings.Contains(s.Body.Text, "attempt to index local 'deep' (a nil value)") {
			t.Fatalf("%+v", s.Body)
		}
		info := ask[*protocol.ExceptionInfoResponse](e, "exceptionInfo", `{"threadId":1}`)
		if info.Body.Description != s.Body.Text {
			t.Fatalf("%+v", info.Body)
		}
		frames := e.stack(1)
		if frames[0].Source.Path != script {
			t.Fatalf("%+v", frames)
		}
		texts, _ := e.scope(frames[0].Id, "Locals")
		equalTexts(t, texts, `name: string = "x"`, "deep: nil = nil")
		e.goOn("continue")
		e.ends(1)
		if !strings.Contains(e.printed["stderr"], "fails.lua:4") {
			t.Errorf("standard error %q", e.printed["stderr"])
		}
	}
	e := edit(h)
	e.launch(`"program":"fails.lua"`)
	e.catch("")
	e.configured()
	e.ends(1)
}

// All tasks stop together; steps follow one of them, also into coroutines.
func TestDebugTasksInEditor(t *testing.T) {
	t.Parallel()
	e := edit(newHome(t, 0, flightgen.Options{}))
	script := e.file("tasks.lua", `local task = require("task")
local function count(a)
  local b = a + 1
  coroutine.yield(b)
end
local function work(name)
  local co = coroutine.wrap(count)
  local x = co(1)
  task.sleep(0.01)
  return name .. x
end
local one, two = task.spawn(work, "a"), task.spawn(work, "b")
local both = one:await() .. two:await()
print(both)
`)
	e.launch(`"program":` + quoted(script))
	e.breaks(script, `{"line":8}`)
	e.configured()
	first := e.stops("breakpoint", 8).Body.ThreadId // of either: they take turns
	threads := ask[*protocol.ThreadsResponse](e, "threads", `{}`).Body.Threads
	if len(threads) < 2 || threads[0].Name != "script" ||
		!slices.Contains(threads[1:], protocol.Thread{Id: first, Name: fmt.Sprint("task ", first)}) {
		t.Fatalf("stopped in task %d of %+v", first, threads)
	}
	if main := e.stack(1); main[0].Line != 13 && main[0].Line != 12 {
		t.Fatalf("the script is at %+v", main)
	}
	e.refused("stackTrace", `{"threadId":77}`, "no task 77")
	e.breaks(script, "")
	e.goOn("stepIn")
	e.stops("step", 3)
	if frames := e.stack(first); len(frames) != 2 || frames[1].Line != 8 {
		t.Fatalf("in the coroutine %+v", frames)
	}
	e.goOn("next")
	e.stops("step", 4)
	e.goOn("stepOut")
	e.stops("step", 9)
	e.goOn("next")
	if s := e.stops("step", 10); s.Body.ThreadId != first {
		t.Fatalf("the step ended in another task: %+v", s.Body)
	}
	e.steps("next", 1) // the script waits for that task
	if s := e.stops("step", 14); s.Body.ThreadId != 1 {
		t.Fatalf("the step was not one of the task that was asked for: %+v", s.Body)
	}
	e.goOn("continue")
	e.ends(0)
	if out := e.printed["stdout"]; out != "a2b2\n" {
		t.Errorf("printed %q", out)
	}
}

// A script that runs is stopped and ended, also while it evaluates something for ever.
func TestPauseInEditor(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	script := h.file("endless.lua", "local n = 0\nwhile true do\n  n = n + 1\nend\n")
	begin := func() *ide {
		e := edit(h)
		e.launch(`"program":` + quoted(script))
		e.configured()
		ask[*protocol.PauseResponse](e, "pause", `{"threadId":1}`)
		if s := event[*protocol.StoppedEvent](e); s.Body.Reason != "pause" {
			t.Fatalf("%+v", s.Body)
		}
		return e
	}
	e := begin()
	e.goOn("continue")
	ask[*protocol.PauseResponse](e, "pause", `{"threadId":1}`)
	event[*protocol.StoppedEvent](e)
	e.send("evaluate", `{"expression":"(function() while true do end end)()","context":"repl"}`)
	ask[*protocol.ThreadsResponse](e, "threads", `{}`)
	e.send("terminate", `{}`)
	e.exits(130)

	e = begin()
	ask[*protocol.TerminateResponse](e, "terminate", `{}`)
	e.ends(130)

	e = begin()
	e.goOn("continue")
	ask[*protocol.DisconnectResponse](e, "disconnect", `{}`)
	if err := e.wait(); err != nil {
		t.Fatal(err)
	}

	e = begin() // the editor dies
	_ = e.in.Close()
	for e.receive() != nil {
	}
	if err := e.wait(); err != nil {
		t.Fatal(err)
	}
}

// exits waits for the end of a script, whatever else is answered meanwhile.
func (e *ide) exits(code int) {
	e.t.Helper()
	for {
		switch m := e.receive().(type) {
		case nil:
			e.t.Fatal("the connection ended")
		case *protocol.ExitedEvent:
			if m.Body.ExitCode != code {
				e.t.Fatalf("exit code %d, not %d", m.Body.ExitCode, code)
			}
			return
		}
	}
}

// What a resumed run does not send again is told.
func TestResumeInEditor(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	script := h.file("resumed.lua", `local sdk = require("sdk")
sdk.projects.create{ name = "Quarry", company = sdk.users.describe().company }
assert(os.getenv("GO"), "stopped")
`)
	if _, stderr, code := h.run("run", "--local", script); code != 1 {
		t.Fatal(stderr)
	}
	e := edit(h)
	e.launch(`"program":` + quoted(script) + `,"local":true,"flags":["--resume"],"env":{"GO":"1"},"stopOnEntry":true`)
	e.configured()
	e.stops("entry", 1)
	e.goOn("next")
	e.stops("step", 2)
	e.goOn("next")
	e.stops("step", 3)
	told := "projects.create is not sent: its result is taken from the ledger of the run"
	if said := e.printed["console"]; !strings.Contains(said, told) {
		t.Errorf("console %q", said)
	}
	e.goOn("next")
	e.ends(0)
}

// What is none of the protocol, or not supported, is answered.
func TestMalformedMessagesOfEditors(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	e := edit(h)
	fails := func(text string, to int, why string) {
		t.Helper()
		e.write(text)
		if r := answer[*protocol.ErrorResponse](e, to); r.Success || !strings.Contains(r.Message, why) {
			t.Fatalf("%s was answered %+v", text, r)
		}
	}
	fails(`{`, 0, "unexpected end of JSON input")
	fails(`null`, 0, "type")
	fails(`[1]`, 0, "cannot unmarshal array")
	fails(`{"seq":3,"type":"request","command":"evaluate","arguments":{"expression":1}}`, 3, "cannot unmarshal number")
	fails(`{"seq":4,"type":"request","command":"fly"}`, 4, "the request fly is not supported")
	fails(`{"seq":5,"type":"request","command":"restartFrame","arguments":{"frameId":1}}`, 5, "restartFrame is not supported")
	fails(`{"seq":6,"type":"request","command":"continue"}`, 6, "the script is not stopped")
	fails(`{"seq":7,"type":"request","command":"configurationDone"}`, 7, "nothing was launched")
	fails(`{"seq":8,"type":"request","command":"launch","arguments":{"args":"x"}}`, 8, "launch configuration")
	fails(`{"seq":9,"type":"request","command":"launch"}`, 9, "launch configuration")
	fails(`{"seq":10,"type":"request","command":"launch","arguments":{}}`, 10, `set "program"`)
	fails(`{"seq":11,"type":"request","command":"launch","arguments":{"program":"x.lua","cwd":"/nowhere"}}`, 11, "no folder")
	e.write(`{"seq":12,"type":"response","command":"x"}`) // is to nothing
	e.seq = 20
	e.launch(`"program":"missing.lua"`)
	e.refused("launch", `{"program":"x.lua"}`, "launched before")
	e.configured()
	e.ends(2)
	if !strings.Contains(e.printed["stderr"], "missing.lua") {
		t.Errorf("standard error %q", e.printed["stderr"])
	}

	for _, stream := range []string{"Content-Size: 3\r\n\r\n{}", "Content-Length: 99999999999999999999\r\n\r\n",
		"Content-Length: 9000000\r\n\r\n", "Content-Length: 2\rxxxx{}"} {
		e := edit(h)
		if _, err := io.WriteString(e.in, stream); err != nil {
			t.Fatal(err)
		}
		if r := answer[*protocol.ErrorResponse](e, 0); !strings.Contains(r.Message, "not one of the Debug Adapter Protocol") {
			t.Fatalf("%q was answered %+v", stream, r)
		}
		if e.wait() == nil {
			t.Fatalf("%q ended well", stream)
		}
	}
}

// prepared makes what the ready scripts work on.
const prepared = `local sdk, fs, fixture = require("sdk"), require("fs"), require("testing.fixture")
fixture.project("Trial farm")
local surveys = fixture.project("Surveys")
for _, name in ipairs({ "north 2026-05-30", "south 2026-05-31" }) do fixture.mission(surveys, name) end
sdk.annotations.create({ project = surveys, name = "Loose rock",
  geometry = { type = "Point", coordinates = { 5.72, 45.19 } } })
fixture.uploaded(sdk.datasets.create_raster_dataset, { name = "Orthophoto", project = surveys }, "raster", fixture.ortho)
sdk.datasets.create_file_dataset({ name = "begun", project = surveys })
fixture.file("site", "plan.txt", "two strips")
fixture.file("card", "field.geojson", '{"type":"FeatureCollection","features":[]}')
fixture.file("card", "broken.jpg", "")
fixture.file(".", "season.csv", "field,crop,trial,season,mission,start_date,end_date,description\n" ..
  "Long acre,wheat,Density,2026-01-01,Emergence,2026-04-01,2026-04-10,count plants\n")
`

// readyScripts are the arguments with which each of the ready scripts does its work.
var readyScripts = map[string][]string{
	"bulk_ingest":        {"card", "--report", "ingest.csv"},
	"export_annotations": {"Surveys", "drawn"},
	"import_season":      {"Trial farm", "season.csv"},
	"order_many":         {"Surveys", "--analytic", "rehearsal", "--parameters", `{"duration":0}`},
	"share_map":          {"Surveys", "map.html"},
	"survey":             {"flight"},
	"sync_folder":        {"site", "Surveys", "--settle", "0"},
	"tidy_up":            {"Surveys", "--days", "0", "--delete"},
}

// A ready script that is stepped from its first line to its end does what it does
// undisturbed.
func TestStepReadyScripts(t *testing.T) {
	t.Parallel()
	varies := regexp.MustCompile(`[0-9a-f]{24}|[0-9a-f-]{36}|\d+(\.\d+)? ?(µs|ms|s)\b|\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d\d:\d\d:\d\d`)
	named := regexp.MustCompile(`"(name|type)":"[^"]*"`) // a status may be one that the platform still changes
	same := func(text string) string { return varies.ReplaceAllString(text, "…") }
	for name, args := range readyScripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := func() (*home, string) {
				h := newHome(t, 3, flightgen.Options{})
				h.must("run", "--local", "--path", filepath.Dir(h.survey), h.file("prepared.lua", prepared))
				return h, filepath.Join(filepath.Dir(h.survey), name+".lua")
			}
			result := func(h *home, stdout string, code int) string {
				things := strings.Split(same(stdout), "\n") // which of several orders tells first varies
				for _, thing := range h.things(t) {
					collection, _, _ := strings.Cut(thing, " ")
					things = append(things, same(collection+" "+strings.Join(named.FindAllString(thing, -1), " ")))
				}
				slices.Sort(things)
				return fmt.Sprintf("exit code %d\n%s", code, strings.Join(things, "\n"))
			}
			h, script := begin()
			stdout, stderr, code := h.run(append([]string{"run", "--local", script}, args...)...)
			undisturbed := result(h, stdout, code)

			h, _ = begin()
			e := edit(h)
			words, _ := json.Marshal(args) // texts always marshal
			e.launch(`"program":` + quoted(script) + `,"local":true,"stopOnEntry":true,"args":` + string(words))
			e.configured()
			code, steps := e.step()
			if stepped := result(h, e.printed["stdout"], code); stepped != undisturbed {
				t.Errorf("after %d steps\n%s\n%s\nundisturbed\n%s\n%s", steps, stepped, e.printed["stderr"], undisturbed, stderr)
			}
			if steps < 20 {
				t.Errorf("%d steps", steps)
			}
		})
	}
}

// step goes from line to line to the end of the script, and looks around now and then.
func (e *ide) step() (code, steps int) {
	e.t.Helper()
	for {
		switch m := e.receive().(type) {
		case nil:
			e.t.Fatal("the connection ended")
		case *protocol.ExitedEvent:
			return m.Body.ExitCode, steps
		case *protocol.ErrorResponse:
			e.t.Fatalf("refused: %+v", m)
		case *protocol.StoppedEvent:
			if steps++; steps%50 == 1 {
				for _, f := range e.stack(m.Body.ThreadId) {
					for _, s := range ask[*protocol.ScopesResponse](e, "scopes", fmt.Sprintf(`{"frameId":%d}`, f.Id)).Body.Scopes {
						e.inside(s.VariablesReference, "")
					}
				}
			}
			e.send("stepIn", fmt.Sprintf(`{"threadId":%d}`, m.Body.ThreadId))
		}
	}
}

// The settings that transect init writes start the debugger.
func TestDebugSettings(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	h.must("init", "season")
	read := func(path string, to any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(h.dir, "season", ".vscode", path))
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var extension struct {
		Contributes struct {
			Debuggers []struct {
				Type, Runtime           string
				RuntimeArgs             []string
				ConfigurationAttributes struct {
					Launch struct{ Properties map[string]any }
				}
			}
		}
	}
	var launch struct{ Configurations []map[string]any }
	read("extensions/transect-debug/package.json", &extension)
	read("launch.json", &launch)
	d, c := extension.Contributes.Debuggers[0], launch.Configurations[0]
	if d.Runtime != "transect" || !slices.Equal(d.RuntimeArgs, []string{"dap"}) || c["type"] != d.Type {
		t.Fatalf("%+v, %+v", d, c)
	}
	for name := range c {
		if d.ConfigurationAttributes.Launch.Properties[name] == nil &&
			!slices.Contains([]string{"type", "request", "name"}, name) {
			t.Errorf("the extension does not declare %s", name)
		}
	}
	text, _ := json.Marshal(c) // it was read from JSON
	folder := filepath.Join(h.dir, "season")
	variables := strings.NewReplacer("${file}", filepath.Join(folder, "main.lua"), "${workspaceFolder}", folder)
	resolved := variables.Replace(string(text))
	e := edit(h)
	e.launch(strings.Trim(resolved, "{}"))
	e.configured()
	e.ends(0)
	if !strings.Contains(e.printed["stdout"], "there is no such project") {
		t.Errorf("printed %v", e.printed)
	}
}
