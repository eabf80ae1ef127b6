package platform

import (
	"bytes"
	"sync"

	"transect/client/imagery"
	"transect/platform/store"
)

// looked are photos that were looked at as they came, while their bytes were at
// hand: with them nothing is left to do in the background when their uploads
// are completed. It is a short cut, no more. What is not here, as another
// process took the bytes, or too many came, is a job like any other.
type looked struct {
	mu     sync.Mutex
	photos map[string]look // by the ID of the blob
}

// look is what was found in a photo.
type look struct {
	photo imagery.Photo
	err   error
}

// manyLooks is how many looks are remembered at most.
const manyLooks = 10_000

// isPhoto tells datasets that are one photo.
func isPhoto(dataset store.Doc) bool {
	components, _ := dataset["components"].([]any)
	return dataset["type"] == any("image") && len(components) == 1
}

// lookAt reads a photo.
func lookAt(data []byte) (seen look) {
	seen.err = guarded(func() (err error) {
		seen.photo, err = imagery.ReadFrom(bytes.NewReader(data), int64(len(data)))
		return err
	})
	return seen
}

// keep notes what was found in a blob.
func (l *looked) keep(id string, seen look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.photos == nil || len(l.photos) >= manyLooks {
		l.photos = map[string]look{}
	}
	l.photos[id] = seen
}

// of gives what was found in a blob.
func (l *looked) of(id string) (look, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, ok := l.photos[id]
	return seen, ok
}

func (l *looked) drop(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.photos, id)
}
