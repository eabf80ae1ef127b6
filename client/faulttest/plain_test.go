package faulttest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/declare"
	clientfault "transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
)

// plainly is the third reference workflow: it looks for nothing and just writes,
// as scripts do, under a run ID. Run again it is a further start of the run. Each
// call is tried so many times.
func plainly(times int) workflow {
	return func(ctx context.Context, w *world) (seen []string, err error) {
		w.keyless, w.hastens = true, true
		notes, err := ledger.OpenRun(filepath.Join(w.disk, "runs"), "plain", ledger.Start{At: time.Now()})
		if err != nil {
			return nil, err
		}
		defer notes.Close()
		tally := &recovery.WriteStats{}
		w.ledger = []client.Link{recovery.Link(recovery.Options{Stats: tally, Ledger: func() (*ledger.Ledger, error) { return notes, nil },
			Key: func() ([]byte, error) { return []byte("key"), nil }, Settle: 30 * time.Second})}
		s, err := w.connect(ctx)
		if err != nil {
			return nil, err
		}
		p := &plain{ctx: ctx, client: s.Client, times: times, ids: map[string]string{}, folder: w.disk}
		if err := p.work(); err != nil {
			return nil, err
		}
		doubles, err := tally.Duplicates(ctx)
		w.told += len(doubles)
		return nil, err
	}
}

// plain is a start of the workflow.
type plain struct {
	ctx    context.Context
	client *client.Client
	times  int
	folder string
	ids    map[string]string // by the name of the call that made them
}

// fields are the arguments of a call; "=name" stands for the ID of what was made
// under that name.
type fields = map[string]any

func (p *plain) work() error {
	file := filepath.Join(p.folder, "note.txt")
	if err := os.WriteFile(file, []byte("a few words"), 0o600); err != nil {
		return err
	}
	place := fields{"type": "Point", "coordinates": []any{4.0, 50.0}}
	for _, step := range []struct {
		name, operation string
		arguments       fields
	}{
		{"company", "users.describe", fields{}},
		{"project", "projects.create", fields{"name": "Quarry", "company": "=company"}},
		{"mission", "missions.create_mission", fields{"project": "=project", "name": "May", "survey_date": "2026-05-31"}},
		{"survey", "missions.create_survey", fields{"project": "=project", "name": "June", "survey_date": "2026-06-30", "number_of_images": 1,
			"coordinates": []any{[]any{4.0, 50.0}, []any{4.1, 50.0}, []any{4.1, 50.1}, []any{4.0, 50.0}}}},
		{"file", "datasets.create_file_dataset", fields{"name": "note", "project": "=project", "mission": "=mission"}},
		{"", "datasets.upload_file", fields{"dataset": "=file", "component": "file", "file_path": file}},
		{"", "datasets.rename", fields{"dataset": "=file", "name": "notes"}},
		{"", "datasets.add_categories", fields{"dataset": "=file", "categories": []string{"text"}}},
		{"many", "datasets.create_datasets", fields{"datasets": []any{
			fields{"name": "one", "type": "file", "project": "=project", "components": []any{fields{"name": "file"}}},
			fields{"name": "two", "type": "file", "project": "=project", "components": []any{fields{"name": "file"}}}}}},
		{"", "datasets.delete", fields{"dataset": "=many"}},
		{"spot", "annotations.create", fields{"project": "=project", "name": "Loose rock", "geometry": place}},
		{"", "comments.create", fields{"text": "seen", "project": "=project", "type": "project", "target": "=project"}},
		{"", "comments.create", fields{"text": "seen", "project": "=project", "type": "project", "target": "=project"}}, // once more on purpose
		{"", "tags.create", fields{"name": "steep", "project": "=project", "type": "annotation", "target": "=spot"}},
		{"crop", "crops.create", fields{"company": "=company", "name": "wheat"}},
		{"field", "fields.create", fields{"company": "=company", "project": "=project", "name": "Long acre"}},
		{"trial", "trials.create", fields{"field": "=field", "crop": "=crop", "name": "Density", "season": "2026-03-01"}},
		{"", "season_planner_missions.add_mission_to_trial", fields{"trial": "=trial", "name": "flight", "start_date": "2026-04-01", "end_date": "2026-04-08"}},
		{"team", "teams.create", fields{"company": "=company", "name": "North"}},
		{"", "teams.delete", fields{"team": "=team"}},
		{"product", "analytics.order", fields{"name": "rehearsal", "parameters": fields{"duration": 0.0}, "project": "=project"}},
		{"token", "share_tokens.create", fields{"dataset": "=file"}},
		{"collection", "collections.create", fields{"name": "Boreholes"}}, // nothing shows whether it was done
	} {
		if err := p.call(step.name, step.operation, step.arguments); err != nil {
			return err
		}
	}
	return nil
}

