// Package jobstest opens databases of jobs for tests: SQLite always, PostgreSQL
// where it is installed, in a private cluster on a Unix socket.
package jobstest
