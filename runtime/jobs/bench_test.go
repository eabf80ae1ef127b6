package jobs_test

import (
	"testing"
	"time"

	"transect/runtime/jobs"
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
			jobstest.Fill(b, s, 10_000, 200)
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
