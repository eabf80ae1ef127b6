package luastd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"transect/runtime/vm"
)

const (
	drainCheck = 20 * time.Millisecond
	drainIdle  = 100 * time.Millisecond // without output after which only a background process keeps a pipe open
	drainMost  = 1 << 20                // bytes, more than a pipe holds when its command ends
)

// outputs copies the output of a command to streams that are not files.
type outputs struct {
	command string
	copies  []*outputCopy
}

type outputCopy struct {
	to          io.Writer
	read, write *os.File
	moved       atomic.Int64
	busy        atomic.Bool // writing, to a slow reader perhaps
	err         error
	over        chan struct{}
}

// connect returns an output for a command.
func (o *outputs) connect(to io.Writer) (io.Writer, error) {
	if file, ok := to.(*os.File); ok {
		return file, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o.copies = append(o.copies, &outputCopy{to: to, read: r, write: w, over: make(chan struct{})})
	return w, nil
}

// start starts the command and the copies.
func (o *outputs) start(cmd *exec.Cmd, failed error) error {
	if failed == nil {
		failed = cmd.Start()
	}
	for _, c := range o.copies {
		_ = c.write.Close() // the command has its own copy
		if failed != nil {
			_ = c.read.Close()
			continue
		}
		go c.copy()
	}
	return failed
}

func (c *outputCopy) copy() {
	defer close(c.over)
	buffer := make([]byte, 32<<10)
	for {
		n, err := c.read.Read(buffer)
		if n > 0 {
			c.busy.Store(true)
			_, failed := c.to.Write(buffer[:n])
			c.moved.Add(int64(n))
			c.busy.Store(false)
			if failed != nil {
				c.err = failed
				_ = c.read.Close() // the command gets a broken pipe
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits for the command and the rest of its output. An output that a background process keeps open is
// abandoned, with a warning.
func (o *outputs) wait(ctx context.Context, cmd *exec.Cmd, opt vm.Options) error {
	err := cmd.Wait()
	kept := false
	for _, c := range o.copies {
		if !c.drain(ctx) {
			kept = true
		}
		err = errors.Join(err, c.err)
	}
	if kept && ctx.Err() == nil {
		opt.Logger.Warn("the command has ended, but a process it left in the background keeps its output open: what that "+
			"prints is lost; "+
			"give it an output of its own, such as COMMAND >FILE 2>&1 &", "command", o.command)
	}
	return err
}

// drain reports whether the output ended.
func (c *outputCopy) drain(ctx context.Context) bool {
	defer c.read.Close()
	check := time.NewTicker(drainCheck)
	defer check.Stop()
	first, last, since := c.moved.Load(), c.moved.Load(), time.Now()
	for {
		select {
		case <-c.over:
			return true
		case <-ctx.Done():
		case <-check.C:
		}
		moved := c.moved.Load()
		if moved != last || c.busy.Load() {
			last, since = moved, time.Now()
		}
		if ctx.Err() != nil || time.Since(since) > drainIdle || moved-first > drainMost {
			_ = c.read.Close()
			if !c.busy.Load() {
				<-c.over
			}
			return false
		}
	}
}
