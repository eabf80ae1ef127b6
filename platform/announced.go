package platform

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// announced are the uploads in one piece that wait for their bytes in this
// process. They are not kept: their addresses hold all that is needed, so that
// another process can take the bytes as well. What is here tells only what no
// address can: that a later upload to the same component was announced.
type announced struct {
	mu   sync.Mutex
	last map[[2]string]upload // by dataset and component
}

// manyAnnounced is from how many on those are dropped whose address expired.
const manyAnnounced = 10_000

func (a *announced) add(u upload, life time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == nil {
		a.last = map[[2]string]upload{}
	}
	a.last[[2]string{u.dataset, u.component}] = u
	if len(a.last)%manyAnnounced == 0 {
		oldest := uploadID(time.Now().Add(-life))
		for at, u := range a.last {
			if u.id < oldest {
				delete(a.last, at)
			}
		}
	}
}

// of is the upload announced last.
func (a *announced) of(dataset, component string) (upload, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, ok := a.last[[2]string{dataset, component}]
	return u, ok
}

// drop forgets an upload, unless a later one was announced.
func (a *announced) drop(u upload) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := [2]string{u.dataset, u.component}
	if last, ok := a.last[at]; ok && last.id <= u.id {
		delete(a.last, at)
	}
}

// uploadID makes the ID of an upload. A later one has a greater ID.
func uploadID(t time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(t.UnixNano()))
	rand.Read(b[8:])
	return hex.EncodeToString(b[:])
}
