package vm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	glua "github.com/yuin/gopher-lua"

	"transect/runtime/luastd"
	"transect/runtime/vm"
)

func TestSession(t *testing.T) {
	t.Parallel()
	in := luastd.New(context.Background(), vm.Options{Stdout: &strings.Builder{}})
	defer in.Close()
	s := in.NewSession()
	for _, step := range []struct{ code, want string }{
		{`local x = 1`, ""},
		{`return x`, "1"},
		{`x = x + 1 return x, _G.x`, "2 nil"},
		{`y = 5 return _G.y`, "5"},
		{`local a, b, c = (function() return 1, 2 end)() return a, b, c`, "1 2 nil"},
		{`local function f(n) if n == 0 then return 0 end return f(n - 1) end return f(3)`, "0"},
		{`return f(2)`, "0"},
		{`local print = function() return "mine" end return print()`, "mine"},
		{`return _G.print == print`, "false"},
		{`do local hidden = 1 end return hidden`, "nil"},
		{`for i = 1, 2 do local z = i end return z`, "nil"},
		{`local x return x`, "nil"},
		{`function named() return y end return named()`, "5"},
		{`local t = {} for k, v in pairs({ 7 }) do t[k] = v end return t[1]`, "7"},
	} {
		values, err := s.Run("prompt", step.code)
		if err != nil {
			t.Fatalf("%s: %v", step.code, err)
		}
		var got []string
		for _, v := range values {
			got = append(got, v.String())
		}
		if strings.Join(got, " ") != step.want {
			t.Errorf("%s: got %v, want %s", step.code, got, step.want)
		}
	}
}

func TestSessionSurvivesErrorsAndInterrupts(t *testing.T) {
	t.Parallel()
	in := luastd.New(context.Background(), vm.Options{})
	defer in.Close()
	s := in.NewSession()
	waited := 0
	s.Waits = func(n int) { waited = n }
	if _, err := s.Run("prompt", "\n\nlocal kept = 1\nlocal lost = nil + 1"); err == nil || vm.Failure(err).Frames[0].Line != 4 {
		t.Errorf("error %v, frames %v", err, vm.Failure(err).Frames)
	}
	started := make(chan struct{})
	s.Inspect(func(_, globals *glua.LTable) {
		globals.RawSetString("started", &glua.LFunction{IsG: true, Env: globals, GFunction: func(*glua.LState) int {
			close(started)
			return 0
		}})
	})
	go func() {
		<-started
		in.Interrupt(errors.New("enough"))
	}()
	if _, err := s.Run("prompt", "local n = 1 started() while true do n = n + 1 end"); err == nil {
		t.Error("the loop was not interrupted")
	}
	values, err := s.Run("prompt", "return kept, n > 0")
	if err != nil || values[0].String() != "1" || values[1].String() != "true" {
		t.Errorf("after it: %v, %v", values, err)
	}
	if waited != 0 {
		t.Errorf("waited for %d tasks", waited)
	}
}
