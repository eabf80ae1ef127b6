package transfer

import (
	"cmp"
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"transect/client/fault"
)

// Download fetches a file into a folder and returns its path. The file appears under its name only
// when it is complete, verified and on disk. A large file with a strong ETag is downloaded in
// several concurrent ranges. After a kill or a transient failure the partial file is kept, and the
// next download from the same source to the same path resumes it.
//
// Errors: *fault.FileExistsError when the file exists and Overwrite is not set;
// *fault.DownloadError when the content is wrong or incomplete; *fault.FileError when the folder or
// file cannot be written; refusals of the platform unchanged.
func (t *Transfers) Download(ctx context.Context, d Download) (string, error) {
	want, err := normalizeMD5(d.MD5)
	if err != nil {
		return "", err
	}
	name := d.TargetName
	if name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || name != "" && filepath.Base(name) != name {
		return "", fault.Hinted(fault.Of(&fault.ParameterError{}, "target_name %q is not a plain file name", name),
			"put the folder into target_path")
	}
	in, err := t.folder(cmp.Or(d.TargetPath, "."), name)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // only used for lookups
	if name != "" {
		// Fail before any request.
		if err := in.checkFree(name, d.Overwrite); err != nil {
			return "", err
		}
	}
	defer t.Stats.begin(filepath.Join(d.TargetPath, cmp.Or(name, "a file that the platform names")))()
	t.pruneOnce(in)
	c, err := t.Budget.Acquire(ctx, t.Budget.Turn(), 0)
	if err != nil {
		return "", err
	}
	defer c.Release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	path, err := t.fetchFile(withConnection(ctx, c), d, in, t.expect(ctx, d, want))
	return path, contextError(ctx, err)
}

func (t *Transfers) fetchFile(ctx context.Context, d Download, in folder, expected *expectation) (string, error) {
	answer, err := t.get(ctx, d, span{})
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }() // closed twice at most
	expected.read(answer.Header)
	if expected.page && expected.md5 == "" {
		return "", receivedPage()
	}
	name := d.TargetName
	if name == "" {
		name = FileName(answer.Header.Get("Content-Disposition"))
		// Opened again because policy may forbid the name that the server chose.
		if in, err = t.folder(in.path, name); err != nil {
			return "", err
		}
		defer func() { _ = in.Close() }() // only used for lookups
	}
	if err := in.checkFree(name, d.Overwrite); err != nil {
		return "", err
	}
	file, err := newTarget(in, name)
	if err != nil {
		return "", err
	}
	r := &receiver{Transfers: t, Download: d, file: file, expectation: expected, first: &rangeWorker{}}
	if err = r.receive(ctx, answer); err == nil {
		err = file.commit(d.Overwrite)
	}
	if err != nil && r.worthKeeping(ctx, err) {
		file.leave()
	} else {
		file.discard()
	}
	if err != nil {
		return "", err
	}
	t.warnUnverified(expected, file.path)
	return file.path, nil
}

// worthKeeping reports whether the next download may resume after an error.
func (r *receiver) worthKeeping(ctx context.Context, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.resumable || r.have.bytes() < minProgress || r.file.broken() != nil {
		return false
	}
	return ctx.Err() != nil || r.cut || fault.Transient(err) || fault.Status(err) == http.StatusUnauthorized
}
