package recovery_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
)

// A write that holds the present moment, or differs from a noted one by a moment or
// a random part alone, is told of once a line; one that is merely another is not.
func TestDoubtfulWrites(t *testing.T) {
	dir, at := t.TempDir(), time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	const project, other = "6b033c5f8716b6a0412e80a1", "6b033c5f8716b6a0412e80a2"
	start := func(strict bool, names ...any) (string, error) {
		l, err := ledger.OpenRun(dir, "r", ledger.Start{At: at})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var log bytes.Buffer
		c, err := client.New(t.Context(), client.Settings{URL: "http://platform.example", AccessToken: "t"}, client.Options{
			RoundTripper: answers(`{"mission":{"_id":"6b033c5f8716b6a0412e80a3"}}`), Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Ledger: &recovery.Options{Ledger: func() (*ledger.Ledger, error) { return l, nil }, Key: func() ([]byte, error) { return []byte("key"), nil }, Strict: strict,
				Started: func() (time.Time, bool) { return at, true }}})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(names); i += 2 {
			ctx := recovery.CalledBy(context.Background(), recovery.Caller{Line: "s.lua:3"})
			_, err = c.Manager("missions").Op("create_mission").Invoke(ctx, declare.Args{Values: map[string]any{"project": names[i], "name": names[i+1], "survey_date": "2026-05-01"}})
			if err != nil {
				return log.String(), err
			}
		}
		return log.String(), nil
	}
	now := time.Now()
	for _, s := range []struct {
		what    string
		names   []any
		told    string // "" for nothing
		warning int
	}{
		{"names that stay", []any{project, "Flight 12", project, "taken 2026-05-01 08:10:11", other, "a1b2c3d4e5f60718293a", project, "/tmp/lua_1", project, "x " + at.Format(time.RFC3339)}, "", 0},
		{"the same", []any{project, "Flight 12"}, "", 0},
		{"another flight, another project", []any{project, "Flight 13", other, "Flight 12"}, "", 0},
		{"another time", []any{project, "taken 2026-05-01 08:10:12", project, "taken 2026-05-01 08:10:13"}, "name differs from what write ", 1},
		{"another random part", []any{other, "b1b2c3d4e5f60718293a"}, "name differs", 1},
		{"another path", []any{project, "/tmp/lua_2"}, "name differs", 1},
		{"now", []any{project, "at " + now.Format("2006-01-02 15:04:05")}, "s.lua:3: missions.create_mission: name", 1},
	} {
		log, err := start(false, s.names...)
		if err != nil || strings.Count(log, "level=WARN") != s.warning || !strings.Contains(log, s.told) {
			t.Errorf("%s: %v\n%s", s.what, err, log)
		}
	}
	dir = t.TempDir()
	for _, name := range []string{now.Format(time.RFC3339), now.UTC().Format("20060102-150405"), now.Format("2006-01-02 15:04"), now.UTC().Format("20060102150405")} {
		if log, _ := start(false, project, name+" x"); !strings.Contains(log, "name holds the present moment") && !strings.Contains(log, "name differs") {
			t.Errorf("%s is the present: %s", name, log)
		}
		if _, err := start(true, other, "in "+name); !errors.As(err, new(*fault.ParameterError)) {
			t.Errorf("--strict: %v", err)
		}
	}
	for _, name := range []string{now.AddDate(0, 0, 30).Format(time.RFC3339), now.Format(time.DateOnly), "1795000000", at.Format(time.RFC3339), "Flight 2026"} {
		dir = t.TempDir()
		if log, _ := start(false, project, name); strings.Contains(log, "WARN") {
			t.Errorf("%s is not the present: %s", name, log)
		}
	}
}

// answers is a platform that answers everything alike.
type answers string

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(q *http.Request) (*http.Response, error) {
	return response(q, http.StatusOK, string(a)), nil
}
