// Package dap lets editors debug scripts, over the Debug Adapter Protocol.
//
// It stops, steps and inspects scripts with package debug, like the debugger of the terminal. Server.Serve
// reads requests. Requests about a stopped script (stopped.go) are handled where it is stopped, so that a
// long evaluation can still be interrupted. Begin reading with Server.answer.
package dap

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	protocol "github.com/google/go-dap"

	"transect/runtime/debug"
)

// Server serves one editor, which debugs one script.
type Server struct {
	Run func(Launch) (code int) // runs a script to its end

	sending sync.Mutex
	out     io.Writer
	seq     int

	// Only the goroutine that reads requests uses these.
	debugger   *debug.Debugger
	launch     *Launch
	configured bool
	closing    bool
	over       chan struct{} // closed at the end of the script; nil before its start
	signals    chan os.Signal
	base       int // number of the first line for the editor

	mu      sync.Mutex // guards the following fields
	stopped bool
	queue   chan request // to the stopped script
	threads []int

	view
}

// request is a decoded request.
type request struct {
	protocol.RequestMessage
}

// maxQueue limits the requests that wait while a stopped script evaluates something.
const maxQueue = 1000

// New returns a server.
func New(run func(Launch) (code int)) *Server {
	v := &Server{Run: run, signals: make(chan os.Signal, 2), queue: make(chan request, maxQueue),
		threads: []int{1}, base: 1}
	v.debugger = debug.New(v.path)
	v.debugger.Stopped, v.debugger.Logged = v.whileStopped, v.logged
	return v
}

// Serve serves an editor until it disconnects or the context ends, and then ends the script. It returns an
// error if the stream does not follow the protocol.
func (v *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	v.out = out
	defer v.end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	messages, failed := make(chan []byte), make(chan error, 1)
	go func() {
		for reader := bufio.NewReader(in); ; {
			content, err := protocol.ReadBaseMessage(reader)
			if err != nil {
				failed <- err
				return
			}
			select {
			case messages <- content:
			case <-ctx.Done():
				return
			}
		}
	}()
	for !v.closing {
		select {
		case content := <-messages:
			v.receive(content)
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if _, wrong := errors.AsType[*protocol.BaseProtocolError](err); !wrong && !errors.Is(err, strconv.ErrRange) {
				return nil // the editor is gone
			}
			// The start of the next message is unknown.
			err = fmt.Errorf("the stream is not one of the Debug Adapter Protocol: %w", err)
			v.fail(0, "", err.Error())
			return err
		}
	}
	return nil
}

// receive answers one message. A bug in the server must not end the editor's session.
func (v *Server) receive(content []byte) {
	var head struct {
		Seq           int    `json:"seq"`
		Type, Command string // for the answer to a message that cannot be read
	}
	_ = json.Unmarshal(content, &head) // as far as it is valid
	message, err := protocol.DecodeProtocolMessage(content)
	if unsupported, ok := errors.AsType[*protocol.DecodeProtocolMessageFieldError](err); ok && head.Type == "request" {
		err = fmt.Errorf("the request %s is not supported", unsupported.FieldValue)
	}
	if err != nil {
		v.fail(head.Seq, head.Command, err.Error())
		return
	}
	if r, ok := message.(protocol.RequestMessage); ok { // responses are ignored: the server sends no requests
		v.safely(request{r}, v.answer)
	}
}

// logged sends the text of a log point, or a message of the debugger.
func (v *Server) logged(text, file string, line int) {
	body := protocol.OutputEventBody{Category: "console", Output: text + "\n"}
	if file != "" {
		body.Source, body.Line = &protocol.Source{Name: filepath.Base(file), Path: file}, v.shown(line)
	}
	v.event("output", body)
}

// shown converts a line number for the editor.
func (v *Server) shown(line int) int { return line - 1 + v.base }

// path returns the comparable name of a file.
func (v *Server) path(file string) string {
	if v.launch != nil && !filepath.IsAbs(file) {
		file = filepath.Join(v.launch.Dir, file)
	}
	full, err := filepath.Abs(file)
	if err != nil {
		return file // the working folder was removed
	}
	return full
}

