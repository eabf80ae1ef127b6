package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"time"

	"transect/client/fault"
)

// Handlers maps the names of calls to functions.
type Handlers map[string]func(ctx context.Context, body json.RawMessage) (any, error)

// Handler adapts a function with a decoded argument.
func Handler[In, Out any](f func(context.Context, In) (Out, error),
) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, body json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		return f(ctx, in)
	}
}

// Worker is the worker's end of a link. It is safe for concurrent use.
type Worker struct {
	pipes
	theirs [2]*os.File
	begun  chan struct{} // closed when the first message is sent
}

// Attach adds one end of a new link to a command before it is started.
func Attach(cmd *exec.Cmd) (*Worker, error) {
	calls, callsOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	newsIn, news, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, calls.Close(), callsOut.Close())
	}
	w := &Worker{pipes: pipes{in: calls, out: news}, theirs: [2]*os.File{newsIn, callsOut}, begun: make(chan struct{})}
	inherit(cmd, w.theirs)
	return w, nil
}

// Serve answers calls until the job's process or ctx has ended. The command must have been started. It
// returns nil when the process has closed its end.
func (w *Worker) Serve(ctx context.Context, begin Begin, handlers Handlers) error {
	for _, f := range w.theirs {
		_ = f.Close() // otherwise the end of the process would go unnoticed
	}
	err := w.news(newsBegin, begin)
	close(w.begun)
	if err != nil {
		return ended(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = w.in.Close() })()
	for {
		m, err := w.receive()
		if err != nil {
			return ended(err)
		}
		calls.Go(func() {
			answer := message{ID: m.ID}
			value, err := handlers.call(ctx, m)
			if err == nil {
				answer.Body, err = json.Marshal(value)
			}
			if err != nil {
				answer.Failed = failureOf(err)
			}
			if err := w.send(answer); fault.Find(err) != nil { // too long
				_ = w.send(message{ID: m.ID, Failed: failureOf(err)})
			}
		})
	}
}

func (h Handlers) call(ctx context.Context, m message) (value any, err error) {
	f := h[m.Call]
	if f == nil {
		return nil, fmt.Errorf("the worker knows no call %q", m.Call)
	}
	return f(ctx, m.Body)
}

// ended returns nil for errors that mean the end of the link.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, fs.ErrClosed) || isBroken(err) {
		return nil
	}
	return err
}

// Lease sends the job its deadline, see Now. It waits for Serve.
func (w *Worker) Lease(until time.Duration) error {
	<-w.begun
	return w.news(newsLease, until)
}

// Cancel requests the job to stop. It waits for Serve.
func (w *Worker) Cancel(reason string) error {
	<-w.begun
	return w.news(newsCancel, reason)
}

// Close closes the link; the job's process exits by itself.
func (w *Worker) Close() error {
	for _, f := range w.theirs {
		_ = f.Close() // already closed, unless the command did not start
	}
	return w.close()
}
