package jobs_test

import (
	"testing"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// A database of an earlier version gets what was added since.
func TestDatabaseOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		store := jobstest.Open(t, c)
		for _, statement := range []string{"alter table tr_run drop column record", "alter table tr_notice add column command bigint not null default 0",
			"delete from tr_migration where version > 1"} {
			if _, err := store.DB().Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := jobstest.Open(t, c).DB().Exec("select record from tr_run"); err != nil {
			t.Error(err)
		}
		if _, err := store.DB().Exec("select command from tr_notice"); err == nil {
			t.Error("the column command of tr_notice is still there")
		}
	})
}
