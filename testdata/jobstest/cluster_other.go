//go:build !linux

package jobstest

import "testing"

// Database skips the test: clusters are started on Linux only.
func Database(t testing.TB) string {
	t.Helper()
	t.Skip("PostgreSQL is tested on Linux only")
	return ""
}
