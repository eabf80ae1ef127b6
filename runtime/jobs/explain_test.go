package jobs

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"transect/client/fault"
)

// What passes by itself is waited for; what somebody must mend is not.
func TestRefusalsOfServers(t *testing.T) {
	for code, want := range map[string]struct {
		name         string
		passes, hint bool
	}{
		"25006": {"ConnectionError", true, true}, // read-only
		"25P03": {"ConnectionError", true, false},
		"53300": {"ConnectionError", true, true},  // too many connections
		"53100": {"ConnectionError", true, true},  // disk full
		"57P03": {"ConnectionError", true, false}, // starting up
		"58030": {"ConnectionError", true, false}, // disk
		"40001": {"ConnectionError", true, false}, // conflict
		"08P01": {"ConnectionError", true, false},
		"28P01": {"MissingCredentialsError", false, true},
		"3D000": {"ConfigError", false, true}, // no such database
		"42501": {"PermissionError", false, true},
		"42P01": {"RuntimeError", false, false}, // no such table
	} {
		f := fault.Find(explainPostgres("postgres://me:sesame@db/jobs", fmt.Errorf("asked: %w", &pgconn.PgError{Code: code, Message: "no"})))
		if f.Name() != want.name || fault.Transient(f) != want.passes || (f.Facts().Hint != "") != want.hint {
			t.Errorf("%s: %s: %v (%s)", code, f.Name(), f, f.Facts().Hint)
		}
	}
}
