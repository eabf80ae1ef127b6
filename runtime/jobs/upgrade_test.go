package jobs_test

import (
	"strings"
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
			"alter table tr_job drop column submitter", "alter table tr_schedule drop column submitter", "drop table tr_target",
			"insert into tr_part (key, job_id) values ('run/1', 1)", "delete from tr_migration where version > 1"} {
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
		if keys, err := jobs.Column[string](t.Context(), store.DB(), "select key from tr_part"); err != nil || !strings.HasSuffix(keys[0], "/run/1") {
			t.Error(keys, err)
		}
	})
}
