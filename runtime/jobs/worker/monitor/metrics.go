package monitor

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"transect/runtime/jobs"
)

const (
	askWithin = 5 * time.Second // the time that the database has for an answer
	askEvery  = 5 * time.Second // until then its last answer holds, so that scrapes do not load it
)

// outcomes are all ways for an attempt to end, so that each has a series from the start.
var outcomes = []jobs.State{jobs.Done, jobs.DoneFailures, jobs.Failed, jobs.Stopped, jobs.NeedsDecision, jobs.Cancelled,
	jobs.Retrying, jobs.Waiting, jobs.Released, jobs.Lost}

// metric is the description of a metric.
type metric struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("transect_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("transect_"+name+"_total", help, labels, nil), prometheus.CounterValue}
}

var (
	info     = gauge("worker_info", "1; the labels say which worker this is.", "name", "version")
	ready    = gauge("worker_ready", "1 while the worker holds its lease and is not stopping, as /readyz.")
	slots    = gauge("worker_slots", "Jobs that the worker runs at most at the same time.")
	used     = gauge("worker_slots_used", "Slots in use; jobs that wait for others need none.")
	started  = counter("attempts_started", "Attempts at jobs that this worker started.")
	ended    = counter("attempts", "Attempts at jobs that ended on this worker, by outcome.", "outcome")
	taken    = counter("takeovers", "Jobs of dead workers that this worker queued again.")
	waits    = counter("database_waits", "Operations of jobs that the database did not answer in time; they are repeated.")
	waiting  = gauge("database_waiting", "Operations of jobs that wait for the database now.")
	sent     = counter("bytes_sent", "Bytes of files that jobs of this worker have sent, as of their last report.")
	received = counter("bytes_received", "Bytes of files that jobs of this worker have received, as of their last report.")

	databaseUp = gauge("database_up", "1 when the database of the jobs answered; else transect_jobs… are missing.")
	queued     = gauge("jobs", "Jobs in the database that have not ended or need a decision; all workers report the same.",
		"queue", "state")
	oldest = gauge("jobs_oldest_due_seconds",
		"For how long the job that waits longest in a queue has been due; all workers report the same.", "queue")
)

// metrics answers scrapes in the text format. promhttp, which knows others, is a third of a megabyte.
func (m *Monitor) metrics() http.Handler {
	r, format := prometheus.NewRegistry(), expfmt.NewFormat(expfmt.TypeTextPlain)
	r.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		families, err := r.Gather()
		var text bytes.Buffer
		for _, f := range families {
			err = errors.Join(err, expfmt.NewEncoder(&text, format).Encode(f))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", string(format))
		_, _ = text.WriteTo(w) // the peer may be gone
	})
}

// Describe describes nothing: what there is to describe depends on the queues.
func (m *Monitor) Describe(chan<- *prometheus.Desc) {}

// Collect returns the metrics.
func (m *Monitor) Collect(to chan<- prometheus.Metric) {
	put := func(of metric, value float64, labels ...string) {
		if one, err := prometheus.NewConstMetric(of.Desc, of.kind, value, labels...); err == nil { // else a queue is no text
			to <- one
		}
	}
	st := m.options.Counters.Status()
	put(info, 1, m.options.Name, m.options.Version)
	put(ready, flag(st.Unready == nil))
	put(slots, float64(st.Slots))
	put(used, float64(st.Used))
	put(started, float64(st.Started))
	for _, outcome := range outcomes {
		put(ended, float64(st.Ended[outcome]), string(outcome))
	}
	put(taken, float64(st.Taken))
	put(waits, float64(st.Waits))
	put(waiting, float64(st.Waiting))
	put(sent, float64(st.Sent))
	put(received, float64(st.Received))
	backlog := m.ask()
	put(databaseUp, flag(backlog != nil))
	if backlog == nil {
		return
	}
	for queue, states := range backlog.Jobs {
		for state, n := range states {
			put(queued, float64(n), queue, string(state))
		}
	}
	for queue, due := range backlog.Due {
		put(oldest, due.Seconds(), queue)
	}
}

// ask returns what waits in the queues, nil while the database does not answer. Scrapes at the same time share
// an answer.
func (m *Monitor) ask() *jobs.Backlog {
	m.mu.Lock()
	defer m.mu.Unlock()
	store := m.store.Load()
	if store == nil || !m.asked.IsZero() && time.Since(m.asked) < askEvery {
		return m.backlog
	}
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	m.backlog, _ = store.Backlog(ctx) // nil after an error, which the log of the worker tells of
	m.asked = time.Now()
	return m.backlog
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
