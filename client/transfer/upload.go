package transfer

import (
	"context"
	"errors"
	"path/filepath"

	"transect/client/fault"
)

const service = "data-manager"

// signed is where storage takes bytes, for a while.
type signed struct {
	PutURL  string            `json:"put_url"`
	Headers map[string]string `json:"headers"`
}

// upload is one file on its way.
type upload struct {
	*Transfers
	Upload
	src   *source
	plan  plan
	sums  sums
	entry Entry
}

// Upload sends a file into a component, whole or in parts, and completes it
// when every byte was confirmed and the file is still the one that was opened.
//
// Errors: *fault.UploadError for a missing, empty or changing file and for a
// part that cannot be sent; *fault.ValueError for a bad chunk size;
// *fault.ResponseError when the platform or, for a file sent whole, its storage
// refuses it. The first three are found before any request where they can be.
func (t *Transfers) Upload(ctx context.Context, u Upload) (Uploaded, error) {
	given, err := normalizeMD5(u.MD5)
	if err != nil {
		return Uploaded{}, err
	}
	src, err := openSource(u.Path, t.open)
	if err != nil {
		return Uploaded{}, err
	}
	defer src.close()
	p, err := planFor(src.info.Size(), u, t.mode == ThroughPlatform)
	if err != nil {
		return Uploaded{}, err
	}
	up := &upload{Transfers: t, Upload: u, src: src, plan: p}
	remembered := t.journal.Open
	if u.New {
		remembered = t.journal.Begin
	}
	up.entry = remembered(src.state(), Place{Platform: t.platform, Dataset: u.Dataset, Component: u.Component}, p.journalChunk())
	if err := up.summed(ctx, given); err != nil {
		return Uploaded{}, err
	}
	if up.entry.Changed() && !up.entry.Started(up.sums.whole) {
		t.log.Warn("the file changed since its upload was begun; it is uploaded anew", "file", u.Path)
	}
	done := Uploaded{MD5: up.sums.whole, Bytes: p.size, Parts: p.parts}
	if u.SkipFinished && up.entry.Finished() == done.MD5 {
		done.Skipped = true
		return done, nil
	}
	if p.parts == 1 {
		err = up.whole(ctx)
	} else {
		done.Resumed, err = up.inParts(ctx)
	}
	if err != nil {
		return Uploaded{}, settled(ctx, err)
	}
	up.entry.Finish(done.MD5)
	return done, nil
}

// summed makes sure of the file's checksums: those given, those the journal has
// kept of this state of the file, or those computed now.
func (u *upload) summed(ctx context.Context, given string) error {
	whole, parts := u.entry.Sums()
	if given != "" {
		whole = given
	}
	if whole != "" && (u.plan.parts == 1 || len(parts) == u.plan.parts) {
		u.sums = sums{whole: whole, parts: parts}
		return nil
	}
	if err := u.hash(ctx, whole); err != nil {
		return err
	}
	if err := u.src.unchanged(); err != nil {
		return err
	}
	if given == "" {
		u.entry.Hashed(u.sums.whole, u.sums.parts)
	} else {
		u.entry.Hashed("", u.sums.parts)
	}
	return nil
}

// hash computes what is missing of the checksums. A file that fits is read
// once, for its checksum and for sending it.
func (u *upload) hash(ctx context.Context, whole string) error {
	slots := int64(longFileSlot)
	if u.plan.parts == 1 {
		slots = 1
	}
	leave, err := u.hashing.enter(ctx, slots)
	if err != nil {
		return err
	}
	defer leave()
	if u.plan.parts == 1 {
		if room := u.memory.tryHold(u.plan.size); room != nil {
			if err := u.src.hold(ctx, room, u.stats); err != nil {
				return err
			}
			u.sums.whole = u.hashing.gathering.sum(room, u.budget.Queued())
			return nil
		}
	}
	u.sums, err = u.hashing.file(ctx, u.src, u.plan, whole)
	return err
}

// fields are what every request about this file says, and what is added.
func (u *upload) fields(added map[string]any) map[string]any {
	f := map[string]any{"dataset": u.Dataset, "component": u.Component}
	for k, v := range added {
		f[k] = v
	}
	return f
}

func (u *upload) name() string { return filepath.Base(u.Path) }

func (u *upload) whole(ctx context.Context) error {
	if err := u.budget.Acquire(ctx); err != nil {
		return err
	}
	defer u.budget.Release()
	ctx = withConnection(ctx, u.budget)
	u.entry.Forget()
	if u.mode == ThroughPlatform {
		return u.postWhole(ctx)
	}
	return u.putWhole(ctx)
}

// putWhole sends the file to the platform's storage.
func (u *upload) putWhole(ctx context.Context) error {
	// Asking again gives a new address for the same component.
	sign := func(ctx context.Context) (signed, error) {
		var s signed
		err := u.caller.Call(ctx, service, "init-upload-component",
			u.fields(map[string]any{"filename": u.name(), "checksum": u.sums.whole}), &s)
		return s, err
	}
	success := func(status int) bool { return status >= 200 && status < 300 }
	if err := u.put(ctx, 1, sign, success); err != nil {
		return u.failed(err)
	}
	if err := u.src.unchanged(); err != nil {
		return err
	}
	return u.caller.Call(ctx, service, "complete-upload-component", u.fields(nil), nil)
}

func (u *upload) count(bytes int64) {
	if u.Progress != nil && bytes != 0 {
		u.Progress(bytes)
	}
}

func (u *upload) found(bytes int64) {
	if u.Found != nil && bytes != 0 {
		u.Found(bytes)
	}
}

// told is true for errors that say all there is to say.
func told(err error) bool {
	var upload *fault.UploadError
	var cancelled *fault.CancelledError
	return errors.As(err, &upload) || errors.As(err, &cancelled)
}

// failed names the file around what went wrong, where the platform did not
// refuse it by itself.
func (u *upload) failed(err error) error {
	var refused *fault.ResponseError
	if told(err) || errors.As(err, &refused) {
		return err
	}
	return wrapped(err, "%s could not be sent", u.Path)
}

// wrapped makes an UploadError that keeps the hint of its cause.
func wrapped(err error, format string, args ...any) error {
	f := fault.Of(&fault.UploadError{}, format, args...)
	f.Cause = err
	if cause := fault.Find(err); cause != nil {
		f.Hint = cause.Facts().Hint
	}
	return f
}
