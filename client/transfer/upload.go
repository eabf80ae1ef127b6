package transfer

import (
	"cmp"
	"context"
	"time"

	"transect/client/fault"
	"transect/client/journal"
)

// upload is one file being uploaded.
type upload struct {
	*Transfers
	Upload
	src         *source
	plan        plan
	sums        sums
	computed    bool // sums.whole was computed, not given by the caller
	destination journal.Destination
	begun       *journal.Upload // by an earlier run, or nil
	sending     func(n int64)   // removes bytes from the planned ones
	slots       int64           // hashing slots that the file holds
	turn        int64           // place in the queue
}

// Upload sends a file into a component, whole or in parts, and completes it
// once every byte is confirmed and the file has not changed meanwhile.
//
// Errors: *fault.UploadError for a missing, empty or changing file and for a
// part that cannot be sent; *fault.ValueError for a bad chunk size;
// *fault.ResponseError when the platform or, for a file sent whole, its storage
// refuses it. What can be checked beforehand fails before any request.
func (t *Transfers) Upload(ctx context.Context, u Upload) (Uploaded, error) {
	given, err := normalizeMD5(u.MD5)
	if err != nil {
		return Uploaded{}, err
	}
	src, err := openSource(u.Path, t.Tree)
	if err != nil {
		return Uploaded{}, err
	}
	turn := cmp.Or(u.Turn, t.Budget.Turn())
	defer t.Stats.begin(u.Path)()
	defer func() {
		src.close()
		t.memory.release(src.buffer)
	}()
	p, err := planFor(src.info.Size(), u, t.Mode == ThroughPlatform)
	if err != nil {
		return Uploaded{}, err
	}
	up := &upload{Transfers: t, Upload: u, src: src, plan: p, turn: turn,
		destination: journal.Destination{Platform: t.transport.BaseURL(), Dataset: u.Dataset, Component: u.Component}}
	if !u.New {
		up.begun = t.Journal.Find(up.destination, src.state())
	}
	if up.sending = u.Reserved; up.sending == nil {
		if up.sending, err = t.Plan(up.missing()); err != nil {
			return Uploaded{}, err
		}
	}
	defer up.sending(p.size)
	defer up.releaseSlots()
	if err := up.checksums(ctx, given); err != nil {
		return Uploaded{}, err
	}
	if b := up.begun; b != nil && b.SamePath && b.MD5 != up.sums.whole {
		t.Logger.Warn("the file changed since its upload began; the upload starts over", "file", u.Path)
	}
	done := Uploaded{MD5: up.sums.whole, Bytes: p.size, Parts: p.parts}
	if p.parts == 1 {
		err = up.whole(ctx)
	} else {
		done.Resumed, err = up.multipart(ctx)
	}
	if err != nil {
		return Uploaded{}, contextError(ctx, err)
	}
	return done, nil
}

// Missing returns how many bytes an upload has yet to send, according to the journal.
func (t *Transfers) Missing(u Upload) (int64, error) {
	src, err := openSource(u.Path, t.Tree)
	if err != nil {
		return 0, err
	}
	defer src.close()
	p, err := planFor(src.info.Size(), u, t.Mode == ThroughPlatform)
	if err != nil {
		return 0, err
	}
	up := &upload{Transfers: t, Upload: u, src: src, plan: p}
	up.begun = t.Journal.Find(journal.Destination{Platform: t.transport.BaseURL(), Dataset: u.Dataset,
		Component: u.Component}, src.state())
	return up.missing(), nil
}

// missing returns how many bytes no earlier run has sent.
func (u *upload) missing() int64 {
	n := u.plan.size
	if b := u.begun; b != nil && b.Size == n && b.Chunk == u.plan.chunk {
		for part := range b.Done {
			_, size := u.plan.span(part)
			n -= size
		}
	}
	return n
}

// summedKey identifies a file's state at hashing and the part size.
type summedKey struct {
	file  journal.File
	chunk int64
}

