package worker

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// outputs are the pipes that a process writes to. All of its output is read, however long the database takes,
// even when programs that outlive it keep the pipes open.
type outputs struct {
	read, write []*os.File
	copies      sync.WaitGroup
	ended       atomic.Bool // only the content of the pipes is still read
}

const (
	pipeQuiet = 500 * time.Millisecond // after this a pipe that others keep open counts as empty
	pipeHolds = 1 << 20                // capacity of a pipe, in bytes
)

// newOutputs makes the pipes of a command that is not started yet.
func newOutputs(cmd *exec.Cmd, out, err io.Writer) (*outputs, error) {
	o := &outputs{}
	for _, to := range []io.Writer{out, err} {
		r, w, err := os.Pipe()
		if err != nil {
			o.close()
			return nil, err
		}
		o.read, o.write = append(o.read, r), append(o.write, w)
		o.copies.Go(func() { o.copy(r, to) })
	}
	cmd.Stdout, cmd.Stderr = o.write[0], o.write[1]
	return o, nil
}

// started closes this process's write ends.
func (o *outputs) started() {
	for _, w := range o.write {
		_ = w.Close()
	}
}

func (o *outputs) copy(r *os.File, to io.Writer) {
	b, left := make([]byte, 32<<10), pipeHolds
	for left > 0 {
		if o.ended.Load() {
			_ = r.SetReadDeadline(time.Now().Add(pipeQuiet)) // for this read: the previous one may have waited for the database
		}
		n, err := r.Read(b)
		if n > 0 {
			_, _ = to.Write(b[:n]) // writing to the buffer never fails
		}
		if err != nil {
			return
		}
		if o.ended.Load() {
			left -= n
		}
	}
}

// drain reads what the process has written before its end.
func (o *outputs) drain() {
	o.ended.Store(true)
	for _, r := range o.read {
		if r.SetReadDeadline(time.Now().Add(pipeQuiet)) != nil { // Windows has no deadlines for pipes
			time.AfterFunc(4*pipeQuiet, func() { _ = r.Close() })
		}
	}
	o.copies.Wait()
	o.close()
}

func (o *outputs) close() {
	o.started()
	for _, r := range o.read {
		_ = r.Close()
	}
}
