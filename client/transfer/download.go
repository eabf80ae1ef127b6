package transfer

import (
	"context"
	"errors"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"transect/client/fault"
)

const (
	// A body that breaks off is continued this many times in a row without
	// getting further by what counts as progress.
	continuations = 6
	enoughFurther = 1 << 20
)

// Download fetches a file into a folder and gives its path. The file appears
// under its name only when it is complete, verified and on disk.
//
// Errors: *fault.FileExistsError when a file of that name is there and
// Overwrite is not set; *fault.DownloadError when the bytes are not what they
// should be or cannot be had in full; *fault.FileError when the folder or file
// cannot be written; what the platform refuses comes as it is.
func (t *Transfers) Download(ctx context.Context, d Download) (string, error) {
	want, err := checksum(d.MD5)
	if err != nil {
		return "", err
	}
	folder := d.TargetPath
	if folder == "" {
		folder = "."
	}
	if d.TargetName != "" {
		if d.TargetName == "." || d.TargetName == ".." || strings.ContainsAny(d.TargetName, "/\x00") || filepath.Base(d.TargetName) != d.TargetName {
			return "", fault.Hinted(fault.Of(&fault.ParameterError{}, "target_name %q is not a plain file name", d.TargetName),
				"the folder goes into target_path")
		}
		// Told before anything is asked of the platform.
		if err := checkFree(filepath.Join(folder, d.TargetName), d.Overwrite); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", fileError(err, "cannot make the folder %s", folder)
	}
	if err := t.budget.Acquire(ctx); err != nil {
		return "", err
	}
	defer t.budget.Release()
	path, err := t.fetch(ctx, d, folder, want)
	return path, settled(ctx, err)
}

func (t *Transfers) fetch(ctx context.Context, d Download, folder, want string) (string, error) {
	answer, err := t.caller.Get(ctx, d.Path, d.Query, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }() // closed once more at most
	name := d.TargetName
	if name == "" {
		name = FileName(answer.Header.Get("Content-Disposition"))
	}
	path := filepath.Join(folder, name)
	if err := checkFree(path, d.Overwrite); err != nil {
		return "", err
	}
	file, err := newTarget(folder, path)
	if err != nil {
		return "", err
	}
	defer file.discard()
	r := &receiving{Transfers: t, Download: d, file: file, hash: t.hasher.New()}
	if err := r.all(ctx, answer); err != nil {
		return "", err
	}
	if got := hexSum(r.hash); want != "" && got != want {
		return "", fault.Hinted(fault.Of(&fault.DownloadError{}, "%s has the MD5 %s instead of %s; it was not kept", path, got, want),
			"fetch it again; if it stays so, the file on the platform is not the expected one")
	}
	if err := file.keep(d.Overwrite); err != nil {
		return "", err
	}
	return path, nil
}

// receiving is one file on its way here.
type receiving struct {
	*Transfers
	Download
	file     *target
	hash     hash.Hash
	received int64
	total    int64  // -1 when the server does not say
	tag      string // marks the state of the file on the server
}

// all reads the first answer and, where one breaks off, those that continue it.
func (r *receiving) all(ctx context.Context, answer *http.Response) error {
	r.total, r.tag = answer.ContentLength, answer.Header.Get("ETag")
	mark, broken := int64(0), 0
	for {
		err := r.body(ctx, answer)
		switch {
		case ctx.Err() != nil:
			return stopped(ctx)
		case err == nil:
			return nil
		case r.file.failure != nil:
			return r.file.failure
		}
		if r.received-mark >= enoughFurther {
			mark, broken = r.received, 0
		}
		if broken++; broken > continuations {
			return r.incomplete(err)
		}
		r.log.Debug("continuing a download", "path", r.Path, "from", r.received, "reason", err)
		if err := r.pause(ctx, broken); err != nil {
			return err
		}
		if answer, err = r.next(ctx); err != nil {
			return err
		}
	}
}

