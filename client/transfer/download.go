package transfer

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"

	"transect/client/fault"
)

// Download fetches a file into a folder and gives its path. The file appears
// under its name only when it is complete, verified and on disk. A large file
// whose state the server can name comes in several ranges at a time; what came
// of one when the download was killed or failed in passing is kept beside its
// place, and the next download from and to the same place goes on from there.
//
// Errors: *fault.FileExistsError when a file of that name is there and
// Overwrite is not set; *fault.DownloadError when the bytes are not what they
// should be or cannot be had in full; *fault.FileError when the folder or file
// cannot be written; what the platform refuses comes as it is.
func (t *Transfers) Download(ctx context.Context, d Download) (string, error) {
	want, err := normalizeMD5(d.MD5)
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
	}
	in, err := t.folder(folder, d.TargetName)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // it was only looked up
	if d.TargetName != "" {
		// Told before anything is asked of the platform.
		if err := in.checkFree(d.TargetName, d.Overwrite); err != nil {
			return "", err
		}
	}
	t.pruneOnce(in)
	if err := t.budget.Acquire(ctx); err != nil {
		return "", err
	}
	defer t.budget.Release()
	path, err := t.fetch(withConnection(ctx, t.budget), d, in, want)
	return path, contextError(ctx, err)
}

func (t *Transfers) fetch(ctx context.Context, d Download, in folder, want string) (string, error) {
	answer, err := t.caller.Get(ctx, d.Path, d.Query, Span{})
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }() // closed once more at most
	if want == "" && isPage(answer.Header) {
		return "", fault.Hinted(fault.Of(&fault.DownloadError{}, "a web page came instead of a file; it was not kept"),
			"does the network want a login first, or a proxy answer for the platform? Where the file is a web page itself, give its md5hash")
	}
	name := d.TargetName
	if name == "" {
		name = FileName(answer.Header.Get("Content-Disposition"))
		// Asked for once more: a file of that name may not be wanted there.
		if in, err = t.folder(in.path, name); err != nil {
			return "", err
		}
		defer func() { _ = in.Close() }() // it was only looked up
	}
	if err := in.checkFree(name, d.Overwrite); err != nil {
		return "", err
	}
	file, err := newTarget(in, name)
	if err != nil {
		return "", err
	}
	r := &receiving{Transfers: t, Download: d, file: file, want: want, first: &worker{}}
	err = r.all(ctx, answer)
	if err == nil {
		err = file.keep(d.Overwrite)
	}
	if err != nil {
		if r.worthKeeping(ctx, err) {
			file.leave()
		} else {
			file.discard()
		}
		return "", err
	}
	file.discard()
	return file.path, nil
}

// isPage tells a page somebody in between answers with from files, which the
// platform gives a name.
func isPage(h http.Header) bool {
	return strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/html") && h.Get("Content-Disposition") == ""
}

// worthKeeping tells failures after which the next download may go on.
func (r *receiving) worthKeeping(ctx context.Context, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.resumable || r.have.bytes() < enoughFurther || r.file.broken() != nil {
		return false
	}
	if ctx.Err() != nil {
		return true
	}
	var refused *fault.ResponseError
	if errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
		return true
	}
	return r.cut || fault.Transient(err)
}