// Sum returns the MD5 of a file and caches its checksums for a following Upload of the unchanged file.
func (t *Transfers) Sum(ctx context.Context, u Upload) (string, error) {
	src, err := openSource(u.Path, t.Tree)
	if err != nil {
		return "", err
	}
	defer src.close()
	p, err := planFor(src.info.Size(), u, t.Mode == ThroughPlatform)
	if err != nil {
		return "", err
	}
	up := &upload{Transfers: t, Upload: u, src: src, plan: p}
	err = up.hash(ctx, "")
	up.releaseSlots()
	t.memory.release(src.buffer)
	if err == nil {
		err = src.unchanged()
	}
	if err != nil {
		return "", err
	}
	t.summed.Store(summedKey{src.state(), p.chunk}, up.sums)
	return up.sums.whole, nil
}

// checksums takes the file's checksums from the caller or the journal, or computes them.
func (u *upload) checksums(ctx context.Context, given string) error {
	var cached sums
	if b := u.begun; b != nil && b.Unchanged {
		cached.whole = b.MD5
		if b.Chunk == u.plan.chunk && len(b.Parts) == u.plan.parts {
			cached.parts = b.Parts
		}
	}
	if u.computed = given == ""; !u.computed {
		cached.whole = given
	} else if s, ok := u.summed.LoadAndDelete(summedKey{u.src.state(), u.plan.chunk}); ok {
		cached = s.(sums)
	}
	if cached.whole != "" && (u.plan.parts == 1 || cached.parts != nil) {
		u.sums = cached
		return nil
	}
	if err := u.hash(ctx, cached.whole); err != nil {
		return err
	}
	return u.src.unchanged()
}

// hash computes the missing checksums. A file that fits into memory is read only once, for its
// checksum and for sending it.
func (u *upload) hash(ctx context.Context, whole string) error {
	slots := int64(longFileSlot)
	if u.plan.parts == 1 {
		slots = 1
	}
	if u.hashing.slots.Acquire(ctx, slots) != nil {
		return fault.Stopped(ctx)
	}
	u.slots = slots
	var buffer []byte
	if u.plan.parts == 1 {
		buffer = u.memory.tryAllocate(u.plan.size)
	}
	if buffer == nil {
		defer u.releaseSlots()
		var err error
		u.sums, err = u.hashing.file(ctx, u.src, u.plan, whole)
		return err
	}
	if err := u.src.load(buffer, u.Stats); err != nil {
		return err
	}
	began := time.Now()
	u.sums.whole = u.hashing.batcher.Sum(buffer)
	u.Stats.since(onCPU, began)
	return nil
}

// releaseSlots releases the hashing slots. A file in memory keeps its slot until it has a connection, so
// that no more files than slots wait there.
func (u *upload) releaseSlots() {
	u.hashing.slots.Release(u.slots)
	u.slots = 0
}

// begin calls Begin when the file's turn has come.
func (u *upload) begin(ctx context.Context) error {
	if u.Begin == nil {
		return nil
	}
	return u.Begin(ctx)
}

// whole sends the file in one piece.
func (u *upload) whole(ctx context.Context) error {
	c, err := u.Budget.Acquire(ctx, u.turn, u.plan.size)
	if err != nil {
		return err
	}
	defer c.Release()
	u.releaseSlots()
	ctx = withConnection(ctx, c)
	if err := u.begin(ctx); err != nil {
		return err
	}
	if u.begun != nil {
		u.Journal.Forget(u.destination, "")
	}
	if err := u.sendPart(ctx, 1); err != nil {
		return err
	}
	u.memory.release(u.src.buffer)
	u.src.buffer = nil
	err = u.src.unchanged()
	if f := fault.Find(err); f != nil && u.Mode == ThroughPlatform {
		f.Facts().Hint = "the platform has the earlier content; run again when nothing writes to the file"
	}
	if err != nil || u.Mode == ThroughPlatform {
		return err
	}
	return u.call(ctx, "complete-upload-component", u.fields(0), nil)
}
