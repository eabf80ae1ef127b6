package web

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
	tree "transect/client/files"

	"golang.org/x/sync/errgroup"

	"transect/client/formats/imagery"
	"transect/client/preflight"
	"transect/client/scan"
	"transect/client/verdict"
)

var disk tree.Tree

// folderItem is a file of the folder, with its sidecar files.
type folderItem struct {
	ID, Name, Path string
	Kind           string
	Size           int64
	Verdict        verdict.Verdict // of the check, "" when the file is good
	Cause, Hint    string
	Warning        bool // the file needs attention
	photo          *photo
	sidecars       []string // paths of sidecar files
}

// folderCheck reads and checks the folder, without a platform.
type folderCheck struct {
	folder string
	now    func() time.Time

	mu      sync.Mutex
	done    chan struct{}
	current folderState
}

// folderState is the result of the check so far.
type folderState struct {
	Running bool
	Read    int // files so far
	Items   []folderItem
	Result  *surveyResult
	Err     error
	version int // counts changes, for followers
	byID    map[string]int
}

const (
	folderReaders = 4
)

// start starts a check, unless one is running.
func (f *folderCheck) start(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current.Running {
		return
	}
	f.done, f.current.Running, f.current.Read = make(chan struct{}), true, 0
	f.current.version++
	go f.run(ctx, f.done)
}

// state returns a copy of the state.
func (f *folderCheck) state() folderState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current
}

// wait returns when the check or ctx has ended.
func (f *folderCheck) wait(ctx context.Context) {
	f.mu.Lock()
	done := f.done
	f.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (f *folderCheck) run(ctx context.Context, done chan struct{}) {
	items, result, err := f.check(ctx)
	byID := map[string]int{}
	for i := range items {
		byID[items[i].ID] = i
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = folderState{Read: f.current.Read, Items: items, Result: result, Err: err, version: f.current.version + 1,
		byID: byID}
	close(done)
}

// check reads the folder like a run.
func (f *folderCheck) check(ctx context.Context) ([]folderItem, *surveyResult, error) {
	all := newSurvey(f.now(), nil)
	defer all.close()
	part := &surveyPart{checker: preflight.New(preflight.Options{Now: f.now(), Zone: f.now().Location()}),
		ids: map[string]string{}}
	all.parts[""] = part
	var items []folderItem
	var mu sync.Mutex
	group, readers := errgroup.WithContext(ctx)
	group.SetLimit(folderReaders)
	for found, err := range scan.Items(ctx, scan.Source{Paths: []string{f.folder}}) {
		var skipped *scan.Skipped
		if err != nil && !errors.As(err, &skipped) {
			_ = group.Wait()
			return nil, nil, err
		}
		if skipped != nil {
			part.checker.Add(scan.Item{}, nil, err)
			mu.Lock()
			items = append(items, folderItem{Name: skipped.Name, Path: absolutePath(skipped.Path), Verdict: skipped.Verdict(),
				Cause: skipped.Why(), Hint: skipped.Hint(), Warning: !skipped.Harmless()})
			mu.Unlock()
			continue
		}
		group.Go(func() error {
			if readers.Err() != nil {
				return readers.Err()
			}
			item := checkFile(part.checker, found)
			mu.Lock()
			defer mu.Unlock()
			items = append(items, item)
			f.mu.Lock()
			f.current.Read++
			f.mu.Unlock()
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(items, func(a, b folderItem) int { return imagery.NaturalCompare(a.Name, b.Name) })
	for i := range items {
		items[i].ID = "f" + strconv.Itoa(i)
		if p := items[i].photo; p != nil {
			p.id = items[i].ID
			_ = all.add(part, *p)
		}
	}
	result, err := all.finish(ctx)
	if err != nil {
		return nil, nil, err
	}
	mergeFindings(items, result.Problems)
	return items, result, nil
}

// checkFile reads a file and checks it.
func checkFile(checker *preflight.Checker, found scan.Item) folderItem {
	main := found.Members[0].File
	item := folderItem{Name: found.Name, Path: absolutePath(main.Path), Kind: found.Kind, Size: found.Size()}
	for _, m := range found.Members[1:] {
		item.sidecars = append(item.sidecars, m.Path)
	}
	var read *imagery.Photo
	var err error
	if found.Kind == "image" {
		var p imagery.Photo
		p, err = imagery.Read(disk, main.Path)
		read = &p
		if err == nil {
			item.photo = &photo{Photo: p, name: main.Name, group: filepath.Dir(main.Path) + " " + p.Make + " " + p.Model,
				ground: groundOf(p)}
		}
	}
	if problem := checker.Add(found, read, err); problem != nil {
		item.Verdict, item.Cause, item.Hint = problem.Verdict, problem.Message, problem.Hint
	}
	return item
}

// groundOf returns the outline of the ground in a photo, as far as its metadata allow.
func groundOf(p imagery.Photo) [][2]float64 {
	outline := p.Outline()
	for _, missing := range outline.Missing {
		if missing != imagery.FactYaw && missing != imagery.FactPitch {
			return nil
		}
	}
	return outline.Ring
}

// mergeFindings adds problems found in the survey as a whole to its files: duplicates, outliers, gaps.
func mergeFindings(items []folderItem, problems []finding) {
	index := map[string]int{}
	for i, item := range items {
		index[item.Name] = i
	}
	for k, p := range problems {
		i, ok := index[p.Name]
		if !ok || p.Name == "" {
			continue
		}
		item := &items[i]
		problems[k].Photo = cmp.Or(p.Photo, item.ID)
		if item.Verdict != "" {
			continue
		}
		if p.Code != "gap" {
			item.Warning = true
			item.Cause, item.Hint = joined(item.Cause, p.Message), cmp.Or(item.Hint, p.Hint)
		}
		if p.Verdict != "" {
			item.Verdict, item.Cause, item.Hint = p.Verdict, p.Message, p.Hint
		}
	}
	for i := range items {
		if p := items[i].photo; p != nil {
			p.state = stateOfItem(items[i])
		}
	}
}

func stateOfItem(item folderItem) int {
	switch {
	case item.Verdict.Bad():
		return photoBad
	case item.Warning || item.Verdict == verdict.Duplicate:
		return photoWarning
	}
	return photoGood
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func absolutePath(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
