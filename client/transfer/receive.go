package transfer

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"transect/client/fault"
)

const (
	// A body that breaks off is continued this many times in a row without
	// getting further by what counts as progress.
	continuations = 6
	enoughFurther = 1 << 20

	manyRanges = 32 * MiB // files from this size on come in several ranges at a time
	pieceSize  = 16 * MiB // of a range
	atATime    = 4        // ranges of one file
)

// receiving is one file on its way here.
type receiving struct {
	*Transfers
	Download
	file      *target
	want      string // MD5, "" when unknown
	total     int64  // -1 when the server does not say
	tag       string // marks the state of the file on the server, "" when nothing does
	resumable bool
	restarted bool
	wrong     bool // the checksum is not the expected one
	encoded   bool // the bytes of the wire are not those of the file
	first     *worker

	mu       sync.Mutex
	cut      bool // it ended too early, again and again
	have     spans
	moved    sync.Cond // have has grown, or the end has come; of mu
	unsynced int64     // bytes that came since the last record
	due      chan struct{}
}

// worker receives ranges one after the other.
type worker struct {
	broken int   // times without progress
	moved  int64 // bytes since then
}

// startOver is met when what was received so far is of no use: the file was
// replaced, or the server does not give the range asked for.
type startOver struct {
	reason string
	answer *http.Response // begins the file anew; nil when it must be asked for
}

func (s *startOver) Error() string { return s.reason }

// all receives the whole file and verifies it.
func (r *receiving) all(ctx context.Context, answer *http.Response) error {
	r.moved.L = &r.mu
	for {
		if answer == nil {
			var err error
			if answer, err = r.caller.Get(ctx, r.Path, r.Query, Span{}); err != nil {
				return err
			}
		}
		resumed, err := r.begin(answer)
		if err == nil {
			err = r.attempt(ctx, answer)
		}
		_ = answer.Body.Close()
		answer = nil
		var over *startOver
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fault.Stopped(ctx)
		case r.file.failure != nil:
			return r.file.failure
		case errors.As(err, &over):
			answer = over.answer
		case resumed && r.wrong:
			// What an earlier download left behind may be to blame.
		default:
			return err
		}
		r.log.Debug("starting a download over", "path", r.Path, "reason", err)
		if err := r.reset(); err != nil {
			return err
		}
	}
}

