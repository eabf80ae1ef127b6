package bindings_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/bindings"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/sqlitefile"
	"transect/runtime/examples"
)

// A request that arrives after the settling time, when it was sent again already,
// makes a second thing: the run tells both at its end, and keeps it in its ledger.
func TestDoubledWritesAreTold(t *testing.T) {
	files := argumentFiles(t)
	for _, op := range []string{"projects.create", "missions.create_survey", "datasets.create_file_dataset", "datasets.create_datasets", "comments.create",
		"tags.create", "features.create_features", "season_planner_missions.add_mission_to_trial", "analytics.order"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			r := newLostRun(t, op, inFolder(examples.Of(bindings.Examples)[op].Text(), t.TempDir()), files)
			defer r.close()
			_ = r.start(tooLate, 1)
			if err := r.start(never, 0); err != nil {
				t.Fatal(err)
			}
			if len(r.doubles) != 1 || len(r.doubles[0].Others) == 0 || r.tally.Counts().Doubled != 1 {
				t.Fatalf("told: %+v", r.doubles)
			}
			told := r.doubles[0]
			for _, id := range told.Others {
				if slices.Contains(told.IDs, id) {
					t.Errorf("%s is told twice: %+v", id, told)
				}
				if !strings.Contains(r.everything(), id) {
					t.Errorf("%s is not there", id)
				}
			}
			l, err := ledger.OpenToRead(r.ledgers, "r")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			err = l.All(func(i ledger.Intent, result *ledger.Result) error {
				if i.Seq == told.Write && (result == nil || result.State != ledger.Doubled || !slices.Equal(l.Duplicates(i.Seq), told.Others)) {
					t.Errorf("noted: %+v, %q", result, l.Duplicates(i.Seq))
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if err := r.start(never, 0); err != nil || len(r.doubles) > 0 {
				t.Errorf("the start after it: %v, %v", err, r.doubles)
			}
		})
	}
}

// A set that may have been done long ago is sent again only where nobody has
// changed its subject since.
func TestOldSetsAreLookedAt(t *testing.T) {
	const op = "projects.update_name"
	for _, c := range []struct {
		name    string
		die     death
		later   time.Duration
		changed string // by somebody else since, to this name
		sent    int
		asks    bool
	}{
		{"soon, not done", beforeSent, time.Minute, "", 1, false},
		{"soon, done", answerLost, time.Minute, "", 1, false},
		{"later, not done", beforeSent, 2 * time.Hour, "", 1, false},
		{"later, done", answerLost, 2 * time.Hour, "", 0, false},
		{"later, changed", beforeSent, 2 * time.Hour, "Theirs", 0, true},
		{"later, done and changed", answerLost, 2 * time.Hour, "Theirs", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newLostRun(t, op, examples.Of(bindings.Examples)[op].Text(), nil)
			defer r.close()
			_ = r.start(c.die, 1)
			r.ahead.Add(int64(c.later))
			if c.changed != "" {
				r.byAnother(c.changed)
			}
			err := r.start(never, 0)
			if asks := errors.As(err, new(*fault.UnknownOutcomeError)); asks != c.asks || err != nil && !asks {
				t.Fatal(err)
			}
			if c.asks && !strings.Contains(err.Error(), " has changed ") {
				t.Error(err)
			}
			if r.requests != c.sent {
				t.Errorf("%d requests instead of %d", r.requests, c.sent)
			}
			if c.changed != "" && !strings.Contains(r.state(), c.changed) {
				t.Error("what somebody else wrote is gone")
			}
		})
	}
}

// A clock that was set back between two starts neither repeats a write nor makes
// the run wait for the time to come again.
func TestClockSetBack(t *testing.T) {
	const op = "projects.create"
	whole := newLostRun(t, op, examples.Of(bindings.Examples)[op].Text(), nil)
	defer whole.close()
	if err := whole.start(never, 0); err != nil {
		t.Fatal(err)
	}
	want := whole.state()
	for _, die := range []death{beforeSent, answerLost, afterNoted} {
		t.Run(die.String(), func(t *testing.T) {
			t.Parallel()
			r := newLostRun(t, op, examples.Of(bindings.Examples)[op].Text(), nil)
			defer r.close()
			_ = r.start(die, 1)
			r.ahead.Add(int64(-2 * time.Hour))
			before := r.ahead.Load()
			if err := r.start(never, 0); err != nil {
				t.Fatal(err)
			}
			if waited := time.Duration(r.ahead.Load() - before); waited > 5*time.Minute {
				t.Errorf("waited %v", waited)
			}
			if got := r.state(); got != want {
				t.Error(difference(want, got))
			}
		})
	}
}

// everything is the text of all records.
func (r *lostRun) everything() string {
	var all string
	r.database(func(db *sql.DB) error { return db.QueryRow("SELECT group_concat(body) FROM docs").Scan(&all) })
	return all
}

// byAnother renames the project as another user would.
func (r *lostRun) byAnother(name string) {
	at := r.now().UTC().Format("2006-01-02T15:04:05.000Z")
	r.database(func(db *sql.DB) error {
		_, err := db.Exec(`UPDATE docs SET name = ?1, body = json_set(body, '$.name', ?1, '$.modification_user', '6b0000000000000000000000', '$.modification_date', ?2)
			WHERE collection = 'projects'`, name, at)
		return err
	})
}

func (r *lostRun) database(do func(*sql.DB) error) {
	db, err := sqlitefile.Open(r.t.Context(), filepath.Join(r.platform.Dir(), "platform.db"), "")
	if err == nil {
		defer db.Close()
		err = do(db)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
