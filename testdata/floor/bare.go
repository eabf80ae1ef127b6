package floor

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	md5simd "github.com/minio/md5-simd"
	"github.com/segmentio/encoding/json"
	"github.com/tidwall/gjson"
	lua "github.com/yuin/gopher-lua"
	"golang.org/x/sync/errgroup"
)

// What follows does the work of a race with the libraries of Transect and nothing else: no retries, limits, checks
// of what was left out, ledger or verification. The fewest requests, as many at a time as Transect sends.

var bare = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}

func (s *Server) bareCall(operation string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, s.URL+"/data-manager/"+operation, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer token")
	r.Header.Set("Content-Type", "application/json")
	return bareDo(r)
}

func bareDo(r *http.Request) ([]byte, error) {
	answer, err := bare.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.URL, answer.Status)
	}
	return body, err
}

// SearchBarely reads the names of some records in a loop of Lua, three pages of limit records at a time.
func (s *Server) SearchBarely(tb testing.TB, limit, records int) {
	type page struct {
		results []json.RawMessage
		err     error
	}
	pages := make(chan chan page, 1)
	go func() {
		defer close(pages)
		for n := 0; n*limit < records; n++ {
			next := make(chan page, 1)
			pages <- next
			go func() {
				body, err := s.bareCall("search-datasets", map[string]any{"limit": limit, "page": n})
				var p struct {
					Results []json.RawMessage `json:"results"`
				}
				if err == nil {
					err = json.Unmarshal(body, &p)
				}
				next <- page{p.Results, err}
			}()
		}
	}()
	L := lua.NewState()
	defer L.Close()
	fields := L.NewTable()
	fields.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		record := L.CheckUserData(1).Value.(json.RawMessage)
		L.Push(lua.LString(gjson.GetBytes(record, L.CheckString(2)).Str))
		return 1
	}))
	var now []json.RawMessage
	L.SetGlobal("following", L.NewFunction(func(L *lua.LState) int {
		for len(now) == 0 {
			next, more := <-pages
			if !more {
				return 0
			}
			p := <-next
			if p.err != nil {
				L.RaiseError("%v", p.err)
			}
			now = p.results
		}
		L.Push(&lua.LUserData{Value: now[0], Metatable: fields})
		now = now[1:]
		return 1
	}))
	if err := L.DoString(fmt.Sprintf(`local n, letters = 0, 0
for d in following do letters, n = letters + #d.name, n + 1 end
assert(n == %d and letters > n)`, records)); err != nil {
		tb.Fatal(err)
	}
}

// IngestBarely uploads some images of a folder, 16 at a time, their records created in batches.
func (s *Server) IngestBarely(tb testing.TB, folder string, files int) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		tb.Fatal(err)
	}
	hashes := md5simd.NewServer()
	defer hashes.Close()
	pool := sync.Pool{New: func() any { return &bytes.Buffer{} }}
	send := func(id, name string) error {
		content := pool.Get().(*bytes.Buffer)
		defer pool.Put(content)
		content.Reset()
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := content.ReadFrom(f); err != nil {
			return err
		}
		hash := hashes.NewHash()
		defer hash.Close()
		hash.Write(content.Bytes())
		component := map[string]any{"dataset": id, "component": "image", "filename": name, "checksum": hex.EncodeToString(hash.Sum(nil))}
		to, err := s.bareCall("init-upload-component", component)
		if err != nil {
			return err
		}
		r, err := http.NewRequest(http.MethodPut, gjson.GetBytes(to, "put_url").Str, bytes.NewReader(content.Bytes()))
		if err != nil {
			return err
		}
		gjson.GetBytes(to, "headers").ForEach(func(name, value gjson.Result) bool {
			r.Header.Set(name.Str, value.Str)
			return true
		})
		if _, err := bareDo(r); err != nil {
			return err
		}
		_, err = s.bareCall("complete-upload-component", component)
		return err
	}
	var group errgroup.Group
	group.SetLimit(16)
	for from := 0; from < files; from += 100 {
		batch := entries[from:min(from+100, files)]
		records := make([]map[string]any, len(batch))
		for i, e := range batch {
			records[i] = map[string]any{"name": e.Name(), "type": "image", "project": "p", "components": []any{map[string]any{"name": "image"}}}
		}
		made, err := s.bareCall("create-datasets", map[string]any{"datasets": records})
		if err != nil {
			tb.Fatal(err)
		}
		for i, id := range gjson.GetBytes(made, "#._id").Array() {
			group.Go(func() error { return send(strings.Clone(id.Str), batch[i].Name()) })
		}
	}
	if err := group.Wait(); err != nil {
		tb.Fatal(err)
	}
}