// body reads one answer to its end.
func (r *receiving) body(ctx context.Context, answer *http.Response) error {
	_, err := io.CopyBuffer(r, readerOf{ctx: ctx, r: answer.Body}, make([]byte, readBuffer))
	_ = answer.Body.Close() // read to its end, or broken already
	switch {
	case err != nil:
		return err
	case r.total >= 0 && r.received < r.total:
		return io.ErrUnexpectedEOF
	case r.total >= 0 && r.received > r.total:
		// Nothing of that can be trusted: start over.
		if err := r.restart(); err != nil {
			return err
		}
		return errors.New("more bytes than announced")
	}
	return nil
}

// Write takes bytes in: to disk, into the checksum, to the counters.
func (r *receiving) Write(b []byte) (int, error) {
	if _, err := r.file.Write(b); err != nil {
		return 0, err
	}
	r.hash.Write(b) // never fails
	r.received += int64(len(b))
	if r.Progress != nil {
		r.Progress(int64(len(b)))
	}
	return len(b), nil
}

// next asks for the rest. Only an answer that is exactly the rest of the same
// file is appended; any other means starting over.
func (r *receiving) next(ctx context.Context) (*http.Response, error) {
	answer, err := r.caller.Get(ctx, r.Path, r.Query, r.received)
	var refused *fault.ResponseError
	if errors.As(err, &refused) && refused.Status == http.StatusRequestedRangeNotSatisfiable && r.received > 0 {
		if err := r.restart(); err != nil {
			return nil, err
		}
		answer, err = r.caller.Get(ctx, r.Path, r.Query, 0)
	}
	if err != nil {
		return nil, err
	}
	if r.received > 0 && !r.continues(answer) {
		if err := r.restart(); err != nil {
			_ = answer.Body.Close()
			return nil, err
		}
		if answer.StatusCode == http.StatusPartialContent {
			// Some other part than the one asked for: of no use.
			_ = answer.Body.Close()
			if answer, err = r.caller.Get(ctx, r.Path, r.Query, 0); err != nil {
				return nil, err
			}
		}
	}
	if r.received == 0 {
		r.total, r.tag = answer.ContentLength, answer.Header.Get("ETag")
	}
	return answer, nil
}

// continues tells whether an answer goes on where the last one broke off.
func (r *receiving) continues(answer *http.Response) bool {
	if answer.StatusCode != http.StatusPartialContent {
		return false
	}
	first, total, ok := contentRange(answer.Header.Get("Content-Range"))
	if !ok || first != r.received {
		return false
	}
	if tag := answer.Header.Get("ETag"); tag != "" && r.tag != "" && tag != r.tag {
		return false // replaced on the server meanwhile
	}
	if total >= 0 && r.total >= 0 && total != r.total {
		return false
	}
	if r.total < 0 {
		r.total = total
	}
	return true
}

func (r *receiving) restart() error {
	if r.Progress != nil && r.received > 0 {
		r.Progress(-r.received)
	}
	r.received = 0
	r.hash.Reset()
	return r.file.empty()
}

func (r *receiving) incomplete(err error) error {
	f := fault.Hinted(fault.Of(&fault.DownloadError{}, "%s broke off at byte %d", r.file.path, r.received),
		"nothing was kept; run again")
	if r.total >= 0 {
		f.Message += " of " + strconv.FormatInt(r.total, 10)
	}
	f.Cause = err
	return f
}

// contentRange reads "bytes first-last/total"; total is -1 for "*".
func contentRange(h string) (first, total int64, ok bool) {
	rest, found := strings.CutPrefix(strings.TrimSpace(h), "bytes ")
	if !found {
		return 0, 0, false
	}
	span, all, found := strings.Cut(rest, "/")
	from, _, dash := strings.Cut(span, "-")
	if !found || !dash {
		return 0, 0, false
	}
	first, err := strconv.ParseInt(strings.TrimSpace(from), 10, 64)
	if err != nil || first < 0 {
		return 0, 0, false
	}
	if all = strings.TrimSpace(all); all == "*" {
		return first, -1, true
	}
	total, err = strconv.ParseInt(all, 10, 64)
	return first, total, err == nil && total > first
}
