// Package recovery makes a run survive the death of its process: it answers writes from the run's ledger, and
// finds out the outcomes of writes whose answers were lost.
//
// A write is identified by its content: platform, user, operation and request, and by how many equal ones
// came before. So a script may be edited between two starts of its run. Reads are never noted.
//
// attempt.go is in the chain of calls; rules.go decides about a write whose outcome is unknown, by the
// UnknownOutcome of its declaration: search.go searches the platform for what it made, probe.go reads the
// target of a set. duplicates.go searches again at the end of a run.
package recovery

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/ledger"
)

// Options describe a run and its connection.
type Options struct {
	// Ledger opens the ledger of the run, at the first write.
	Ledger func() (*ledger.Ledger, error)
	Key    func() ([]byte, error) // of the ledger's folder, for fingerprints
	Scope  string                 // platform and user: distinguishes the same write elsewhere

	Manager  func(name string) *declare.Manager
	User     func(ctx context.Context) (id string, err error) // the writing user; "" when unknown
	Platform func() time.Time                                 // the platform's clock; nil: from its answers
	Sleep    func(ctx context.Context, d time.Duration) error
	MD5      func(ctx context.Context, call *declare.Call, path string) (string, error) // of a file that a call uploads
	// Settle is how long after it was sent a request may still arrive.
	Settle time.Duration
	// TakenOver is when the run was taken over from a start whose end was not seen: its requests may still
	// arrive from then on. Zero when it has ended.
	TakenOver time.Time
	Sync      bool // creations wait until their intent survives a power loss
	// Would is called in a dry run with what it would take from the ledger, or search for first; then the
	// ledger is opened to read. Writes are noted when it is nil.
	Would func(text string)
	// Taken is called for each call with a result from the ledger. Optional.
	Taken func(operation string)
	Log   *slog.Logger
	Stats *WriteStats // shared by the connections of a run
}

// Link returns the link of a run in the chain of each of its connections.
func Link(o Options) client.Link {
	return client.AtWith(client.PlaceRecord, func(c *client.Client) declare.Interceptor { return New(o.on(c)).Intercept })
}

// on completes options for a connection.
func (o Options) on(c *client.Client) Options {
	o.Scope = c.Account()
	if o.Platform == nil {
		o.Platform = c.PlatformTime
		if c.Local() {
			o.Settle, o.Sync = 0, false // nothing is under way after its process has died
		}
	}
	o.Manager, o.Sleep, o.MD5 = c.Manager, c.Pause, c.FileMD5
	o.User = func(ctx context.Context) (string, error) {
		user, err := c.Users.Describe(ctx, client.UserRef{})
		return user.ID, err
	}
	return o
}

// Recovery is the interceptor of one connection.
type Recovery struct {
	Options
	searches sync.Map // locks by fingerprint
	me       struct {
		sync.Mutex
		id string
	}
	fetched sync.Map               // fingerprints of the downloads of this start
	deleted func() map[string]bool // identifiers of everything the run has deleted
}

// New returns the interceptor of a connection.
func New(o Options) *Recovery {
	if o.Settle > 0 {
		o.Settle += time.Second // answers give the platform's clock in whole seconds
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Stats = cmp.Or(o.Stats, &WriteStats{})
	r := &Recovery{Options: o}
	r.deleted = sync.OnceValue(r.findDeleted)
	return r
}

type outsideKey struct{}

// Outside returns a context whose calls are not noted: their caller finds out itself what was done, as
// ingests do.
func Outside(ctx context.Context) context.Context {
	return context.WithValue(ctx, outsideKey{}, true)
}

type (
	labelKey struct{}
	againKey struct{}
)

// Labelled returns a context whose writes are distinguished from equal ones elsewhere by a label.
func Labelled(ctx context.Context, label string) context.Context {
	outer, _ := ctx.Value(labelKey{}).(string)
	return context.WithValue(ctx, labelKey{}, outer+"/"+label)
}

// Again returns a context whose writes are sent regardless of the ledger.
func Again(ctx context.Context) context.Context { return context.WithValue(ctx, againKey{}, true) }

type parentKey struct{}

// parent is the composed operation whose steps are running.
type parent struct {
	ledger *ledger.Ledger
	row    *ledger.Row
	print  ledger.Fingerprint

	mu    sync.Mutex
	steps map[string]int // by operation
}

// step numbers the steps of a parent by operation.
func (p *parent) step(op string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps[op]++
	return p.steps[op]
}
