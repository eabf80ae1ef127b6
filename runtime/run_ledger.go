package runtime

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// RunID names a run, which may have several starts.
type RunID struct {
	ID    string
	Known bool // it was given by the user or has earlier starts: its ledger is opened at the start
}

// settleAfter is how long after it was sent a request of a dead process may still
// arrive at a platform, unless the user says otherwise.
const settleAfter = 30 * time.Second

// runIDForm is that of at most maxRunID characters; a count in the pattern would
// slow every start.
var runIDForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })

const maxRunID = 100

// madeUpRunID is the form of an ID that nobody chose: of a time and a random number, it
// is there once.
var madeUpRunID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{8}-\d{6}\.\d{3}-[0-9a-f]{6}$`)
})

// noteOfIngests is what the ledger of a run with another ID keeps the IDs of its ingests under.
const noteOfIngests = "ingests"

// CheckRunID refuses what cannot be the name of a run.
func CheckRunID(id string) error {
	if len(id) <= maxRunID && runIDForm().MatchString(id) {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "%q cannot be the ID of a run", id),
		"use letters, digits, dots, dashes and underscores, at most 100")
}

// LedgerFolder is where the ledgers of this user's runs are.
func (p *Process) LedgerFolder() string { return filepath.Join(p.StateDir(), "runs") }

// runLedger is the ledger of a run, opened at its first write.
type runLedger struct {
	open      func() (*ledger.Ledger, error)
	key       func() ([]byte, error)
	stats     recovery.WriteStats
	log       *slog.Logger
	settle    time.Duration
	taken     func(operation string) // sees writes whose result the ledger gives; nil for none
	began     time.Time
	folder    string // of files that stay as long as the run
	dry       bool   // a dry run: the ledger is only read
	takenOver bool   // over from a start whose end nobody saw
	plan      bool   // is carried out; its result lists what was not done

	mu     sync.Mutex
	opened *ledger.Ledger
	counts recovery.Counts // at the end
	noted  bool            // it holds writes, at the end
}

func newRunLedger(p *Process, job *Job, plan bool) *runLedger {
	r := &runLedger{settle: cmp.Or(job.Settle, settleAfter), began: p.Now(), plan: plan,
		folder: ledger.Folder(p.LedgerFolder(), job.Run.ID)}
	r.key = sync.OnceValues(func() ([]byte, error) { return r.ownKey(p.LedgerFolder()) })
	begin := func(s ledger.Start) (*ledger.Ledger, error) { return ledger.OpenRun(p.LedgerFolder(), job.Run.ID, s) }
	if job.DryRun {
		r.dry = true
		begin = func(ledger.Start) (*ledger.Ledger, error) { return ledger.OpenToRead(p.LedgerFolder(), job.Run.ID) }
	}
	if job.Link != nil {
		r.takenOver, r.folder = job.Link.TakenOver, cmp.Or(job.Link.Files, r.folder)
		r.key = sync.OnceValues(r.sharedKey)
		begin = func(s ledger.Start) (*ledger.Ledger, error) {
			return ledger.OpenRemote(job.Run.ID, job.Link.Ledger(context.Background()), s)
		}
	}
	for part := range partsOf[interface{ TakenFromLedger(operation string) }](job) {
		r.taken = part.TakenFromLedger
	}
	r.open = sync.OnceValues(func() (*ledger.Ledger, error) {
		host, _ := os.Hostname() // not all systems have a name
		l, err := begin(ledger.Start{At: r.began, Host: host, PID: os.Getpid(), Version: job.Version,
			Script: job.Script, CodeHash: codeHash(p, job)})
		if err != nil {
			return nil, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.opened = l
		r.announce(l)
		return l, spent(job.policy, l)
	})
	return r
}

// codeHash identifies the text of the script.
func codeHash(p *Process, job *Job) string {
	code := []byte(job.Code)
	if job.Script != "" && job.Script != "-" {
		var err error
		if code, err = p.ScriptCode(job.Script); err != nil {
			return "" // the run says so
		}
	}
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:8])
}

// spent charges the budget with what earlier starts of the run made and deleted,
// or may have: it limits the run, not the start.
func spent(policy *sandbox.Policy, l *ledger.Ledger) error {
	if policy == nil || len(l.Starts()) < 2 || !policy.Limits("creates") && !policy.Limits("deletes") {
		return nil
	}
	budgets := map[string]string{}
	for _, m := range client.Declarations() {
		for _, s := range m.Ops() {
			if name := map[declare.Effect]string{declare.Create: "creates", declare.Delete: "deletes"}[s.Effect]; name != "" &&
				!s.Composed {
				budgets[s.FullName()] = name
			}
		}
	}
	return l.All(func(i ledger.Intent, r *ledger.Result) error {
		if name := budgets[i.Op]; name != "" && (r == nil || r.State != ledger.Refused) {
			n := 1
			if r != nil {
				n = max(1, len(r.IDs))
			}
			policy.Spent(name, int64(n))
		}
		return nil
	})
}

// announce says what is different in a further start.
func (r *runLedger) announce(l *ledger.Ledger) {
	starts := l.Starts()
	n := len(starts)
	if r.dry {
		r.log.Info(fmt.Sprintf("dry run of start %d of the run %s: its ledger is read, and nothing is noted", n+1, l.Run()))
		return
	}
	if n < 2 {
		return
	}
	switch at, ended := l.Ended(); {
	case !ended:
		r.log.Info(fmt.Sprintf("start %d of the run %s: writes of earlier starts are taken from its ledger", n, l.Run()))
	case !r.plan:
		r.log.Info(fmt.Sprintf("the run %s ended well before (started %s): its writes are taken from its ledger; --again "+
			"begins a new one", l.Run(), at.Local().Format(time.DateTime)))
	}
	if before := starts[n-2].CodeHash; !r.plan && before != "" && before != starts[n-1].CodeHash {
		r.log.Info("the script was changed since the last start: what is new in it is sent")
	}
}

func (r *runLedger) options() *recovery.Options {
	o := &recovery.Options{Ledger: r.open, Key: r.key, Settle: r.settle, Sync: true, Stats: &r.stats}
	o.Taken = r.taken
	if r.takenOver {
		o.TakenOver = r.began
	}
	return o
}

// hasLedger reports whether a run has noted writes on this machine.
func (p *Process) hasLedger(run string) bool {
	_, err := os.Stat(filepath.Join(p.LedgerFolder(), run+ledger.Suffix))
	return err == nil
}

// ownKey is the key of the ledgers on this machine. A ledger that was written with
// another one would know none of its writes.
func (r *runLedger) ownKey(folder string) ([]byte, error) {
	key, err := ledger.Key(folder)
	if err != nil {
		return nil, err
	}
	l, err := r.open()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(key)
	noted, err := l.Keep("key check", func() ([]byte, error) { return sum[:8], nil })
	if err == nil && !bytes.Equal(noted, sum[:8]) {
		err = fault.Hinted(fault.Of(&fault.FileError{}, "the ledger of the run %s was written with another key than %s",
			l.Run(), filepath.Join(folder, "ledger.key")),
			"without its key no write in it is known again: copy ledger.key along with the ledger, or start another run")
	}
	return key, err
}

// sharedKey is the key of a run that may go on on another machine: its ledger
// holds it.
func (r *runLedger) sharedKey() ([]byte, error) {
	l, err := r.open()
	if err != nil {
		return nil, err
	}
	return l.Keep("key", func() ([]byte, error) {
		key := make([]byte, ledger.KeySize)
		rand.Read(key)
		return key, nil
	})
}

// forScripts is what scripts know of the run.
func (r *runLedger) forScripts(p *Process, id string, known bool) *vm.Run {
	return &vm.Run{
		ID: id,
		Started: func() (time.Time, error) {
			l, err := r.open()
			if err != nil {
				return time.Time{}, err
			}
			return l.Starts()[0].At, nil
		},
		Folder: func() (string, error) {
			if _, err := r.open(); err != nil {
				return "", err
			}
			if r.dry {
				return os.MkdirTemp("", "transect-run-")
			}
			if err := os.MkdirAll(r.folder, 0o700); err != nil {
				return "", fault.Of(&fault.FileError{}, "cannot make the folder of the run: %w", fault.Reason(err))
			}
			return filepath.Abs(r.folder)
		},
		Kept: func(name string) ([]byte, bool, error) {
			l, err := r.open()
			if err != nil {
				return nil, false, err
			}
			value := l.Kept(name)
			return value, value != nil, nil
		},
		Keep: func(name string, value []byte) error {
			l, err := r.open()
			if err == nil {
				_, err = l.Keep(name, func() ([]byte, error) { return value, nil })
			}
			return err
		},
		Ingested: func(ingest string) error {
			if r.dry || madeUpRunID().MatchString(id) {
				return nil
			}
			l, err := r.open()
			if err != nil {
				return err
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			return l.Put(noteOfIngests, []byte(string(l.Kept(noteOfIngests))+ingest+"\n"))
		},
		Label: recovery.Labelled,
		Again: recovery.Again,
		Seed: func() uint64 {
			h, first := fnv.New64a(), r.began
			if known { // it may have been begun before
				if l, err := r.open(); err == nil {
					first = l.Starts()[0].At
				}
			}
			fmt.Fprintf(h, "%s %d", id, first.UnixNano())
			return h.Sum64()
		},
	}
}
