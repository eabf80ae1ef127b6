package raster

import (
	"container/list"
	"sync"
)

// DefaultCache is the size in bytes of the cache that Open creates.
const DefaultCache = 32 << 20

// Cache holds the most recently used decoded chunks of one or several rasters.
type Cache struct {
	mu    sync.Mutex
	limit int
	size  int
	byKey map[chunkKey]*list.Element
	order list.List // of *cached, most recently used first
}

type chunkKey struct {
	page  string // see page.key
	chunk int64
}

type cached struct {
	key  chunkKey
	data []byte
}

// NewCache makes a cache of at most limit bytes, and of at least one chunk.
func NewCache(limit int) *Cache {
	return &Cache{limit: limit, byKey: map[chunkKey]*list.Element{}}
}

// get returns a chunk, calling make to decode it if it is not cached.
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
	if e, ok := c.byKey[key]; ok { // another call decoded it first
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
