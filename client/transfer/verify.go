package transfer

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"errors"
	"io"
	"time"

	"transect/client/checksum"
	"transect/client/fault"
)

// verification computes the checksum of a file while it comes: of the part
// from its beginning that is there without a gap, read back from the disk.
type verification struct {
	r    *receiving
	sum  chan string
	end  bool // under r.mu: no more bytes come
	quit bool // under r.mu: the checksum is not wanted any more
	err  error
}

// verify begins the checksum, when there is one to compare with.
func (r *receiving) verify() *verification {
	v := &verification{r: r, sum: make(chan string, 1)}
	if r.want != "" {
		go v.run()
	}
	return v
}

func (v *verification) run() {
	h, at, buffer := md5.New(), int64(0), make([]byte, readBuffer)
	for {
		v.r.mu.Lock()
		for v.r.have.front() <= at && !v.end && !v.quit {
			v.r.moved.Wait()
		}
		front, end, quit := v.r.have.front(), v.end, v.quit
		v.r.mu.Unlock()
		if quit || end && at >= front {
			break
		}
		n, err := v.r.file.file.ReadAt(buffer[:min(int64(len(buffer)), front-at)], at)
		if n == 0 && err != nil && !errors.Is(err, io.EOF) || n == 0 {
			v.err = fileError(err, "cannot read %s", v.r.file.path)
			break
		}
		h.Write(buffer[:n]) // never fails
		at += int64(n)
	}
	v.sum <- checksum.Hex(h)
}

func (v *verification) finish(set *bool) string {
	if v.r.want == "" {
		return ""
	}
	v.r.mu.Lock()
	*set = true
	v.r.moved.Broadcast()
	v.r.mu.Unlock()
	return <-v.sum
}

func (v *verification) stop() { v.finish(&v.quit) }

// result compares the checksum of the complete file.
func (v *verification) result(r *receiving) error {
	got := v.finish(&v.end)
	switch {
	case v.err != nil:
		return v.err
	case got != r.want:
		r.wrong = true
		return fault.Hinted(fault.Of(&fault.DownloadError{}, "%s has the MD5 %s instead of %s; it was not kept", r.file.path, got, r.want),
			"fetch it again; if it stays so, the file on the platform is not the expected one")
	}
	return nil
}

// note records what is on disk, now and then, until the end.
func (r *receiving) note(ended <-chan struct{}) {
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
		have, news := append(spans(nil), r.have...), r.unsynced
		r.unsynced = 0
		r.mu.Unlock()
		if news > 0 {
			r.file.record(have)
		}
	}
}
