package dap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	protocol "github.com/google/go-dap"

	"transect/runtime/debug"
)

// Launch is a script to debug.
type Launch struct {
	Words          []string           // of transect run: flags, script, arguments
	Dir            string             // working directory
	Env            map[string]*string // added to the process's; nil removes a variable
	Debugger       *debug.Debugger    // nil for none
	Stdout, Stderr io.Writer
	Signals        <-chan os.Signal
}

// prepare reads the arguments of launch.
func (v *Server) prepare(arguments json.RawMessage) error {
	if v.launch != nil {
		return errors.New("a script was launched before")
	}
	var a struct {
		Program     string             `json:"program"`
		Args        []string           `json:"args"`
		Flags       []string           `json:"flags"`
		Local       bool               `json:"local"`
		Profile     string             `json:"profile"`
		Cwd         string             `json:"cwd"`
		Env         map[string]*string `json:"env"`
		StopOnEntry bool               `json:"stopOnEntry"`
		NoDebug     bool               `json:"noDebug"`
	}
	if err := json.Unmarshal(arguments, &a); err != nil {
		return fmt.Errorf("the launch configuration cannot be read: %w", err)
	}
	if a.Program == "" {
		return errors.New(`the launch configuration names no script: set "program", such as "${file}"`)
	}
	l := &Launch{Words: []string{"run"}, Dir: v.path(a.Cwd), Env: a.Env, Signals: v.signals,
		Stdout: output{v, "stdout"}, Stderr: output{v, "stderr"}}
	if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf(`"cwd": there is no folder %s`, l.Dir)
	}
	if a.Local {
		l.Words = append(l.Words, "--local")
	}
	if a.Profile != "" {
		l.Words = append(l.Words, "--profile="+a.Profile)
	}
	l.Words = append(append(append(l.Words, a.Flags...), a.Program), a.Args...)
	v.launch = l
	if !a.NoDebug {
		l.Debugger = v.debugger
		if v.entry = a.StopOnEntry; v.entry {
			v.debugger.StopAtStart()
		}
	}
	return nil
}

// start runs the script.
func (v *Server) start() {
	v.over = make(chan struct{})
	go func() {
		code := v.Run(*v.launch)
		v.event("exited", protocol.ExitedEventBody{ExitCode: code})
		v.event("terminated", nil)
		close(v.over)
	}()
}

// interrupt ends the script like Ctrl-C; the second time at once.
func (v *Server) interrupt() {
	if v.over == nil {
		return
	}
	select {
	case v.signals <- os.Interrupt:
	default: // enough signals are pending
	}
}

// end ends the script and waits for its end.
func (v *Server) end() {
	if v.over == nil {
		return
	}
	select {
	case <-v.over:
	default:
		v.interrupt()
		<-v.over
	}
}