func (p *plain) call(name, operation string, arguments fields) error {
	manager, op, _ := strings.Cut(operation, ".")
	spec := p.client.Manager(manager).Op(op)
	var v declare.Value
	var err error
	for range p.times {
		v, err = spec.Invoke(p.ctx, declare.Args{Values: p.filled(arguments).(fields)})
		if err == nil || !clientfault.Transient(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	record := v.JSON
	if len(v.Items) > 0 {
		record = v.Items[0]
	}
	id := gjson.GetBytes(record, "_id").String()
	switch operation {
	case "users.describe":
		id = gjson.GetBytes(record, "company").String()
	case "missions.create_survey":
		id = gjson.GetBytes(record, "mission._id").String()
	}
	p.ids[name] = id
	return nil
}

func (p *plain) filled(v any) any {
	switch v := v.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "="); ok {
			return p.ids[name]
		}
	case fields:
		filled := fields{}
		for key, one := range v {
			filled[key] = p.filled(one)
		}
		return filled
	case []any:
		filled := make([]any, len(v))
		for i, one := range v {
			filled[i] = p.filled(one)
		}
		return filled
	}
	return v
}

// effects counts, before the platform, how often it carried out each creation by
// its Idempotency-Key, whatever the ledger believes.
type effects struct {
	mu    sync.Mutex
	byKey map[string]int
}

func (e *effects) count(w *world, behind http.Handler) http.Handler {
	creates := map[string]bool{}
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			for _, route := range s.Routes {
				if s.Effect == declare.Create && s.Unknown.Rule != declare.Repeat {
					creates[route] = true
				}
			}
		}
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Date", w.proxy.clock.now().UTC().Format(http.TimeFormat))
		key := r.Header.Get("Idempotency-Key")
		if w.keyless {
			r.Header.Del("Idempotency-Key")
		}
		if key == "" || !creates[r.URL.Path] {
			behind.ServeHTTP(rw, r)
			return
		}
		answer := httptest.NewRecorder()
		behind.ServeHTTP(answer, r)
		if answer.Code < 300 {
			e.mu.Lock()
			e.byKey[key]++
			e.mu.Unlock()
		}
		for name, values := range answer.Header() {
			rw.Header()[name] = values
		}
		rw.WriteHeader(answer.Code)
		_, _ = rw.Write(answer.Body.Bytes())
	})
}

// doubled lists the keys of creations that were done more than once.
func (e *effects) doubled() (keys []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, n := range e.byKey {
		if n > 1 {
			keys = append(keys, key)
		}
	}
	return keys
}

func noSeed(context.Context, *world) error { return nil }

func TestPlain(t *testing.T) {
	t.Parallel()
	matrix(t, 25, noSeed, plainly(1))
}

// TestPlainRetried repeats each call in the same process, as retry.call does.
func TestPlainRetried(t *testing.T) {
	t.Parallel()
	matrix(t, 25, noSeed, plainly(3))
}

// TestPlainLate has each request arrive once more after the run has ended, when nothing of the run can find it: what
// is there twice is told, also where the run has deleted its own.
func TestPlainLate(t *testing.T) {
	t.Parallel()
	s := &suite{t: t, seed: noSeed, run: plainly(3), record: newRecord(t)}
	s.want = s.play("no fault", nil)
	for _, k := range kinds {
		if k.name != "504 after the end" {
			continue
		}
		for n := range s.want.requests {
			s.try(strikeAt{k, n})
		}
	}
}

// asks reports whether a run cannot go on because nobody can know whether one of
// its writes was done, as documented of the operation.
func asks(err error) bool {
	unknown, ok := errors.AsType[*clientfault.UnknownOutcomeError](err)
	return ok && unknown.Operation == "collections.create"
}
