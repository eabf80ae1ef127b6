package jobstest

import (
	"os"
	"path/filepath"
	"testing"

	"transect/runtime/jobs"
)

// Each runs a test on a new SQLite database and on a new PostgreSQL database.
func Each(t *testing.T, test func(*testing.T, jobs.Config)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, jobs.Config{StateDir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { test(t, jobs.Config{URL: Database(t), StateDir: t.TempDir()}) })
}

// EachStore runs a test on an open store of each database.
func EachStore(t *testing.T, test func(*testing.T, *jobs.Store)) {
	t.Helper()
	Each(t, func(t *testing.T, c jobs.Config) { test(t, Open(t, c)) })
}

// Open opens a store for the duration of a test.
func Open(t testing.TB, c jobs.Config) *jobs.Store {
	t.Helper()
	store, err := jobs.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// Script writes a script and returns its path.
func Script(t testing.TB, dir, name, code string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
