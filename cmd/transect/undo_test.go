package main

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transect/client/sqlitefile"
	"transect/testdata/flightgen"
)

// Undoing the main job leaves the platform as it was before; of what cannot be
// undone, the product, it says so. A second undo does nothing, and one of a run
// that was resumed undoes all its starts.
func TestUndoOfSurvey(t *testing.T) {
	t.Parallel()
	h := newHome(t, 4, flightgen.Options{})
	h.must("eval", "--local", `local sdk = require("sdk") sdk.projects.create("Another", sdk.users.describe().company)`)
	before := h.things(t)
	h.must("run", "--local", "--run", "s", h.survey, "flight")
	made := h.things(t)
	preview := h.must("runs", "undo", "--dry-run", "s")
	if now := h.things(t); !slices.Equal(now, made) {
		t.Errorf("the dry run changed something:\n%q\n%q", made, now)
	}
	if n := strings.Count(preview, "would be deleted: "); n < 6 || !strings.Contains(preview, "would be deleted, ") {
		t.Errorf("%d things would be deleted:\n%s", n, preview)
	}
	told := h.must("runs", "undo", "s")
	after := slices.DeleteFunc(h.things(t), func(line string) bool { return strings.HasPrefix(line, "products ") })
	if !slices.Equal(after, before) {
		t.Errorf("before:\n%s\nafter:\n%s\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"), told)
	}
	if n := strings.Count(told, "cannot be undone: "); n != strings.Count(told, "products cannot be deleted") || n == 0 {
		t.Errorf("what cannot be undone:\n%s", told)
	}
	if again := h.must("runs", "undo", "s"); strings.Contains(again, "deleted:") || strings.Contains(again, "restored") || strings.Contains(again, "failed") {
		t.Errorf("the second undo:\n%s", again)
	}

	h.file("two.lua", `local sdk = require("sdk")
local c = sdk.users.describe().company
sdk.projects.create("One", c)
if not require("fs").exists("second") then require("fs").write("second", "") os.exit(9) end
sdk.projects.create("Two", c)`)
	before = h.things(t)
	if _, _, code := h.run("run", "--local", "--run", "t", "two.lua"); code != 9 {
		t.Fatalf("exit code %d", code)
	}
	h.must("run", "--resume=t")
	h.must("runs", "undo", "t")
	if after := h.things(t); !slices.Equal(after, before) {
		t.Errorf("after a resumed run: %q, before: %q", after, before)
	}
}

// What other users have changed since, or put into it, stays, and is named.
func TestUndoSparesOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t, 0, flightgen.Options{})
	h.file("make.lua", `local sdk = require("sdk")
local c = sdk.users.describe().company
local p = sdk.projects.create("Holds", c)
sdk.datasets.create_file_dataset{ name = "theirs", project = p }
sdk.projects.create("Changed", c)
sdk.projects.create("Plain", c)`)
	h.must("run", "--local", "--run", "r", "make.lua")
	for _, change := range []string{
		`UPDATE docs SET body = json_set(body, '$.creation_user', '6b0000000000000000000000', '$.modification_user', '6b0000000000000000000000') WHERE collection = 'datasets'`,
		`UPDATE docs SET body = json_set(body, '$.modification_user', '6b0000000000000000000000') WHERE collection = 'projects' AND name = 'Changed'`,
	} {
		h.database(t, func(db *sql.DB) error { _, err := db.Exec(change); return err })
	}
	for _, arguments := range [][]string{{"runs", "undo", "--dry-run", "r"}, {"runs", "undo", "r"}} {
		told := h.must(arguments...)
		for text, n := range map[string]int{"deleted: write": 1, "user 6b0000000000000000000000 has changed it since; delete it by hand if you do not need it": 2} {
			if strings.Count(told, text) != n {
				t.Errorf("%q is not there %d times:\n%s", text, n, told)
			}
		}
	}
	if left := strings.Join(h.things(t), "\n"); !strings.Contains(left, "Holds") || !strings.Contains(left, "Changed") || strings.Contains(left, "Plain") {
		t.Error(left)
	}
}

// things are what the local platform holds and did not delete.
func (h *home) things(t *testing.T) (list []string) {
	t.Helper()
	h.database(t, func(db *sql.DB) error {
		rows, err := db.Query("SELECT collection || ' ' || id || ' ' || body FROM docs WHERE deletion_date IS NULL ORDER BY id")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			list = append(list, line)
		}
		return rows.Err()
	})
	return list
}

func (h *home) database(t *testing.T, do func(*sql.DB) error) {
	t.Helper()
	db, err := sqlitefile.Open(t.Context(), filepath.Join(h.dir, "platform", "platform.db"), "")
	if err == nil {
		defer db.Close()
		err = do(db)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A run of an everyday command is not resumed: the command is typed again, and is named.
func TestResumeOfAnotherCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2, flightgen.Options{})
	h.must("put", "--local", "--create", "flight", "North")
	var run struct{ ID string }
	if err := json.Unmarshal([]byte(h.must("runs", "--json")), &run); err != nil || run.ID == "" {
		t.Fatalf("%+v, %v", run, err)
	}
	_, said, code := h.run("run", "--resume="+run.ID)
	if code != 2 || !strings.Contains(said, "repeat its command, which resumes by itself: transect put --local --create flight North") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// A run of the same name on another machine is another run. What other runs have put into
// what this one made stays, and so does what holds it.
func TestUndoSparesOtherRuns(t *testing.T) {
	t.Parallel()
	first := newHome(t, 3, flightgen.Options{})
	s := serve(t, first)
	second := newHome(t, 0, flightgen.Options{})
	if err := flightgen.Write(filepath.Join(second.dir, "flight"), 4, flightgen.Options{FileSize: 30 << 10}); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*home{first, second} {
		h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password,
			"TRANSECT_CLIENT_ID=" + s.ClientID, "TRANSECT_CLIENT_SECRET=" + s.ClientSecret}
		h.file("put.lua", `local sdk, ingest = require("sdk"), require("ingest")
local project = sdk.projects.find_or_create{ name = arg[1] }
local mission = sdk.missions.find_or_create{ project = project, name = "May", survey_date = "2026-05-31" }
ingest.run{ source = "flight", project = project, mission = mission, progress = false }`)
	}
	datasets := func() int { return strings.Count(first.must("ls", "datasets", "--json"), "\n") }
	first.must("run", "--run", "nightly", "put.lua", "Shared")
	second.must("run", "--run", "nightly", "put.lua", "Shared")
	second.must("run", "--run", "weekly", "put.lua", "Alone")
	if n := datasets(); n != 3+4+4 {
		t.Fatalf("%d datasets", n)
	}
	told := first.must("runs", "undo", "nightly")
	for text, n := range map[string]int{"deleted: ingest.run": 3, "it holds datasets that the run did not make (4)": 2} {
		if strings.Count(told, text) != n {
			t.Errorf("%q is not there %d times:\n%s", text, n, told)
		}
	}
	if n := datasets(); n != 4+4 {
		t.Errorf("%d datasets are left", n)
	}
	second.must("runs", "undo", "weekly")
	if n := datasets(); n != 4 || strings.Contains(first.must("ls"), "Alone") {
		t.Errorf("%d datasets are left: %s", n, first.must("ls"))
	}
}
