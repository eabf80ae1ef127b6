package bindings_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/bindings"
	"transect/bindings/ingest"
	"transect/bindings/lookup"
	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
	"transect/client/sqlitefile"
	"transect/platform"
	"transect/runtime/examples"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// death says when a run dies, at a request of the operation that is tested.
type death int

const (
	never      death = iota
	beforeSent       // the intent is noted, the request was not sent
	heldBack         // the request arrives after the next start has looked for it
	answerLost       // the platform did it, the answer never came
	afterNoted       // the answer was noted
	tooLate          // the request arrives at the end of the next start, which has sent it again
)

func (d death) String() string {
	return [...]string{"never", "before it is sent", "held back", "answer lost", "after it is noted", "too late"}[d]
}

var deaths = []death{beforeSent, heldBack, answerLost, afterNoted}

// cannotTell lists the operations, and the deaths, after which nobody can know
// whether a write was done: they raise UnknownOutcomeError.
var cannotTell = map[string][]death{
	"collections.create":             {beforeSent, heldBack, answerLost}, // there is no search
	"collections.create_collections": {beforeSent, heldBack, answerLost},
	"oauth_clients.create":           {heldBack, answerLost}, // its secret is in the lost answer alone
}

// TestLostWrites lets a run die at each request of each write, and starts it again:
// the platform is then as after a run that was not disturbed, or the script raises
// the documented error.
func TestLostWrites(t *testing.T) {
	files := argumentFiles(t)
	tally := new(lostTally)
	t.Cleanup(func() { t.Log(tally.String()) })
	for _, m := range client.Declarations() {
		for i, s := range m.Ops() {
			if s.Effect == declare.Read || testing.Short() && i%7 != 0 {
				continue
			}
			t.Run(s.FullName(), func(t *testing.T) {
				t.Parallel()
				testLost(t, s, files, tally)
			})
		}
	}
}

type lostTally struct{ operations, equal, documented, wrong atomic.Int64 }

func (l *lostTally) String() string {
	return fmt.Sprintf("%d writes: %d deaths left the platform as without, %d raised the documented error, %d did neither",
		l.operations.Load(), l.equal.Load(), l.documented.Load(), l.wrong.Load())
}

func testLost(t *testing.T, s *declare.Spec, files []string, tally *lostTally) {
	code := inFolder(examples.Of(bindings.Examples)[s.FullName()].Text(), t.TempDir())
	whole := newLostRun(t, s.FullName(), code, files)
	if err := whole.start(never, 0); err != nil {
		t.Fatal(err)
	}
	tally.operations.Add(1)
	if composed := s.Unknown.Rule == declare.BySteps || s.Unknown.Rule == declare.NoRequest; whole.requests == 0 && !composed && !s.Composed {
		t.Error("it sends no request that could be lost")
	}
	want := whole.state()
	whole.close()
	for _, d := range deaths {
		for n := 1; n <= whole.requests; n++ {
			if d == afterNoted && n < whole.requests {
				continue
			}
			r := newLostRun(t, s.FullName(), code, files)
			err := r.start(d, n)
			if !r.dead.Load() {
				t.Errorf("%v, request %d: the run did not die: %v", d, n, err)
			}
			err = r.start(never, 0)
			unknown := errors.As(err, new(*fault.UnknownOutcomeError))
			switch expected := slices.Contains(cannotTell[s.FullName()], d); {
			case expected && unknown:
				tally.documented.Add(1)
			case err != nil || expected:
				tally.wrong.Add(1)
				t.Errorf("died %v, request %d of %d: %v", d, n, whole.requests, err)
			default:
				if got := r.state(); got != want {
					tally.wrong.Add(1)
					t.Errorf("died %v, request %d of %d: %s", d, n, whole.requests, difference(want, got))
				} else {
					tally.equal.Add(1)
				}
			}
			r.close()
		}
	}
}

var exampleFiles = regexp.MustCompile(`"([\w ]+\.(txt|tif))"`)

// inFolder lets an example work with files of a folder.
func inFolder(code, dir string) string {
	return exampleFiles.ReplaceAllString(code, `"`+dir+`/$1"`)
}

