package filetree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"transect/client/wait"
	"transect/runtime/sandbox"
)

// WatchOptions selects the files to wait for.
type WatchOptions struct {
	Disk     *sandbox.Sandbox
	Want     func(Entry) bool
	Existing bool          // include files that exist at the start
	Settle   time.Duration // how long a file must stay unchanged
	Interval time.Duration // between two scans of the folder
	Idle     time.Duration // ends the watch after this long without a change; 0: never
}

// Watch waits for finished files, whose size and modification time stay unchanged for Settle. It polls,
// because memory cards and network shares send no change notifications, and a notification does not mean that
// a file is complete.
type Watch struct {
	WatchOptions
	root       string
	files      map[string]*fileState
	ready      []string
	lastChange time.Time
}

type fileState struct {
	size     int64
	modified time.Time
	since    time.Time // when it got this size and time
	reported bool
	present  bool
}

// unfinished lists the suffixes of files that a program is still writing.
var unfinished = []string{".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".filepart", ".!ut", "~"}

func temporary(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(name, ".") ||
		slices.ContainsFunc(unfinished, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// NewWatch scans a folder for the first time.
func NewWatch(ctx context.Context, root string, opt WatchOptions) (*Watch, error) {
	w := &Watch{WatchOptions: opt, root: root, files: map[string]*fileState{}, lastChange: time.Now()}
	return w, w.scan(ctx, !opt.Existing)
}

// scan walks the folder once; new files count as reported when ignore is set.
func (w *Watch) scan(ctx context.Context, ignore bool) error {
	now := time.Now()
	for _, s := range w.files {
		s.present = false
	}
	tree := Walk(w.root, Unlimited, w.Disk, func(e Entry) bool {
		return !e.IsDir() && !temporary(e.Name()) && w.Want(e)
	})
	for {
		e, info, ok, err := tree.Next(ctx)
		if errors.Is(err, fs.ErrPermission) && e.Rel != "." {
			continue // an unreadable subfolder, such as lost+found
		}
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if !info.Mode().IsRegular() {
			continue
		}
		s := w.files[e.Rel]
		switch {
		case s == nil:
			s = &fileState{size: info.Size(), modified: info.ModTime(), since: now, reported: ignore}
			w.files[e.Rel] = s
			w.lastChange = now
		case s.size != info.Size() || !s.modified.Equal(info.ModTime()):
			*s = fileState{size: info.Size(), modified: info.ModTime(), since: now}
			w.lastChange = now
		}
		s.present = true
		if !s.reported && now.Sub(s.since) >= w.Settle {
			s.reported = true
			w.ready = append(w.ready, e.Rel)
		}
	}
	maps.DeleteFunc(w.files, func(_ string, s *fileState) bool { return !s.present })
	return nil
}

// Next waits for a finished file; ok is false after Idle without a change.
func (w *Watch) Next(ctx context.Context) (rel string, ok bool, err error) {
	for len(w.ready) == 0 {
		if err := w.scan(ctx, false); err != nil {
			return "", false, err
		}
		if len(w.ready) > 0 {
			break
		}
		if w.Idle > 0 && time.Since(w.lastChange) >= w.Idle {
			return "", false, nil
		}
		if err := wait.Sleep(ctx, max(w.Interval, time.Millisecond)); err != nil {
			return "", false, err
		}
	}
	rel, w.ready = w.ready[0], w.ready[1:]
	w.lastChange = time.Now()
	return rel, true, nil
}
