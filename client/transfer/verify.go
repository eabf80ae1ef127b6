package transfer

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"errors"
	"io"

	"transect/client/checksum"
	"transect/client/fault"
)

// verify computes the checksum of the file while it is received: of what is
// there from its beginning on without a gap, read back from the page cache. The
// function waits for it and compares it, unless the download failed.
func (r *receiver) verify() (result func(failed bool) error) {
	if r.want == "" {
		return func(bool) error { return nil }
	}
	var ended, aborted bool // of r.mu: no more bytes come
	var sum string
	var readError error
	done := make(chan struct{})
	go func() {
		defer close(done)
		h, at, buffer := md5.New(), int64(0), make([]byte, hashBuffer)
		for {
			r.mu.Lock()
			for r.have.front() <= at && !ended {
				r.grown.Wait()
			}
			front, stop := r.have.front(), aborted
			r.mu.Unlock()
			if stop || at >= front {
				break
			}
			n, err := r.file.file.ReadAt(buffer[:min(int64(len(buffer)), front-at)], at)
			if n == 0 || err != nil && !errors.Is(err, io.EOF) {
				readError = fileError(err, "cannot read %s", r.file.path)
				break
			}
			h.Write(buffer[:n]) // never fails
			at += int64(n)
		}
		sum = checksum.Hex(h)
	}()
	return func(failed bool) error {
		r.mu.Lock()
		ended, aborted = true, failed
		r.grown.Broadcast()
		r.mu.Unlock()
		<-done
		if failed || readError != nil || sum == r.want {
			return readError
		}
		r.wrong = true
		return fault.Hinted(fault.Of(&fault.DownloadError{}, "%s has the MD5 %s instead of %s; it was discarded", r.file.path, sum, r.want),
			"download it again; if the MD5 is the same, the file on the platform is not the expected one")
	}
}
