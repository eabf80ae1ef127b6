// Package link connects a worker with the process that runs the script of a job: two pipes, which the process
// inherits.
//
// The worker sends the deadline of the job's lease (Worker.Lease) and answers calls from the job: records of
// its ledger, further jobs, its result. The job's process waits at Child.Gate before each write to the
// platform, so that nothing is written after the lease: another worker may have restarted the job. The job
// never sees the password of the jobs' database.
//
// A message is its length, 4 bytes, and JSON. Begin reading in worker.go and child.go.
package link

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"transect/client/fault"
	"transect/runtime/sandbox"
)

// Begin is the first message of a worker to the process of a job.
type Begin struct {
	Run       string        `json:"run"` // ID of the run that the job's attempts continue
	Job       int64         `json:"job"`
	Files     string        `json:"files,omitempty"`      // folder of files kept as long as the run, on this machine
	Until     time.Duration `json:"until"`                // end of the lease, see Now
	TakenOver bool          `json:"taken_over,omitempty"` // requests of the previous attempt may still arrive

	Beside string         `json:"beside,omitempty"` // folder of submission, the base of the manifest's relative paths
	Policy *sandbox.Rules `json:"policy,omitempty"` // the worker's limit on the script's permissions
}

// message is a call, its response, or news from the worker.
type message struct {
	ID     uint64          `json:"id,omitempty"` // of a call and its response
	Call   string          `json:"call,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	Failed *failure        `json:"failed,omitempty"`
}

// Kinds of news from a worker.
const (
	newsBegin  = "begin"
	newsLease  = "lease"
	newsCancel = "cancel"
)

// failure is the serialised form of an error.
type failure struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func failureOf(err error) *failure {
	f := fault.Find(err)
	if f == nil {
		f = fault.Of(&fault.RuntimeError{}, "%w", err)
	}
	return &failure{f.Name(), f.Error(), f.Facts().Hint}
}

func (f *failure) err() error {
	decoded := fault.Named(f.Name)
	decoded.Facts().Message, decoded.Facts().Hint = f.Message, f.Hint
	return decoded
}

// maxMessage limits a message, in bytes: a record of a ledger is at most 16 MiB, and a third longer in
// base64.
const maxMessage = 32 << 20

// pipes carry messages in both directions.
type pipes struct {
	in, out *os.File
	writing sync.Mutex
}

func (p *pipes) send(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(text) > maxMessage {
		return fault.Of(&fault.LimitError{}, "a message between a job and its worker has %d bytes; the limit is %d",
			len(text), maxMessage)
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err = p.out.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}

// news sends a message without a response.
func (p *pipes) news(name string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return p.send(message{Call: name, Body: text})
}

func (p *pipes) receive() (m message, err error) {
	var head [4]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxMessage {
		return m, fmt.Errorf("a message of %d bytes is too long", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(p.in, text); err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

func (p *pipes) close() error { return errors.Join(p.in.Close(), p.out.Close()) }
