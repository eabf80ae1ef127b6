package filetree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// WatchOptions is what to wait for.
type WatchOptions struct {
	Disk     Folders
	Want     func(Place) bool
	Existing bool          // also files that are there already
	Settle   time.Duration // how long a file must not change
	Interval time.Duration // between two looks at the folder
	Idle     time.Duration // without a change, after which it ends; 0 never
}

// Watch waits for files to be finished: as long in one size and with one time
// as settle says. It looks at the folder again and again, which works on every
// disk, memory card and network share, where notices of the system do not.
type Watch struct {
	WatchOptions
	root   string
	known  map[string]*sight
	ready  []string
	latest time.Time // when something happened last
}

// sight is how a file was seen.
type sight struct {
	size     int64
	modified time.Time
	since    time.Time
	given    bool
	present  bool
}

// unfinished are the names under which programs write what is not yet whole.
var unfinished = []string{".part", ".partial", ".tmp", ".temp", ".crdownload", ".download", ".filepart", ".!ut", "~"}

func temporary(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(name, ".") || slices.ContainsFunc(unfinished, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// NewWatch takes a first look at a folder.
func NewWatch(ctx context.Context, root string, opt WatchOptions) (*Watch, error) {
	w := &Watch{WatchOptions: opt, root: root, known: map[string]*sight{}, latest: time.Now()}
	return w, w.look(ctx, !opt.Existing)
}

// look goes through the folder once; what is new to it is not to be given when
// it is old.
func (w *Watch) look(ctx context.Context, old bool) error {
	now := time.Now()
	for _, s := range w.known {
		s.present = false
	}
	tree := Walk(w.root, Deep, w.Disk, func(p Place) bool {
		return !p.Entry.IsDir() && !temporary(p.Entry.Name()) && w.Want(p)
	})
	for {
		p, info, ok, err := tree.Next(ctx)
		if errors.Is(err, fs.ErrPermission) && p.Rel != "." {
			continue // a folder of the system, perhaps
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
		s := w.known[p.Rel]
		switch {
		case s == nil:
			s = &sight{size: info.Size(), modified: info.ModTime(), since: now, given: old}
			w.known[p.Rel] = s
			w.latest = now
		case s.size != info.Size() || !s.modified.Equal(info.ModTime()):
			*s = sight{size: info.Size(), modified: info.ModTime(), since: now}
			w.latest = now
		}
		s.present = true
		if !s.given && now.Sub(s.since) >= w.Settle {
			s.given = true
			w.ready = append(w.ready, p.Rel)
		}
	}
	maps.DeleteFunc(w.known, func(_ string, s *sight) bool { return !s.present })
	return nil
}

// Next waits for a finished file; ok is false when nothing happened for too
// long.
func (w *Watch) Next(ctx context.Context) (rel string, ok bool, err error) {
	for len(w.ready) == 0 {
		if err := w.look(ctx, false); err != nil {
			return "", false, err
		}
		if len(w.ready) > 0 {
			break
		}
		if w.Idle > 0 && time.Since(w.latest) >= w.Idle {
			return "", false, nil
		}
		timer := time.NewTimer(max(w.Interval, time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return "", false, ctx.Err()
		}
	}
	rel, w.ready = w.ready[0], w.ready[1:]
	w.latest = time.Now()
	return rel, true, nil
}
