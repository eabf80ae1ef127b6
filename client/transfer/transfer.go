// Package transfer uploads and downloads files: checksums, parts, retries,
// connections, bandwidth, and resuming after a kill.
//
// Package client calls Transfers.Upload and Download; the requests go out over
// package transport (requests.go); package journal remembers begun uploads. An
// upload is hashed as it is read (hashing.go), acquires a connection of the
// budget (budget.go, tune.go) and is sent in one piece (upload.go) or in parts
// (multipart.go), each with retries (send.go). A download is received in ranges
// (receive.go) into a temporary file (target.go) that can be resumed
// (resume.go), and gets its name when it is complete and verified. Memory is
// bounded (hashing.go). Begin reading with Upload in upload.go.
package transfer

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/journal"
	"transect/client/transport"
	"transect/client/wait"
)

// UploadMode is the route of uploaded bytes.
type UploadMode int

// The upload modes of the protocol. Uploads through the platform are not
// recommended.
const (
	ToStorage       UploadMode = iota // PUT to signed URLs of the storage
	ThroughPlatform                   // POST to the platform itself
)

// Options configure Transfers. All are optional.
type Options struct {
	Budget  *Budget // connections, shared with other transfers; a tuned one when nil
	Journal *journal.Journal
	Mode    UploadMode
	Logger  *slog.Logger

	Stats     *Stats     // shared with other transfers; new when nil
	Bandwidth *Bandwidth // unlimited when nil

	// Sleep waits before retries; in real time when nil.
	Sleep func(ctx context.Context, d time.Duration) error
	// Tree holds the files to be uploaded; the disk when zero.
	Tree files.Tree
	// Plan is called before an upload of n bytes begins, and may refuse it. sending is called with
	// the bytes as they are sent, and finally with the rest.
	Plan func(n int64) (sending func(n int64), err error)
	// Room returns how many more bytes may be sent, if that is limited. Optional.
	Room func() (n int64, limited bool)
	// Folder opens the folder of a download, creating it when missing. name is the file to be
	// written there, "" while it is unknown.
	Folder func(folder, name string) (*os.Root, error)
}

// Upload is one local file to be uploaded into a component of a dataset.
type Upload struct {
	Dataset, Component string
	Path               string
	MD5                string // hexadecimal; computed when empty
	Multipart          bool   // send in parts when longer than a chunk
	ChunkSize          int64  // bytes; 10 MiB when 0
	New                bool   // the component was just created, so the journal has no entry for it
	// Turn is the file's place in the queue for connections; 0 is after all files begun before.
	Turn int64
	// Begin is called when the file's turn has come, before any of it is sent. Its error ends the
	// upload. Optional.
	Begin    func(context.Context) error
	Reserved func(sent int64)  // returned by Plan for this file; Plan is called when nil
	Progress func(delta int64) // bytes sent since the last call; negative when a part starts over
	Found    func(delta int64) // the share of them that an earlier run has sent
}

// Uploaded is the result of an upload.
type Uploaded struct {
	MD5     string
	Bytes   int64
	Parts   int
	Resumed int // parts sent by an earlier run
}

// Download is one file to be downloaded.
type Download struct {
	Path       string // platform path, "/data-manager/download-component"
	Query      url.Values
	Body       []byte // JSON, posted: the platform generates the file for each request
	TargetPath string // folder, created when missing; the current one when empty
	TargetName string // file name; the server's suggestion when empty
	Overwrite  bool   // replace a file of that name
	MD5        string // hexadecimal; taken from Checksum or the answer when empty
	// Checksum returns the MD5, concurrently with the download; "" when there is none.
	Checksum func(context.Context) string
	Progress func(delta int64)
}

// Transfers uploads and downloads files. It is safe for concurrent use.
type Transfers struct {
	Options   // completed by New
	transport *transport.Transport
	memory    *memory
	hashing   *hashing
	summed    sync.Map  // sums of files that Sum has read, by summedKey
	pruned    sync.Map  // folders
	generated sync.Once // logs once that generated files cannot be verified

	minParallel, rangeSize int64 // smaller in tests
}

// New creates transfers over a transport.
func New(over *transport.Transport, o Options) *Transfers {
	o.Logger, o.Stats = cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), cmp.Or(o.Stats, NewStats())
	if o.Budget == nil {
		o.Budget = NewTunedBudget(MostConnections)
	}
	if o.Plan == nil {
		o.Plan = func(int64) (func(int64), error) { return func(int64) {}, nil }
	}
	if o.Folder == nil {
		o.Folder = makeFolder
	}
	if o.Sleep == nil {
		o.Sleep = wait.Sleep
	}
	return &Transfers{Options: o, transport: over, memory: newMemory(), hashing: newHashing(o.Stats),
		minParallel: minParallel, rangeSize: rangeSize}
}

// contextError returns the context's error if it has ended, otherwise err.
func contextError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && fault.Find(err) == nil {
		return fault.Stopped(ctx)
	}
	return err
}
