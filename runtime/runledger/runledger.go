// Package runledger keeps the ledger of a run: writes are recorded, and a later start takes their results
// from it. Its part adds the interceptor of client/recovery to each connection.
package runledger

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
	"strings"
	"sync"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
	"transect/runtime"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// settleAfter is how long a request of a dead process may still arrive at a platform, unless the user says
// otherwise.
const settleAfter = Settle(30 * time.Second)

// madeUpRunID matches generated IDs: a time and a random number, which make them unique.
var madeUpRunID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{8}-\d{6}\.\d{3}-[0-9a-f]{6}$`)
})

// noteOfIngests is the note in the ledger that holds the IDs of ingests, for a run whose ID was chosen.
const noteOfIngests = "ingests"

// MadeUp reports whether an ID was generated.
func MadeUp(id string) bool { return madeUpRunID().MatchString(id) }

// Ingests lists the ingests of a run whose ID was chosen.
func Ingests(l *ledger.Ledger) []string { return strings.Fields(string(l.Kept(noteOfIngests))) }

// Folder returns the folder of this user's run ledgers.
func Folder(p *runtime.Process) string { return filepath.Join(p.StateDir(), "runs") }

// Settle is how long after it was sent a lost request may still arrive; the part of a job that sets it.
type Settle time.Duration

// Elsewhere is the part of a job whose ledger is not a file of this machine.
type Elsewhere struct {
	Remote    ledger.Remote
	TakenOver bool   // from a start whose end was not seen
	Files     string // folder of the run's files, "" for a local ledger's folder
}

// Part keeps the ledger of a run, which is opened at the first write.
type Part struct {
	process   *runtime.Process
	job       *runtime.Job
	x         *runtime.Execution
	open      func() (*ledger.Ledger, error)
	key       func() ([]byte, error)
	stats     recovery.WriteStats
	log       *slog.Logger
	settle    time.Duration
	taken     func(operation string) // called for writes answered by the ledger; nil for none
	began     time.Time
	folder    string // of files that stay as long as the run
	dry       bool   // a dry run: the ledger is only read
	takenOver bool   // from a start whose end was not recorded
	plan      bool   // carries out a plan, whose result lists what was not done

	mu     sync.Mutex
	opened *ledger.Ledger
	counts recovery.Counts // at the end
	noted  bool            // whether it holds writes, at the end
}

// Of returns the ledger of a run, nil when it keeps none.
func Of(x *runtime.Execution) *Part { return runtime.PartOf[*Part](x.Parts()) }

// New returns the ledger of a run that has an ID. A dry run only reads an existing one.
func New(p *runtime.Process, job *runtime.Job) runtime.Part {
	if job.Run.ID == "" || job.DryRun && !(job.Run.Known && exists(p, job.Run.ID)) {
		return nil
	}
	folder := Folder(p)
	r := &Part{process: p, job: job, began: p.Now(), dry: job.DryRun, folder: ledger.Folder(folder, job.Run.ID),
		settle: time.Duration(cmp.Or(runtime.PartOf[Settle](job.Parts), settleAfter))}
	r.key = sync.OnceValues(func() ([]byte, error) { return r.ownKey(folder) })
	begin := func(s ledger.Start) (*ledger.Ledger, error) { return ledger.OpenRun(folder, job.Run.ID, s) }
	if job.DryRun {
		begin = func(ledger.Start) (*ledger.Ledger, error) { return ledger.OpenToRead(folder, job.Run.ID) }
	}
	if other := runtime.PartOf[*Elsewhere](job.Parts); other != nil {
		r.takenOver, r.folder = other.TakenOver, cmp.Or(other.Files, r.folder)
		r.key = sync.OnceValues(r.sharedKey)
		begin = func(s ledger.Start) (*ledger.Ledger, error) { return ledger.OpenRemote(job.Run.ID, other.Remote, s) }
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
		return l, spent(r.x.Policy(), l)
	})
	return r
}

// Open opens the ledger. It fails for a run that keeps none.
func (r *Part) Open() (*ledger.Ledger, error) {
	if r == nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the run keeps no ledger"), "name the run: --run ID")
	}
	return r.open()
}

// Prepare enables scripts to keep values in the ledger.
func (r *Part) Prepare(o *vm.Options) { o.InRun = r.forScripts(r.job.Run.ID, r.job.Run.Known) }

// Made completes the part once the interpreter is made.
func (r *Part) Made(x *runtime.Execution) {
	r.x, r.log, r.plan = x, x.Interp.Options().Logger, x.Interp.Options().Agreed
	if part := runtime.PartOf[interface{ TakenFromLedger(operation string) }](x.Parts()); part != nil {
		r.taken = part.TakenFromLedger
	}
}

// Begin opens the ledger of a run that may have been begun before: another process may work on it.
func (r *Part) Begin(context.Context) (done bool, err error) {
	if r.job.Run.Known {
		_, err = r.open()
	}
	return false, err
}

// Link adds the ledger to the chain of a connection.
func (r *Part) Link(_ string, o *client.Options) {
	o.Links = append(o.Links, recovery.Link(r.options()))
}

// Writes counts the writes of the start; nil when the run has recorded none.
func (r *Part) Writes() *recovery.Counts {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.noted {
		return nil
	}
	counts := r.counts
	return &counts
}

// codeHash identifies the text of the script.
func codeHash(p *runtime.Process, job *runtime.Job) string {
	code := []byte(job.Code)
	if job.Script != "" && job.Script != "-" {
		var err error
		if code, err = p.ScriptCode(job.Script); err != nil {
			return "" // the run reports it
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

// announce reports what is special about a later start.
func (r *Part) announce(l *ledger.Ledger) {
	starts := l.Starts()
	n := len(starts)
	if r.dry {
		r.log.Info(fmt.Sprintf("dry run of start %d of the run %s: its ledger is read, nothing is recorded", n+1, l.Run()))
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
			"starts a new one", l.Run(), at.Local().Format(time.DateTime)))
	}
	if before := starts[n-2].CodeHash; !r.plan && before != "" && before != starts[n-1].CodeHash {
		r.log.Info("the script was changed since the last start: what is new in it is sent")
	}
}

func (r *Part) options() recovery.Options {
	o := recovery.Options{Ledger: r.open, Key: r.key, Settle: r.settle, Sync: true, Stats: &r.stats, Taken: r.taken,
		Log: r.log}
	if r.dry {
		o.Would = r.would
	}
	if r.takenOver {
		o.TakenOver = r.began
	}
	return o
}

// would prints what a dry run would take from the ledger.
func (r *Part) would(text string) {
	if r.job.Output.JSON {
		r.log.Info("dry run: "+text, "call", "")
		return
	}
	fmt.Fprintf(r.x.Interp.Options().Stderr, "dry run: %s\n", text)
}

// exists reports whether a run has recorded writes on this machine.
func exists(p *runtime.Process, run string) bool {
	_, err := os.Stat(filepath.Join(Folder(p), run+ledger.Suffix))
	return err == nil
}

// ownKey returns the key of the ledgers on this machine. It refuses a ledger written with another one, whose
// writes it would not recognise.
func (r *Part) ownKey(folder string) ([]byte, error) {
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
			"without its key its writes are not recognised: copy ledger.key along with the ledger, or start another run")
	}
	return key, err
}

// sharedKey returns the key of a run that may continue on another machine; its ledger holds it.
func (r *Part) sharedKey() ([]byte, error) {
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

// forScripts implements the module run.
func (r *Part) forScripts(id string, known bool) *vm.Run {
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
			if r.dry || MadeUp(id) {
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
