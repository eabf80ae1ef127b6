package stdlib

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"transect/runtime/vm"
)

const (
	redraw = 200 * time.Millisecond
	report = time.Minute
)

// Meter counts work and shows it. Work only adds to counters, which any
// goroutine may do; a ticker of its own reads them.
type Meter struct {
	label                     string
	totalFiles, totalBytes    int64 // 0 when unknown
	files, bytes, failedItems atomic.Int64
	started                   time.Time
	now                       func() time.Time

	mode   vm.ProgressMode
	out    io.Writer
	screen *vm.Screen
	width  int

	unwatch func() // stops counting transfers
	once    sync.Once
	stop    chan struct{}
	over    chan struct{}
}

func startMeter(in *vm.Interp, label string, files, bytes int64) *Meter {
	opt := in.Options()
	m := &Meter{label: label, totalFiles: files, totalBytes: bytes, started: opt.Now(), now: opt.Now,
		mode: opt.Progress, out: opt.Stderr, unwatch: func() {}, stop: make(chan struct{}), over: make(chan struct{})}
	m.screen, _ = opt.Stderr.(*vm.Screen)
	m.chooseMode(opt.Log.JSON)
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

// Add counts finished files, transferred bytes and failed items.
func (m *Meter) Add(files, bytes, failed int64) {
	m.files.Add(files)
	m.bytes.Add(bytes)
	m.failedItems.Add(failed)
}

// Finish ends the display; further calls do nothing.
func (m *Meter) Finish() {
	m.once.Do(func() {
		m.unwatch()
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
	switch m.mode {
	case vm.ProgressQuiet:
	case vm.ProgressJSON:
		m.drawJSON(last)
	case vm.ProgressBar:
		if !last {
			m.screen.SetStatus(cut(m.line(), m.width-1))
			return
		}
		m.screen.SetStatus("")
		fallthrough
	default:
		fmt.Fprintln(m.out, m.line()) // progress that cannot be shown is no failure of the work
	}
}

// line is "upload: 3 of 10 files, 1.2 MB of 5.0 MB (24%), 600 kB/s, 1 failed".
func (m *Meter) line() string {
	var parts []string
	files, bytes, failed := m.files.Load(), m.bytes.Load(), m.failedItems.Load()
	if m.totalFiles > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d files", files, m.totalFiles))
	} else if files > 0 {
		parts = append(parts, fmt.Sprintf("%d files", files))
	}
	if m.totalBytes > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", size(bytes), size(m.totalBytes)))
	} else if bytes > 0 {
		parts = append(parts, size(bytes))
	}
	if percent, ok := m.percent(); ok && len(parts) > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" (%d%%)", percent)
	}
	elapsed := m.now().Sub(m.started)
	if bytes > 0 && elapsed > 0 {
		parts = append(parts, size(int64(float64(bytes)/elapsed.Seconds()))+"/s")
	}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	parts = append(parts, elapsed.Round(time.Second/10).String())
	return m.label + ": " + strings.Join(parts, ", ")
}

func (m *Meter) percent() (int64, bool) {
	switch {
	case m.totalBytes > 0:
		return min(100, m.bytes.Load()*100/m.totalBytes), true
	case m.totalFiles > 0:
		return min(100, m.files.Load()*100/m.totalFiles), true
	}
	return 0, false
}

func (m *Meter) drawJSON(last bool) {
	line := map[string]any{"type": "progress", "label": m.label, "files": m.files.Load(), "bytes": m.bytes.Load(),
		"failed": m.failedItems.Load(), "seconds": m.now().Sub(m.started).Seconds(), "finished": last}
	if m.totalFiles > 0 {
		line["total_files"] = m.totalFiles
	}
	if m.totalBytes > 0 {
		line["total_bytes"] = m.totalBytes
	}
	if data, err := json.Marshal(line); err == nil {
		fmt.Fprintln(m.out, string(data))
	}
}

func size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

func cut(s string, width int) string {
	if r := []rune(s); width > 0 && len(r) > width {
		return string(r[:width])
	}
	return s
}
