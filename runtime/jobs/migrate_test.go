package jobs

import (
	"testing"

	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// The certificate of a server on another machine is verified unless somebody says
// otherwise; there is no second try without encryption.
func TestEncryptionToServers(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	t.Setenv("PGHOST", "")
	for address, verified := range map[string]bool{
		"postgres://me@db.example.com/jobs":                 true,
		"postgres://me@localhost,db.example.com/jobs":       true,
		"postgres://me@/jobs?host=db.example.com":           true,
		"postgres://me@[2001:db8::1]:5433/jobs":             true,
		"postgres://me@db.example.com/jobs?sslmode=disable": false,
		"postgres://me@db.example.com/jobs?sslmode=require": false,
		"postgres://me@localhost/jobs":                      false,
		"postgres://me@127.0.0.1:5433/jobs":                 false,
		"postgres://me@[::1]/jobs":                          false,
		"postgres://me@/jobs?host=/run/postgresql":          false,
		"postgres://me@localhost/jobs?sslmode=verify-full":  true,
	} {
		config, err := postgresConfig(address)
		if err != nil {
			t.Fatal(address, err)
		}
		c := config.ConnConfig
		got := c.TLSConfig != nil && !c.TLSConfig.InsecureSkipVerify && c.TLSConfig.ServerName != ""
		for _, other := range c.Fallbacks {
			got = got && other.TLSConfig != nil && !other.TLSConfig.InsecureSkipVerify
		}
		if got != verified {
			t.Errorf("%s: verified %v, not %v", address, got, verified)
		}
	}
	t.Setenv("PGHOST", "db.example.com")
	if config, err := postgresConfig("postgres:///jobs"); err != nil || config.ConnConfig.TLSConfig == nil || config.ConnConfig.TLSConfig.InsecureSkipVerify {
		t.Error("the server that PGHOST names is not verified", err)
	}
}

// A program with newer tables of River must refuse to share a database with one
// that does not know them: that takes a new file in schema.
func TestVersionOfRiversTables(t *testing.T) {
	onSQLite, err := rivermigrate.New(riversqlite.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	onPostgres, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]rivermigrate.Migration{onSQLite.AllVersions(), onPostgres.AllVersions()} {
		if newest := all[len(all)-1].Version; newest != riverVersion {
			t.Errorf("River's tables have version %d, not %d: add a file to schema, be it empty, and change riverVersion", newest, riverVersion)
		}
	}
}
