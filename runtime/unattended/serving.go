package unattended

import (
	"os"
	"sync"

	"transect/client/transport"
	"transect/runtime"
	"transect/runtime/unattended/history"
	"transect/runtime/unattended/logfile"
)

// Serving records a server command as a run: note adds a line and its requester, end the exit code. An
// unwritable or disabled history is ignored.
func Serving(p *runtime.Process, command, version string) (note func(asker, line string), end func(code int)) {
	host, _ := os.Hostname()
	summary := &history.Summary{ID: history.NewID(p.Now()), State: history.Running, Script: command,
		Arguments: []string{}, Version: version, Host: host, PID: os.Getpid(), Started: p.Now()}
	var entry *history.Entry
	if runs, _ := retention(p); runs > 0 {
		entry, _ = History(p).Begin(summary)
	}
	if entry == nil {
		return func(string, string) {}, func(int) {}
	}
	var mu sync.Mutex
	lines := &logfile.Lines{Now: p.Now, Clean: transport.Redact, Stamped: nil}
	lines.Stamped = append(lines.Stamped, entry.Log)
	out := lines.Stream()
	note = func(asker, line string) {
		mu.Lock()
		defer mu.Unlock()
		summary.AskedBy = asker
		_, _ = out.Write([]byte(line + "\n"))
	}
	end = func(code int) {
		mu.Lock()
		defer mu.Unlock()
		now := p.Now()
		summary.State = history.Ended
		summary.End = &history.End{At: now, Seconds: now.Sub(summary.Started).Seconds(), ExitCode: code,
			Outcome: history.Outcome(code)}
		_ = entry.End(summary)
	}
	return note, end
}
