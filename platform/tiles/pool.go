// Package tiles keeps rasters open for drawing map tiles of them (pool.go), and encodes
// features as vector tiles (vector.go).
package tiles

import (
	"container/list"
	"os"
	"sync"

	"transect/client/formats/raster"
	"transect/platform/blob"
)

const (
	maxRasters = 64       // open at once
	memory     = 64 << 20 // for the decoded pixels of all of them
)

// Pool holds the rasters whose tiles were drawn last, with their files open.
type Pool struct {
	blobs *blob.Store
	cache *raster.Cache

	mu    sync.Mutex
	byKey map[key]*list.Element
	order list.List // of *opened, the last used first
}

// File is a stored file.
type File struct {
	Blob string
	Size int64
}

// key is a raster and its overviews.
type key struct{ raster, overviews File }

type opened struct {
	*raster.Raster
	key   key
	files []*os.File
	users int // including the list
}

// NewPool makes a pool of rasters in a store.
func NewPool(blobs *blob.Store) *Pool {
	return &Pool{blobs: blobs, cache: raster.NewCache(memory), byKey: map[key]*list.Element{}}
}

// Use calls f with a raster that has its overviews.
func (p *Pool) Use(file, overviews File, f func(*raster.Raster) error) error {
	r, err := p.get(key{file, overviews})
	if err != nil {
		return err
	}
	defer p.release(r)
	return f(r.Raster)
}

func (p *Pool) get(k key) (*opened, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.byKey[k]; ok {
		p.order.MoveToFront(e)
		r := e.Value.(*opened)
		r.users++
		return r, nil
	}
	r, err := p.open(k)
	if err != nil {
		return nil, err
	}
	p.byKey[k] = p.order.PushFront(r)
	if p.order.Len() > maxRasters {
		last := p.order.Remove(p.order.Back()).(*opened)
		delete(p.byKey, last.key)
		last.drop()
	}
	return r, nil
}

func (p *Pool) open(k key) (r *opened, err error) {
	r = &opened{key: k, users: 2}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	for _, file := range []File{k.raster, k.overviews} {
		f, err := p.blobs.Open(file.Blob)
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, f)
	}
	if r.Raster, err = raster.OpenWith(p.cache, r.files[0], k.raster.Size); err != nil {
		return nil, err
	}
	return r, r.UseOverviews(r.files[1], k.overviews.Size)
}

func (p *Pool) release(r *opened) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.drop()
}

func (r *opened) drop() {
	if r.users--; r.users == 0 {
		r.close()
	}
}

func (r *opened) close() {
	for _, f := range r.files {
		f.Close()
	}
}

// Close closes the files that are not in use any more, and the others once they are
// released.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.order.Front(); e != nil; e = e.Next() {
		e.Value.(*opened).drop()
	}
	p.order.Init()
	clear(p.byKey)
}
