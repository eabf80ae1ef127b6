// Package meter shows the progress of a long piece of work on the error stream: on a terminal as a line that
// is redrawn, elsewhere as a line per minute, or as JSON lines.
package meter

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"transect/client/human"
	"transect/runtime/vm"
)

const (
	redraw = 200 * time.Millisecond
	report = time.Minute
)

// Reading is the progress of work.
type Reading struct {
	Files       int64         `json:"files"` // done, by earlier runs as well
	Bytes       int64         `json:"bytes"`
	TotalFiles  int64         `json:"total_files,omitempty"` // of all the work; 0 when not known
	TotalBytes  int64         `json:"total_bytes,omitempty"`
	FoundFiles  int64         `json:"found_files,omitempty"` // while the total is not known
	Transferred int64         `json:"-"`                     // bytes moved by this run, for the rate
	Failed      int64         `json:"failed"`
	Retries     int64         `json:"retries"`
	Unread      int64         `json:"unread_files,omitempty"` // sent, and not yet read by the platform; work waits only for them
	Limiter     string        `json:"limiter,omitempty"`      // what work waits for most: disk, cpu, network, server; "" when not known
	RetryAfter  time.Duration `json:"-"`                      // requested by the platform; 0 for none
}

// Options describe a display.
type Options struct {
	Label                  string
	TotalFiles, TotalBytes int64
	Brief                  bool // no line at the end, as the caller prints a summary
	// Read returns the reading in place of the meter's own counters. It may be called on any goroutine.
	Read func() Reading
}

// Meter counts work and shows it. Any goroutine may add to its counters, which its ticker reads.
type Meter struct {
	label                              string
	total                              Reading
	files, bytes, failedItems, retries atomic.Int64
	read                               func() Reading
	started                            time.Time
	now                                func() time.Time
	report                             func(done, failed int64) // called with items done and failed
	mu                                 sync.Mutex               // of rate
	rate                               rate

	brief  bool
	mode   vm.ProgressMode
	out    io.Writer
	screen *vm.Console
	width  int

	unwatch func() // stops counting transfers
	remove  func() // from the displays of the interpreter
	once    sync.Once
	stop    chan struct{}
	over    chan struct{}
}

// Start starts a display in the form that the interpreter's options select.
func Start(in *vm.Interp, o Options) *Meter {
	opt := in.Options()
	m := &Meter{label: human.Line(o.Label),
		total: Reading{TotalFiles: o.TotalFiles, TotalBytes: o.TotalBytes}, read: o.Read,
		brief:   o.Brief,
		started: opt.Now(), now: opt.Now, report: in.CountItems, mode: opt.Progress, out: opt.Stderr, unwatch: func() {},
		stop: make(chan struct{}), over: make(chan struct{})}
	if m.read == nil {
		m.read = m.own
	}
	m.screen, _ = opt.Stderr.(*vm.Console)
	m.chooseMode(opt.Log.JSON)
	m.remove = in.AddDisplay(func() any {
		f := m.figures(false)
		line := f.line(m.label)
		line.Text = f.text()
		return line
	})
	go m.show(in.Context())
	return m
}

func (m *Meter) chooseMode(jsonLog bool) {
	terminal := false
	if m.screen != nil {
		m.width, terminal = m.screen.Terminal()
	}
	switch {
	case m.mode == vm.ProgressAuto && jsonLog:
		m.mode = vm.ProgressJSON
	case m.mode == vm.ProgressAuto && terminal:
		m.mode = vm.ProgressBar
	case m.mode == vm.ProgressAuto:
		m.mode = vm.ProgressPlain
	}
	if m.mode == vm.ProgressBar && !terminal {
		m.width = 80
	}
}

// WatchTransfers counts the bytes of the interpreter's uploads and downloads.
func (m *Meter) WatchTransfers(in *vm.Interp) {
	m.unwatch = in.WatchTransfers(func(delta int64) { m.bytes.Add(delta) })
}

// Add counts finished files, transferred bytes, failed items and repeated
// requests.
func (m *Meter) Add(files, bytes, failed, retries int64) {
	m.files.Add(files)
	m.bytes.Add(bytes)
	m.failedItems.Add(failed)
	m.retries.Add(retries)
	m.report(files, failed)
}

// own returns the reading of the meter's own counters.
func (m *Meter) own() Reading {
	r := m.total
	r.Files, r.Bytes, r.Failed, r.Retries = m.files.Load(), m.bytes.Load(), m.failedItems.Load(), m.retries.Load()
	r.Transferred = r.Bytes
	return r
}

// Finish ends the display; further calls do nothing.
func (m *Meter) Finish() {
	m.once.Do(func() {
		m.unwatch()
		m.remove()
		close(m.stop)
	})
	<-m.over
}

// show renders until Finish, or the end of ctx.
func (m *Meter) show(ctx context.Context) {
	defer close(m.over)
	every := report
	if m.mode == vm.ProgressBar {
		every = redraw
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.draw(false)
		case <-m.stop:
			m.draw(true)
			return
		case <-ctx.Done():
			m.draw(true)
			return
		}
	}
}

func (m *Meter) draw(last bool) {
	f := m.figures(last)
	switch m.mode {
	case vm.ProgressQuiet:
	case vm.ProgressJSON:
		fmt.Fprintln(m.out, f.json(m.label))
	case vm.ProgressBar:
		if !last {
			m.screen.SetStatus(fmt.Sprintf("%.*s", m.width-1, m.label+": "+f.text()))
			return
		}
		m.screen.SetStatus("")
		fallthrough
	default:
		if last && m.brief {
			return
		}
		fmt.Fprintln(m.out, m.label+": "+f.text()) // progress that cannot be shown does not fail the work
	}
}