// lostRun is a script that is started again and again on one platform.
type lostRun struct {
	t            *testing.T
	op, code     string
	files        []string
	ledgers      string
	platform     *platform.Platform
	ahead        atomic.Int64 // of the clock
	requests     int          // that the operation sent
	dead         atomic.Bool
	mu           sync.Mutex
	late         func() // delivers the request that is held back
	slow         bool   // at the end alone
	tally        *recovery.WriteStats
	doubles      []recovery.Duplicate
	stop         context.CancelFunc
	ledger       *ledger.Ledger
	die          death
	at           int
	transparency http.RoundTripper
}

func newLostRun(t *testing.T, op, code string, files []string) *lostRun {
	r := &lostRun{t: t, op: op, code: code, files: files, ledgers: t.TempDir()}
	var err error
	if r.platform, err = platform.Open(context.Background(), platform.Options{Memory: true, Now: r.now, IgnoreKeys: true}); err != nil {
		t.Fatal(err)
	}
	r.transparency = r.platform.RoundTripper()
	return r
}

func (r *lostRun) now() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) }

func (r *lostRun) close() {
	if err := r.platform.Close(); err != nil {
		r.t.Error(err)
	}
}

// kill ends a start as the death of its process does: nothing more is noted.
func (r *lostRun) kill() {
	r.dead.Store(true)
	r.stop()
	_ = r.ledger.Close()
}

type targetKey struct{}

// start runs the script until its end, or its death at a request of the operation.
func (r *lostRun) start(die death, at int) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r.die, r.at, r.requests, r.stop, r.tally = die, at, 0, stop, &recovery.WriteStats{}
	var err error
	if r.ledger, err = ledger.OpenRun(r.ledgers, "r", ledger.Start{}); err != nil {
		return err
	}
	defer func() { _ = r.ledger.Close() }()
	var out bytes.Buffer
	in := luastd.New(ctx, vm.Options{Stdout: &out, Stderr: &out, Dir: ".", Args: r.files, Progress: vm.ProgressQuiet, Env: environment(r.ledgers)})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)
	bindings.Open(in, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		c := r.platform.Credentials()
		return client.New(ctx, client.Settings{URL: platform.Address, User: c.User, Password: c.Password, ClientID: c.ClientID, ClientSecret: c.ClientSecret},
			client.Options{RoundTripper: r, Sleep: r.sleep, Links: []client.Link{client.At(client.PlaceObserve, r.watch), recovery.Link(recovery.Options{
				Ledger: func() (*ledger.Ledger, error) { return r.ledger, nil }, Key: func() ([]byte, error) { return []byte("key"), nil },
				Platform: r.now, Settle: 30 * time.Second, Stats: r.tally})}})
	}, ingest.Module, lookup.Module)
	if _, err = in.RunString("example", r.code); err != nil {
		err = vm.Failure(err).Err
	}
	if die == never {
		r.deliver()
		var failed error
		if r.doubles, failed = r.tally.Duplicates(ctx); err == nil {
			err = failed
		}
	}
	return err
}

// sleep waits in no time; what was held back arrives meanwhile.
func (r *lostRun) sleep(ctx context.Context, d time.Duration) error {
	if d >= time.Second {
		r.ahead.Add(int64(d))
		if !r.slow {
			r.deliver()
		}
		return ctx.Err()
	}
	time.Sleep(d)
	return ctx.Err()
}

func (r *lostRun) deliver() {
	r.mu.Lock()
	late := r.late
	r.late = nil
	r.mu.Unlock()
	if late != nil {
		late()
	}
}

// watch marks the requests of the operation.
func (r *lostRun) watch(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	if call.Spec.FullName() != r.op || ctx.Value(targetKey{}) != nil {
		return next(ctx, call)
	}
	v, err := next(context.WithValue(ctx, targetKey{}, true), call)
	if !r.slow {
		r.deliver()
	}
	if r.die == afterNoted && r.requests >= r.at && !r.dead.Load() {
		r.kill()
	}
	return v, errors.Join(err, ctx.Err())
}

