package jobs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

// BenchmarkTenThousandJobs lists jobs among 10,000 that have 200 lines of output
// each, and reports the size of the database.
func BenchmarkTenThousandJobs(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			c := jobs.Config{StateDir: b.TempDir()}
			if name == "postgres" {
				c.URL = jobstest.Database(b)
			}
			s := jobstest.Open(b, c)
			fill(b, s, 10_000)
			stats, err := s.Stats(b.Context(), time.Hour)
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range []struct {
				name   string
				filter jobs.Filter
			}{
				{"newest", jobs.Filter{Limit: 20}},
				{"failed", jobs.Filter{Limit: 20, States: []jobs.State{jobs.Failed}}},
				{"script", jobs.Filter{Limit: 20, Script: "none"}},
				{"all", jobs.Filter{}},
			} {
				b.Run(f.name, func(b *testing.B) {
					for b.Loop() {
						if _, err := s.Overview(b.Context(), f.filter); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(stats.Size)/1e6, "MB")
				})
			}
			b.Run("rows", func(b *testing.B) { // what the database alone takes for all
				for b.Loop() {
					rows, err := s.DB().QueryContext(b.Context(), "select j.id, j.args, j.queue, j.priority, j.state, j.scheduled_at, j.metadata, t.* from river_job j join tr_job t on t.job_id = j.id order by j.id desc")
					if err != nil {
						b.Fatal(err)
					}
					for rows.Next() {
					}
					if err := rows.Err(); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("stats", func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Stats(b.Context(), time.Hour); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// fill makes n jobs that have run: every tenth failed, every hundredth needs a
// decision.
func fill(b *testing.B, s *jobs.Store, n int) {
	b.Helper()
	spec, err := json.Marshal(jobs.Spec{Script: "survey.lua", Args: []string{"flights/2026-11-22/field-7"}, Folder: "/data/season", Bundle: strings.Repeat("0", 64), Settings: setting.Settings{Queue: "default", Priority: 2}})
	if err != nil {
		b.Fatal(err)
	}
	numbers := fmt.Sprintf("with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) ", n)
	now := "current_timestamp"
	outcome := "case when i % 100 = 0 then 'needs a decision' when i % 10 = 0 then 'failed' else 'done' end"
	if err := s.Tx(b.Context(), func(tx *jobs.Tx) error {
		for _, statement := range []string{
			"insert into river_job (args, kind, max_attempts, state, finalized_at) " + numbers + fmt.Sprintf("select '%s', 'transect', 30000, %s, %s from n", spec,
				map[bool]string{true: "case when i % 10 = 0 then 'discarded' else 'completed' end::river_job_state", false: "case when i % 10 = 0 then 'discarded' else 'completed' end"}[s.Postgres], now),
			"insert into tr_job (job_id, title, outcome, exit_code, started_at, ended_at) " + numbers + "select i, 'survey.lua flights/2026-11-22/field-7', " + outcome + ", 0, " + s.Now + " - 5000, " + s.Now + " from n",
			"insert into tr_run (job_id, attempt, epoch, worker_id, worker, started_at, ended_at, exit_code, outcome) " + numbers + "select i, 1, 1, 'w', 'alpha', " + s.Now + " - 5000, " + s.Now + ", 0, 'done' from n",
			"insert into tr_log (run_id, seq, at, stream, lines) " + numbers + "select i, 1, " + s.Now + ", 'out', '" + strings.Repeat("image DJI_20261122143025_0007_V.JPG uploaded: 8.2 MB in 1.4 s, dataset 4711 of field 7, orthomosaic\n", 200) + "' from n",
		} {
			if _, err := tx.Exec(statement); err != nil {
				return fmt.Errorf("%.200s: %w", statement, err)
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}
