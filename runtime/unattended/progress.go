package unattended

import (
	"encoding/json"
	"net"
	"sync"
	"time"

	"transect/runtime"
	"transect/runtime/unattended/history"
)

// progressInterval is how often the progress of a run is written.
const progressInterval = time.Second

// progress writes the progress of a run to the history. A run that takes less than a second and transfers
// nothing writes none.
type progress struct {
	run     *run
	of      *runtime.Execution
	started history.Summary // a copy: the run may write its end at any moment
	samples history.Samples
	stop    chan struct{}
	over    sync.WaitGroup

	socket net.Listener // for observers; nil before it is open, and where there can be none
}

func (r *run) watch(x *runtime.Execution) *progress {
	p := &progress{run: r, of: x, started: *r.summary, stop: make(chan struct{})}
	p.over.Go(p.follow)
	return p
}

func (p *progress) follow() {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	admit := sync.OnceFunc(func() { p.socket = p.openSocket() })
	for {
		select {
		case <-ticker.C:
			admit()
			p.samples.Add(p.sample())
			p.write(p.of.Interp.Displays())
		case <-p.stop:
			if p.socket != nil {
				_ = p.socket.Close()
			}
			return
		}
	}
}

// end writes the final progress.
func (p *progress) end() {
	close(p.stop)
	p.over.Wait()
	if last := p.sample(); last.Sent+last.Received > 0 || len(p.of.Interp.Ingests()) > 0 {
		p.write(nil)
	}
}

func (p *progress) sample() history.Sample {
	sent, received := p.of.Transferred()
	now := p.run.process.Now().Sub(p.started.Started)
	return history.Sample{Seconds: now.Round(time.Millisecond).Seconds(), Sent: sent, Received: received}
}

func (p *progress) write(displays []any) {
	p.run.recording.Wait()
	if p.run.entry == nil {
		return
	}
	items := p.of.Interp.Items()
	text, err := json.Marshal(struct {
		history.Progress
		Displays []any `json:"displays,omitempty"`
	}{history.Progress{ItemsDone: items.Done, ItemsFailed: items.Failed, Files: items.Verdicts,
		Ingests: p.of.Interp.Ingests(), Findings: p.of.Interp.Findings(),
		Samples: p.samples.With(p.sample())}, displays})
	if err == nil {
		_ = p.run.entry.WriteProgress(text) // an error of the history does not fail the run
	}
}