var reads = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			for _, route := range s.Routes {
				all[cmp.Or(s.Method, http.MethodPost)+" "+route] = s.Effect == declare.Read
			}
		}
	}
	return all
})

// RoundTrip is the network, on which the operation's requests get lost.
func (r *lostRun) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Context().Value(targetKey{}) == nil || reads()[q.Method+" "+q.URL.Path] {
		return r.transparency.RoundTrip(q)
	}
	r.mu.Lock()
	r.requests++
	here := r.requests == r.at
	r.mu.Unlock()
	if !here || r.dead.Load() {
		return r.transparency.RoundTrip(q)
	}
	switch r.die {
	case beforeSent:
		r.kill()
		return nil, q.Context().Err()
	case heldBack, tooLate:
		r.slow = r.die == tooLate
		held := q.Clone(context.Background())
		if q.Body != nil {
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return nil, err
			}
			held.Body = io.NopCloser(bytes.NewReader(body))
		}
		r.late = func() {
			if response, err := r.transparency.RoundTrip(held); err == nil {
				_ = response.Body.Close()
			}
		}
		r.kill()
		return nil, q.Context().Err()
	case answerLost:
		response, err := r.transparency.RoundTrip(q.WithContext(context.WithoutCancel(q.Context())))
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		r.kill()
		return nil, q.Context().Err()
	}
	return r.transparency.RoundTrip(q)
}

var (
	idForm     = regexp.MustCompile(`\b[0-9a-f]{24}\b`)
	dateForm   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	randomForm = regexp.MustCompile(`"(token|clientSecret|client_secret|secret|hash)":"[^"]*"`)
	// A set may be sent twice, and a job may have started before it is cancelled.
	changeForm = regexp.MustCompile(`,"(modification_date|modification_user|start_date)":"[^"]*"`)
)

// state is all that the platform holds, once its jobs are done: identifiers are
// replaced by their order, and dates left out.
func (r *lostRun) state() string {
	// What is done with a file ends when its dataset is deleted, done or not.
	const deletedDatasets = "SELECT id FROM docs WHERE collection = 'datasets' AND deletion_date IS NOT NULL"
	db, err := sqlitefile.Open(r.t.Context(), filepath.Join(r.platform.Dir(), "platform.db"), "")
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	for jobs := 1; jobs > 0; {
		if err := db.QueryRow("SELECT count(*) FROM jobs WHERE id NOT IN (" + deletedDatasets + ")").Scan(&jobs); err != nil {
			r.t.Fatal(err)
		}
		if jobs > 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	rows, err := db.Query(`SELECT collection || ' ' || CASE WHEN id IN (` + deletedDatasets + `)
		THEN json_remove(body, '$.ingestion', '$.size', '$.preview') ELSE body END FROM docs WHERE collection <> 'companies' UNION ALL
		SELECT 'component ' || dataset || ' ' || component || ' ' || checksum || ' ' || filename FROM components ORDER BY 1`)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			r.t.Fatal(err)
		}
		list = append(list, line)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	text := strings.Join(list, "\n")
	known := map[string]string{}
	inOrder := idForm.FindAllString(text, -1)
	slices.Sort(inOrder)
	for _, id := range slices.Compact(inOrder) {
		known[id] = fmt.Sprintf("#%d", len(known)+1)
	}
	text = idForm.ReplaceAllStringFunc(text, func(id string) string { return known[id] })
	text = changeForm.ReplaceAllString(text, "")
	text = dateForm.ReplaceAllString(text, "DATE")
	list = strings.Split(randomForm.ReplaceAllString(text, `"$1":"…"`), "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// difference shows the lines that only one of two states has.
func difference(want, got string) string {
	var b strings.Builder
	a, z := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range a {
		if !slices.Contains(z, line) {
			fmt.Fprintf(&b, "\n- %s", line)
		}
	}
	for _, line := range z {
		if !slices.Contains(a, line) {
			fmt.Fprintf(&b, "\n+ %s", line)
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "%d records instead of %d", len(z), len(a))
	}
	return b.String()
}
