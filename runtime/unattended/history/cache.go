package history

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Cache lists the runs repeatedly, and reads only the files that changed. It is safe for concurrent use.
type Cache struct {
	Store

	mu     sync.Mutex
	listed time.Time
	runs   []*Summary // newest first
	files  map[string]cached
}

type cached struct {
	modified time.Time
	size     int64
	run      *Summary
}

// cacheAge is the maximum age of a list.
const cacheAge = 300 * time.Millisecond

// List returns all runs, newest first. They are shared: callers must not modify them.
func (c *Cache) List() ([]*Summary, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.listed) < cacheAge {
		return c.runs, nil
	}
	ids, err := c.ids()
	if err != nil {
		return nil, err
	}
	before := c.files
	c.files, c.runs = make(map[string]cached, len(ids)), make([]*Summary, 0, len(ids))
	for _, id := range ids {
		info, err := os.Stat(c.path(id, ".json"))
		if err != nil {
			continue // removed meanwhile
		}
		now, ok := before[id]
		if !ok || now.modified != info.ModTime() || now.size != info.Size() || now.run.State == Running {
			if now.run, err = c.read(id); err != nil {
				continue
			}
			now.modified, now.size = info.ModTime(), info.Size()
		}
		c.files[id] = now
		c.runs = append(c.runs, now.run)
	}
	c.listed = time.Now()
	return c.runs, nil
}

// Jobs lists the names of the jobs in runs, sorted.
func Jobs(runs []*Summary) []string {
	names := map[string]bool{}
	for _, run := range runs {
		if run.Job != "" {
			names[run.Job] = true
		}
	}
	return slices.SortedFunc(maps.Keys(names), strings.Compare)
}
