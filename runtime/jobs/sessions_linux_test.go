package jobs_test

import (
	"sync"
	"testing"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// Jobs go through a pooler, in whichever mode, also from its first use of a new
// database by several at once; readers poll where nothing is announced.
func TestConnectionPooler(t *testing.T) {
	t.Parallel()
	cluster := jobstest.NewCluster(t)
	for _, mode := range []string{"transaction", "session"} {
		pooled := cluster.Pooled(t, cluster.Database(t), mode)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				s, err := jobs.Open(t.Context(), jobs.Config{URL: pooled})
				if err != nil {
					t.Errorf("%s: %v", mode, err)
					return
				}
				defer s.Close()
				id, err := s.Submit(t.Context(), jobs.Spec{Script: "a.lua"})
				if err != nil {
					t.Errorf("%s: %v", mode, err)
					return
				}
				var ended sync.WaitGroup
				ended.Go(func() {
					if j, err := s.Wait(t.Context(), id); err != nil || j.State != jobs.Cancelled {
						t.Errorf("%s: %v, %v", mode, j, err)
					}
				})
				if err := s.Cancel(t.Context(), id); err != nil {
					t.Errorf("%s: %v", mode, err)
					return
				}
				ended.Wait()
				if s.Listens() {
					t.Errorf("%s: it listens through a pooler", mode)
				}
			})
		}
		group.Wait()
	}
}
