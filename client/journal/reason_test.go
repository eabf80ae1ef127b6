package journal

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// What SQLite fails with is told in words, without its codes.
func TestReason(t *testing.T) {
	dir := t.TempDir()
	fails := func(source, statement string) error {
		db, err := sql.Open("sqlite", source)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		_, err = db.Exec(statement)
		if err == nil {
			t.Fatalf("%s went well", statement)
		}
		return err
	}
	if db, err := sql.Open("sqlite", filepath.Join(dir, "a.db")); err != nil {
		t.Fatal(err)
	} else if _, err := db.Exec("CREATE TABLE a (x UNIQUE); INSERT INTO a VALUES (1)"); err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	readOnly := fails("file:"+filepath.ToSlash(filepath.Join(dir, "a.db"))+"?mode=ro", "INSERT INTO a VALUES (2)")
	for want, err := range map[string]error{
		"it may only be read":                              readOnly,
		"it cannot be opened":                              fails("file:"+filepath.ToSlash(filepath.Join(dir, "none", "a.db"))+"?mode=rw", "SELECT 1 FROM a"),
		"constraint failed: UNIQUE constraint failed: a.x": fails(filepath.Join(dir, "a.db"), "INSERT INTO a VALUES (1)"),
		"it is no journal of transect: SQL logic error: near \"x\": syntax error": damage(fails(filepath.Join(dir, "a.db"), "x")),
		"noting: something else": fmt.Errorf("noting: %w", fmt.Errorf("something else")),
	} {
		if why, hint := reason(err); why != want || hint == "" {
			t.Errorf("%v is told as %q, %q", err, why, hint)
		}
	}
}
