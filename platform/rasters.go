package platform

import (
	linked "container/list"
	"os"
	"sync"

	"transect/client/raster"
)

const (
	maxRasters   = 64       // open at once
	rasterMemory = 64 << 20 // for the decoded pixels of all of them
)

// rasters are the rasters whose tiles were drawn last, with their files open.
type rasters struct {
	p     *Platform
	cache *raster.Cache

	mu    sync.Mutex
	byKey map[string]*linked.Element
	order linked.List // of *openRaster, the last used first
}

type openRaster struct {
	*raster.Raster
	key   string
	files []*os.File
	users int // including the list
}

func newRasters(p *Platform) *rasters {
	return &rasters{p: p, cache: raster.NewCache(rasterMemory), byKey: map[string]*linked.Element{}}
}

// use calls f with a raster and its overviews, opened from their files.
func (o *rasters) use(file, overviews stored, f func(*raster.Raster) error) error {
	r, err := o.get(file, overviews)
	if err != nil {
		return err
	}
	defer o.release(r)
	return f(r.Raster)
}

func (o *rasters) get(file, overviews stored) (*openRaster, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := file.blob + overviews.blob
	if e, ok := o.byKey[key]; ok {
		o.order.MoveToFront(e)
		r := e.Value.(*openRaster)
		r.users++
		return r, nil
	}
	r, err := o.open(key, file, overviews)
	if err != nil {
		return nil, err
	}
	o.byKey[key] = o.order.PushFront(r)
	if o.order.Len() > maxRasters {
		last := o.order.Remove(o.order.Back()).(*openRaster)
		delete(o.byKey, last.key)
		last.drop()
	}
	return r, nil
}

func (o *rasters) open(key string, file, overviews stored) (r *openRaster, err error) {
	r = &openRaster{key: key, users: 2}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	open := func(s stored) (f *os.File, err error) {
		if f, err = o.p.blobs.Open(s.blob); err == nil {
			r.files = append(r.files, f)
		}
		return f, err
	}
	f, err := open(file)
	if err != nil {
		return nil, err
	}
	if r.Raster, err = raster.OpenWith(o.cache, f, file.size); err != nil {
		return nil, err
	}
	f, err = open(overviews)
	if err != nil {
		return nil, err
	}
	return r, r.UseOverviews(f, overviews.size)
}

func (o *rasters) release(r *openRaster) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r.drop()
}

func (r *openRaster) drop() {
	if r.users--; r.users == 0 {
		r.close()
	}
}

func (r *openRaster) close() {
	for _, f := range r.files {
		f.Close()
	}
}

// close forgets all of them.
func (o *rasters) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for e := o.order.Front(); e != nil; e = e.Next() {
		e.Value.(*openRaster).drop()
	}
	o.order.Init()
	clear(o.byKey)
}
