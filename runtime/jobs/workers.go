package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Worker is a worker process.
type Worker struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Host     string    `json:"host"`
	PID      int       `json:"pid"`
	Queues   []string  `json:"queues"`
	Slots    int       `json:"slots"`
	Version  string    `json:"version"`
	Sandbox  bool      `json:"sandbox"`  // it refuses scripts without a manifest
	Stopping bool      `json:"stopping"` // it finishes its running jobs
	Alive    bool      `json:"alive"`
	Died     bool      `json:"died"` // it was declared dead; others that are gone left properly
	Started  time.Time `json:"started"`
	Seen     time.Time `json:"seen"` // its last sign of life
	Jobs     []int64   `json:"jobs"` // running jobs

	Silent time.Duration `json:"-"` // since Seen, by the clock of the database
}

// Lease is how long a worker without a sign of life keeps its jobs.
const Lease = 15 * time.Second

// Workers lists the live workers, and with gone the ones that died or left recently, in the order of their
// start.
func (s *Store) Workers(ctx context.Context, gone bool) ([]*Worker, error) {
	where := " where w.dead_at is null"
	if gone {
		where = ""
	}
	list, err := Collect(ctx, s.db, func(rows *sql.Rows) (*Worker, error) {
		w := &Worker{Jobs: []int64{}}
		var queues, running string
		var started, lease, silent int64
		if err := rows.Scan(&w.ID, &w.Name, &w.Host, &w.PID, &queues, &w.Slots, &w.Version, &w.Sandbox, &w.Stopping,
			&started, &lease, &w.Alive, &w.Died, &running, &silent); err != nil {
			return nil, err
		}
		w.Queues, w.Started, w.Seen = strings.Split(queues, ","), FromMillis(started), FromMillis(lease).Add(-Lease)
		w.Silent = time.Duration(silent)*time.Millisecond + Lease
		for _, id := range strings.FieldsFunc(running, func(c rune) bool { return c == ',' }) {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("jobs of worker %s: %w", w.ID, err)
			}
			w.Jobs = append(w.Jobs, n)
		}
		return w, nil
	}, `select w.id, w.name, w.host, w.pid, w.queues, w.slots, w.version, w.sandbox,
		w.stopping, w.started_at, w.lease_until,
		w.dead_at is null, coalesce(w.dead_at >= w.lease_until, false), `+s.running+`, `+s.Now+
		` - w.lease_until from tr_worker w`+where+" order by w.started_at, w.id")
	return list, s.Explain(err)
}