func (v *Server) answer(r request) (any, error) {
	switch r := r.RequestMessage.(type) {
	case *protocol.InitializeRequest:
		return v.initialize(r.Arguments)
	case *protocol.LaunchRequest:
		if err := v.prepare(r.Arguments); err != nil {
			return nil, err
		}
		defer v.event("initialized", nil)
		return nil, nil
	case *protocol.ConfigurationDoneRequest:
		if v.launch == nil {
			return nil, errors.New("nothing was launched")
		}
		if !v.configured {
			v.configured = true
			v.start()
		}
		return nil, nil
	case *protocol.SetBreakpointsRequest:
		return v.setBreakpoints(r.Arguments), nil
	case *protocol.SetExceptionBreakpointsRequest:
		return nil, v.setCatch(r.Arguments.Filters)
	case *protocol.ThreadsRequest:
		return v.listThreads(), nil
	case *protocol.PauseRequest:
		if !v.isStopped() {
			v.debugger.Pause()
		}
		return nil, nil
	case *protocol.TerminateRequest:
		v.interrupt()
		return nil, nil
	case *protocol.DisconnectRequest:
		v.closing = true
		v.end()
		return nil, nil
	case *protocol.StackTraceRequest, *protocol.ScopesRequest, *protocol.VariablesRequest, *protocol.SetVariableRequest,
		*protocol.EvaluateRequest, *protocol.ExceptionInfoRequest, *protocol.ContinueRequest, *protocol.NextRequest,
		*protocol.StepInRequest, *protocol.StepOutRequest:
		return nil, v.pass(request{r})
	}
	return nil, fmt.Errorf("the request %s is not supported", r.GetRequest().Command)
}

func (v *Server) initialize(a protocol.InitializeRequestArguments) (any, error) {
	if a.PathFormat == "uri" {
		return nil, errors.New("files are named by paths here, not by URIs")
	}
	if !a.LinesStartAt1 {
		v.base = 0
	}
	return protocol.Capabilities{SupportsConfigurationDoneRequest: true, SupportsConditionalBreakpoints: true,
		SupportsLogPoints: true, SupportsEvaluateForHovers: true, SupportsSetVariable: true, SupportsTerminateRequest: true,
		SupportsExceptionInfoRequest: true, SupportsDelayedStackTraceLoading: true,
		ExceptionBreakpointFilters: []protocol.ExceptionBreakpointsFilter{
			{Filter: "uncaught", Label: "Errors that end the run", Default: true,
				Description: "stops where an error arises that nothing catches"},
			{Filter: "all", Label: "All errors", Description: "stops also at errors that the script catches"},
		}}, nil
}

func (v *Server) setBreakpoints(a protocol.SetBreakpointsArguments) any {
	path := cmp.Or(a.Source.Path, a.Source.Name)
	points := make([]*debug.Breakpoint, len(a.Breakpoints))
	for i, b := range a.Breakpoints {
		points[i] = &debug.Breakpoint{Line: b.Line + 1 - v.base, Condition: strings.TrimSpace(b.Condition), Log: b.LogMessage}
	}
	answer := protocol.SetBreakpointsResponseBody{Breakpoints: []protocol.Breakpoint{}}
	for i, err := range v.debugger.Replace(v.path(path), points) {
		set := protocol.Breakpoint{Id: points[i].ID, Verified: err == nil, Line: v.shown(points[i].Line)}
		if err != nil {
			set.Message = err.Error()
		} else if a.Breakpoints[i].HitCondition != "" {
			set.Message = "hits are not counted: it stops each time"
		}
		answer.Breakpoints = append(answer.Breakpoints, set)
	}
	return answer
}

func (v *Server) setCatch(filters []string) error {
	mode := debug.Never
	for _, f := range filters {
		switch {
		case f == "all":
			mode = debug.All
		case f == "uncaught" && mode == debug.Never:
			mode = debug.Uncaught
		case f != "uncaught":
			return fmt.Errorf("there is no filter %s of errors, only uncaught and all", f)
		}
	}
	v.debugger.Catch(mode)
	return nil
}

func (v *Server) listThreads() any {
	v.mu.Lock()
	defer v.mu.Unlock()
	answer := protocol.ThreadsResponseBody{}
	for _, n := range v.threads {
		name := "script"
		if n > 1 {
			name = fmt.Sprintf("task %d", n)
		}
		answer.Threads = append(answer.Threads, protocol.Thread{Id: n, Name: name})
	}
	return answer
}
