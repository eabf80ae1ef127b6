package transfer

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"errors"
	"io"
	"time"

	"transect/client/checksum"
	"transect/client/fault"
)

// verification computes the checksum of a file while it is received: of what
// is there from its beginning on without a gap, read back from the page cache.
type verification struct {
	r    *receiver
	sum  chan string
	end  bool // under r.mu: no more bytes come
	quit bool // under r.mu: the checksum is not wanted any more
	err  error
}

// verify starts the checksum, if there is one to compare with.
func (r *receiver) verify() *verification {
	v := &verification{r: r, sum: make(chan string, 1)}
	if r.want != "" {
		go v.run()
	}
	return v
}

func (v *verification) run() {
	h, at, buffer := md5.New(), int64(0), make([]byte, hashBuffer)
	for {
		v.r.mu.Lock()
		for v.r.have.front() <= at && !v.end && !v.quit {
			v.r.grown.Wait()
		}
		front, end, quit := v.r.have.front(), v.end, v.quit
		v.r.mu.Unlock()
		if quit || end && at >= front {
			break
		}
		n, err := v.r.file.file.ReadAt(buffer[:min(int64(len(buffer)), front-at)], at)
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			v.err = fileError(err, "cannot read %s", v.r.file.path)
			break
		}
		h.Write(buffer[:n]) // never fails
		at += int64(n)
	}
	v.sum <- checksum.Hex(h)
}

// finish sets a flag and waits for the checksum.
func (v *verification) finish(flag *bool) string {
	if v.r.want == "" {
		return ""
	}
	v.r.mu.Lock()
	*flag = true
	v.r.grown.Broadcast()
	v.r.mu.Unlock()
	return <-v.sum
}

func (v *verification) stop() { v.finish(&v.quit) }

// result compares the checksum of the complete file.
func (v *verification) result() error {
	got := v.finish(&v.end)
	switch {
	case v.err != nil:
		return v.err
	case got != v.r.want:
		v.r.wrong = true
		return fault.Hinted(fault.Of(&fault.DownloadError{}, "%s has the MD5 %s instead of %s; it was discarded", v.r.file.path, got, v.r.want),
			"download it again; if the MD5 is the same, the file on the platform is not the expected one")
	}
	return nil
}

// recordProgress records what is on disk, now and then, until ended.
func (r *receiver) recordProgress(ended <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		case <-r.due:
		}
		r.mu.Lock()
		have, unsynced := append(spans(nil), r.have...), r.unsynced
		r.unsynced = 0
		r.mu.Unlock()
		if unsynced > 0 {
			r.file.record(have)
		}
	}
}
