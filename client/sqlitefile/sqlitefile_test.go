package sqlitefile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"transect/client/sqlitefile"
)

// TestManyOpenANewFile opens a new file several times at once, each with its own connections.
func TestManyOpenANewFile(t *testing.T) {
	dir := t.TempDir()
	for n := range 10 {
		path := filepath.Join(dir, fmt.Sprint("a ?#%", n, ".db"))
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				db, err := sqlitefile.Open(t.Context(), path, "_txlock=immediate")
				if err != nil {
					t.Error(err)
					return
				}
				defer db.Close()
				if _, err := db.Exec("create table if not exists t (x); insert into t values (1)"); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		db, err := sqlitefile.Open(t.Context(), path, "")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		rows := 0
		if err := db.QueryRow("select count(*) from t").Scan(&rows); err != nil || rows != 8 {
			t.Error(rows, err)
		}
	}
}

func TestFilesOfOthersAreKeptPrivateAndWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	if err := os.WriteFile(path, []byte("notes"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitefile.Open(t.Context(), path, ""); sqlitefile.Code(err) != sqlite3.SQLITE_NOTADB {
		t.Error(err)
	}
	info, err := os.Stat(path)
	if text, _ := os.ReadFile(path); err != nil || string(text) != "notes" || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(string(text), info, err)
	}
}

func TestAFolderIsLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitefile.Open(t.Context(), dir, ""); err == nil {
		t.Error("a folder was opened")
	}
	if after, err := os.Stat(dir); err != nil || after.Mode() != before.Mode() {
		t.Error(before.Mode(), after.Mode(), err)
	}
}
