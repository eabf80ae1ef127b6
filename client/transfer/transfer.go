// Package transfer moves the bytes of files between this machine and the
// platform's storage: hashed as they are read, in parts where that pays, with
// bounded memory, and with every file either complete and verified or absent.
package transfer

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/wait"
)

// Caller makes the requests a transfer needs. The client's core implements it.
type Caller interface {
	// Call posts a JSON body to a route of a service ("data-manager",
	// "init-upload-component") and decodes the answer into out unless nil.
	// What transfers ask for may be asked twice.
	Call(ctx context.Context, service, route string, body, out any) error
	// Post sends size bytes to a platform path. It may be repeated.
	Post(ctx context.Context, path string, query url.Values, body func() (io.ReadCloser, error), size int64) error
	// Put sends size bytes to a signed address, once, and gives the answer's
	// status. The error is for exchanges without an answer.
	Put(ctx context.Context, address string, header http.Header, body func() (io.ReadCloser, error), size int64) (status int, err error)
	// Get opens a platform path for reading, asking for a range only when one
	// is given. Statuses from 400 are errors.
	Get(ctx context.Context, path string, query url.Values, part Span) (*http.Response, error)
}

// Options configure Transfers. All may be left out.
type Options struct {
	Budget   *Budget // connections shared with other transfers; one of its own that tunes itself when nil
	Journal  Journal // remembers across runs; nothing is remembered when nil
	Platform string  // the platform's address, for the journal
	Mode     UploadMode
	Logger   *slog.Logger

	Stats     *Stats     // counts what is done; of its own when nil
	Bandwidth *Bandwidth // limits bytes a second; nothing does when nil

	// Sleep waits before repeats; in real time when nil.
	Sleep func(ctx context.Context, d time.Duration) error
	Open  func(path string) (*os.File, error) // opens a file to be sent; os.Open when nil
	// Folder opens the folder of a download, made when missing. name is the
	// file to be made in it, "" while the server has not told it.
	Folder func(folder, name string) (*os.Root, error)
}

// Upload is one local file to be sent into a component of a dataset.
type Upload struct {
	Dataset, Component string
	Path               string
	MD5                string            // hexadecimal; computed when empty
	Multipart          bool              // send in parts when longer than a chunk
	ChunkSize          int64             // bytes; 10 MiB when 0
	New                bool              // the component was made just now: nothing is remembered of it
	Progress           func(delta int64) // bytes sent since the last call; negative when a part starts over
	Found              func(delta int64) // which of those bytes an earlier run had sent
}

// Uploaded says what was sent.
type Uploaded struct {
	MD5   string
	Bytes int64
	Parts int

	Resumed int // parts that were confirmed before
}

// Download is one file to be fetched.
type Download struct {
	Path       string // platform path, "/data-manager/download-component"
	Query      url.Values
	TargetPath string // folder, made when missing; the current one when empty
	TargetName string // file name; the one the server suggests when empty
	Overwrite  bool   // replace a file of that name
	MD5        string // hexadecimal; not compared when empty
	Progress   func(delta int64)
}

// Transfers uploads and downloads files. It is safe for concurrent use; all its
// transfers share one budget of connections.
type Transfers struct {
	caller   Caller
	budget   *Budget
	journal  Journal
	platform string
	mode     UploadMode
	log      *slog.Logger

	stats     *Stats
	bandwidth *Bandwidth
	memory    *memory
	hashing   *hashing
	pruned    sync.Map // folders

	minParallel, rangeSize int64 // smaller in tests

	pause      func(ctx context.Context, attempt int) error
	open       func(path string) (*os.File, error)
	openFolder func(folder, name string) (*os.Root, error)
}

// New makes Transfers on a caller.
func New(c Caller, o Options) *Transfers {
	t := &Transfers{
		caller: c, budget: o.Budget, journal: o.Journal, platform: o.Platform, mode: o.Mode, log: o.Logger,
		stats: o.Stats, bandwidth: o.Bandwidth, memory: newMemory(),
		minParallel: minParallel, rangeSize: rangeSize,
	}
	if o.Sleep == nil {
		o.Sleep = wait.Sleep
	}
	t.pause = func(ctx context.Context, attempt int) error { return pauseBefore(ctx, attempt, o.Sleep) }
	if t.open = o.Open; t.open == nil {
		t.open = os.Open
	}
	if t.openFolder = o.Folder; t.openFolder == nil {
		t.openFolder = makeFolder
	}
	if t.budget == nil {
		t.budget = NewTunedBudget(MostConnections)
	}
	if t.journal == nil {
		t.journal = noJournal{}
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	if t.stats == nil {
		t.stats = NewStats()
	}
	t.hashing = newHashing(t.stats)
	t.caller = metered{t.caller, t}
	return t
}

// Stats counts what these transfers do.
func (t *Transfers) Stats() *Stats { return t.stats }

// contextError reports an ended context as such, whatever error it caused.
func contextError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && fault.Find(err) == nil {
		return fault.Stopped(ctx)
	}
	return err
}

// pauseBefore waits before a repeat, longer each time, half of it random.
func pauseBefore(ctx context.Context, attempt int, sleep func(context.Context, time.Duration) error) error {
	if err := sleep(ctx, wait.Backoff(attempt, time.Second, 16*time.Second)); err != nil {
		return fault.Stopped(ctx)
	}
	return nil
}
