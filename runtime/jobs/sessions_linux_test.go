package jobs_test

import (
	"strings"
	"sync"
	"testing"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// A pooler in transaction mode is refused, also while others use it; one in session
// mode is not.
func TestConnectionPooler(t *testing.T) {
	t.Parallel()
	cluster := jobstest.NewCluster(t)
	database := cluster.Database(t)
	jobstest.Open(t, jobs.Config{URL: database})
	pooled := cluster.Pooled(t, database, "transaction")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s, err := jobs.Open(t.Context(), jobs.Config{URL: pooled})
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "the connection goes through a pooler in transaction mode") {
				t.Error(err)
			}
		})
	}
	group.Wait()
	s := jobstest.Open(t, jobs.Config{URL: cluster.Pooled(t, database, "session")})
	if _, err := s.Submit(t.Context(), jobs.Spec{Script: "a.lua"}); err != nil {
		t.Error(err)
	}
}