// begin takes in what the first answer says of the file, and what an earlier
// download has left of it.
func (r *receiving) begin(answer *http.Response) (resumed bool, err error) {
	r.total, r.tag, r.encoded = answer.ContentLength, strongTag(answer.Header), false
	switch encoding := strings.ToLower(strings.TrimSpace(answer.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body, err := gzip.NewReader(answer.Body)
		if err != nil {
			return false, fault.Of(&fault.DownloadError{}, "%s is announced as gzip and is not: %w", r.file.path, err)
		}
		answer.Body = &decoded{Reader: body, Closer: answer.Body}
		r.total, r.encoded = -1, true
	default:
		return false, fault.Of(&fault.DownloadError{}, "%s is sent in the encoding %q, which was not asked for", r.file.path, encoding)
	}
	r.resumable = !r.encoded && r.total >= enoughFurther && (r.tag != "" || r.want != "") && !r.file.shared
	r.file.identity = identity{Source: sourceOf(r.platform, r.Download), Tag: r.tag, Total: r.total, MD5: r.want}
	if r.resumable && !r.restarted {
		r.have = r.file.left()
	}
	if len(r.have) == 0 {
		return false, r.file.empty()
	}
	r.log.Debug("going on with a download", "path", r.Path, "have", r.have.bytes(), "of", r.total)
	r.count(r.have.bytes())
	return true, nil
}

type decoded struct {
	io.Reader
	io.Closer
}

func (r *receiving) count(n int64) {
	if r.Progress != nil && n != 0 {
		r.Progress(n)
	}
}

// reset gives up what was received.
func (r *receiving) reset() error {
	lost := r.have.bytes()
	r.count(-lost)
	r.first.moved = -lost // coming as far again is no progress
	r.have, r.restarted = nil, true
	return r.file.empty()
}

// attempt receives what is missing, while its checksum is computed and what is
// there is noted.
func (r *receiving) attempt(ctx context.Context, answer *http.Response) error {
	r.due = make(chan struct{}, 1)
	ended := make(chan struct{})
	var aside sync.WaitGroup
	if r.resumable {
		aside.Go(func() { r.note(ended) })
	}
	verifying := r.verify()
	err := r.pieces(ctx, answer)
	close(ended)
	aside.Wait()
	if err != nil {
		verifying.stop()
		if r.resumable && r.file.failure == nil {
			r.file.record(r.have)
		}
		return err
	}
	return verifying.result(r)
}

// pieces shares the gaps out.
func (r *receiving) pieces(ctx context.Context, answer *http.Response) error {
	if r.total < 0 {
		return r.fetchSpan(ctx, r.first, 0, -1, answer)
	}
	parallel := r.resumable && !r.restarted && r.total >= r.manyRanges && strings.EqualFold(answer.Header.Get("Accept-Ranges"), "bytes")
	size := r.total + 1
	if parallel {
		size = r.pieceSize
	}
	missing := r.have.gaps(r.total, size)
	var mu sync.Mutex
	next := func() (from, to int64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(missing) == 0 {
			return 0, 0, false
		}
		p := missing[0]
		missing = missing[1:]
		return p[0], p[1], true
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	waiting, enough := context.WithCancel(work)
	defer enough()
	var helpers sync.WaitGroup
	var failed error
	var once sync.Once
	fail := func(err error) { once.Do(func() { failed = err; stop(err) }) }
	if parallel {
		for range min(atATime, len(missing)) - 1 {
			helpers.Go(func() {
				w := &worker{}
				// The connection is given back after each piece: others wait as well.
				for r.budget.Acquire(waiting) == nil {
					from, to, ok := next()
					if !ok {
						r.budget.Release()
						return
					}
					err := r.fetchSpan(work, w, from, to, nil)
					r.budget.Release()
					if err != nil {
						fail(err)
						return
					}
				}
			})
		}
	}
	for work.Err() == nil {
		from, to, ok := next()
		if !ok {
			break
		}
		body := answer
		if from > 0 || answer == nil {
			body = nil
		}
		if body == nil && answer != nil {
			_ = answer.Body.Close()
		}
		answer = nil
		if err := r.fetchSpan(work, r.first, from, to, body); err != nil {
			fail(err)
		}
	}
	enough()
	helpers.Wait()
	if ctx.Err() != nil {
		return fault.Stopped(ctx)
	}
	return failed
}

// fetchSpan receives bytes from to to, or to the end when that is -1. answer is
// one that begins at from, or nil.
func (r *receiving) fetchSpan(ctx context.Context, w *worker, from, to int64, answer *http.Response) error {
	at := from
	for {
		var err error
		if answer == nil {
			if answer, err = r.open(ctx, at, to); err != nil {
				return r.again(w, err)
			}
		}
		vague := endsAnywhere(answer)
		at, err = r.body(ctx, w, answer, at, to)
		_ = answer.Body.Close() // read to its end, or broken already
		answer = nil
		if err == nil && to < 0 && vague && !r.encoded {
			if answer, err = r.beyond(ctx, at); answer != nil {
				continue
			}
		}
		switch {
		case ctx.Err() != nil:
			return fault.Stopped(ctx)
		case err == nil:
			return nil
		case r.file.broken() != nil:
			return r.file.broken()
		}
		var over *startOver
		if errors.As(err, &over) {
			return r.again(w, err)
		}
		if w.moved >= enoughFurther {
			w.moved, w.broken = 0, 0
		}
		if w.broken++; w.broken > continuations {
			return r.incomplete(err)
		}
		r.log.Debug("continuing a download", "path", r.Path, "from", at, "reason", err)
		if err := r.backoff(ctx, w.broken); err != nil {
			return err
		}
		if r.encoded {
			return &startOver{reason: err.Error()}
		}
	}
}

// again bounds how often a file is started over for nothing. An answer that
// begins it anew counts when it breaks off.
func (r *receiving) again(w *worker, err error) error {
	var over *startOver
	if errors.As(err, &over) && over.answer == nil {
		if w.broken++; w.broken > continuations {
			return r.incomplete(err)
		}
	}
	return err
}

// got notes bytes that were written.
func (r *receiving) got(at, n int64) {
	r.mu.Lock()
	r.have = r.have.with(at, at+n)
	r.unsynced += n
	full := r.unsynced >= recordEvery
	r.moved.Broadcast()
	r.mu.Unlock()
	if full {
		select {
		case r.due <- struct{}{}:
		default:
		}
	}
	r.count(n)
}

// incomplete is the error of a download that ended too early, again and again.
func (r *receiving) incomplete(err error) error {
	r.mu.Lock()
	received := r.have.bytes()
	r.cut = true
	r.mu.Unlock()
	f := fault.Hinted(fault.Of(&fault.DownloadError{}, "%s broke off at byte %d", r.file.path, received), "nothing was kept; run again")
	if r.resumable && received >= enoughFurther {
		f.Hint = "what came is kept beside its place: run again, and it goes on from there"
	}
	if r.total >= 0 {
		f.Message += " of " + strconv.FormatInt(r.total, 10)
	}
	if f.Cause = err; errors.Is(err, io.ErrUnexpectedEOF) {
		f.Cause = errors.New("the connection ended early")
	}
	return f
}
