package dap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/google/go-dap"
)

// errLater means that a request is answered elsewhere.
var errLater = errors.New("answered later")

// safely sends the response to a request, or its error.
func (v *Server) safely(r request, answer func(request) (any, error)) {
	req := r.GetRequest()
	body, err := any(nil), error(nil)
	func() {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%s failed: %v", req.Command, p)
			}
		}()
		body, err = answer(r)
	}()
	switch {
	case errors.Is(err, errLater):
	case err != nil:
		v.fail(req.Seq, req.Command, err.Error())
	default:
		v.send(func(seq int) any {
			return struct {
				protocol.Response
				Body any `json:"body,omitempty"`
			}{protocol.Response{ProtocolMessage: protocol.ProtocolMessage{Seq: seq, Type: "response"}, RequestSeq: req.Seq,
				Success: true, Command: req.Command}, body}
		})
	}
}

// fail sends an error response to a request.
func (v *Server) fail(to int, command, why string) {
	v.send(func(seq int) any {
		return &protocol.ErrorResponse{
			Response: protocol.Response{ProtocolMessage: protocol.ProtocolMessage{Seq: seq, Type: "response"}, RequestSeq: to,
				Command: command, Message: why},
			Body: protocol.ErrorResponseBody{Error: &protocol.ErrorMessage{Id: 1, Format: escaped(why), ShowUser: true}},
		}
	})
}

// escaped replaces braces, which the protocol interprets as variables.
func escaped(text string) string { return strings.NewReplacer("{", "(", "}", ")").Replace(text) }

func (v *Server) event(name string, body any) {
	v.send(func(seq int) any {
		return struct {
			protocol.Event
			Body any `json:"body,omitempty"`
		}{protocol.Event{ProtocolMessage: protocol.ProtocolMessage{Seq: seq, Type: "event"}, Event: name}, body}
	})
}

// send writes a message immediately. Errors are ignored: an editor that is gone also closes its other end.
func (v *Server) send(message func(seq int) any) {
	v.sending.Lock()
	defer v.sending.Unlock()
	v.seq++
	content, err := json.Marshal(message(v.seq))
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	var whole bytes.Buffer
	_ = protocol.WriteBaseMessage(&whole, content)
	_, _ = v.out.Write(whole.Bytes())
}

// output sends the output of the script.
type output struct {
	server   *Server
	category string
}

func (o output) Write(text []byte) (int, error) {
	o.server.event("output", protocol.OutputEventBody{Category: o.category, Output: string(text)})
	return len(text), nil
}
