package raster

import (
	"container/list"
	"sync"
)

// DefaultCache is how many bytes of decoded pixels Open keeps.
const DefaultCache = 32 << 20

// maxOpen limits the chunks that are read by rows at the same time.
const maxOpen = 8

// Cache holds the decoded chunks used last, of one raster or several.
type Cache struct {
	mu    sync.Mutex
	limit int
	size  int
	byKey map[chunkKey]*list.Element
	order list.List // of *cached, the last used first

	streams  sync.Mutex // held while chunks are read by rows
	open     map[chunkKey]*rows
	openKeys []chunkKey // the oldest first
}

type chunkKey struct {
	page  *page
	chunk int64
}

type cached struct {
	key  chunkKey
	data []byte
}

// NewCache makes a cache of at most limit bytes, and of at least one chunk.
func NewCache(limit int) *Cache {
	return &Cache{limit: limit, byKey: map[chunkKey]*list.Element{}, open: map[chunkKey]*rows{}}
}

// get returns a chunk, which make decodes when it is not there.
func (c *Cache) get(key chunkKey, make func() ([]byte, error)) ([]byte, error) {
	c.mu.Lock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*cached).data, nil
	}
	c.mu.Unlock()
	data, err := make()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok { // another call was faster
		return e.Value.(*cached).data, nil
	}
	c.byKey[key] = c.order.PushFront(&cached{key, data})
	for c.size += len(data); c.size > c.limit && c.order.Len() > 1; {
		last := c.order.Remove(c.order.Back()).(*cached)
		delete(c.byKey, last.key)
		c.size -= len(last.data)
	}
	return data, nil
}

// stream returns the reader of a chunk's rows that stands at row y or before it.
// The caller holds c.streams.
func (c *Cache) stream(key chunkKey, y int, open func() (*rows, error)) (*rows, error) {
	if r := c.open[key]; r != nil && r.next <= y {
		return r, nil
	}
	r, err := open()
	if err != nil {
		return nil, err
	}
	if c.open[key] == nil {
		c.openKeys = append(c.openKeys, key)
	}
	c.open[key] = r
	if len(c.openKeys) > maxOpen {
		delete(c.open, c.openKeys[0])
		c.openKeys = c.openKeys[1:]
	}
	return r, nil
}

// drop forgets the reader of a chunk.
func (c *Cache) drop(key chunkKey) {
	delete(c.open, key)
	for i, k := range c.openKeys {
		if k == key {
			c.openKeys = append(c.openKeys[:i:i], c.openKeys[i+1:]...)
			return
		}
	}
}
