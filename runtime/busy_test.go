package runtime

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client"
	"transect/client/transfer"
)

// TestBusyStorage: storage that limits requests is left alone for as long as
// it asked, gets fewer connections from then on, and every file arrives.
func TestBusyStorage(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	const files = 24 // more than are sent at once
	var contents [files][]byte
	var names, ids [files]string
	for i := range files {
		names[i] = fmt.Sprintf("photo_%d.jpg", i)
		contents[i], ids[i] = y.file(names[i], 100_000+i, byte(i)), y.dataset()
	}
	budget := transfer.NewTunedBudget(64)
	most := budget.Limit()
	var mu sync.Mutex
	var asked, early int
	var until time.Time
	var lowered atomic.Bool
	y.intercepts(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		mu.Lock()
		asked++
		limited := asked == 2
		if limited {
			until = time.Now().Add(time.Second)
		} else if time.Now().Before(until) {
			early++
		}
		mu.Unlock()
		if limited {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		// What is stored raises the limit again, so nothing is until it was lowered.
		for !lowered.Load() && r.Context().Err() == nil {
			if budget.Limit() < most {
				lowered.Store(true)
			}
			time.Sleep(time.Millisecond)
		}
		return false
	})
	who := y.platform.Credentials()
	c, err := client.New(t.Context(), client.Settings{URL: y.URL, User: who.User, Password: who.Password, ClientID: who.ClientID, ClientSecret: who.ClientSecret},
		client.Options{Budget: budget, Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	multipart := true
	var group sync.WaitGroup
	for i := range files {
		group.Go(func() {
			if _, err := c.Datasets.UploadFile(t.Context(), client.UploadFile{Dataset: client.ID(ids[i]), Component: "file",
				FilePath: client.Path(filepath.Join(y.dir, names[i])), Multipart: &multipart}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	// What was on its way when storage complained may still have come.
	if asked != files+1 || early > most {
		t.Errorf("%d requests, %d of them although it had limited requests", asked, early)
	}
	if !lowered.Load() {
		t.Errorf("still %d connections", most)
	}
	y.intercepts(nil)
	for i := range files {
		y.holds(ids[i], contents[i])
	}
}
