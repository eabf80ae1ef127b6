package ingest

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

// TestFasterThanOneByOne uploads the same flight to two platforms: by Run, and
// the way a script of one's own does it, file by file, four requests each. It
// prints how many times faster Run is; TRANSECT_BENCH=1 takes the full size,
// and only then is the time compared: a few files on a busy machine say nothing.
func TestFasterThanOneByOne(t *testing.T) {
	files, atLeast := 60, map[string]float64{}
	if os.Getenv("TRANSECT_BENCH") != "" {
		files, atLeast = 1000, map[string]float64{"loopback": 1, "20 ms away": 1}
	}
	if testing.Short() {
		files = 10
	}
	folder := flight(t, files, flightgen.Options{FileSize: 200 << 10})
	for _, c := range []struct {
		name  string
		delay time.Duration
	}{{"loopback", 0}, {"20 ms away", 20 * time.Millisecond}} {
		t.Run(c.name, func(t *testing.T) {
			var wrap func(http.Handler) http.Handler
			if c.delay > 0 {
				wrap = delayed(c.delay)
			}
			naive := newWorld(t, wrap)
			some := files
			if c.delay > 0 {
				some = min(files, 100) // its time per file does not depend on their number
			}
			began := time.Now()
			oneByOne(t, naive, folder, some)
			slow := time.Since(began) / time.Duration(some)
			w := newWorld(t, wrap)
			began = time.Now()
			w.expect(w.run(folder), int64(files), 0, 0, 0)
			fast := time.Since(began) / time.Duration(files)
			ratio := float64(slow) / float64(fast)
			t.Logf("%s: one by one %s a file, ingest %s a file: %.1f times faster", c.name, slow.Round(10*time.Microsecond), fast.Round(10*time.Microsecond), ratio)
			if ratio < atLeast[c.name] {
				t.Errorf("only %.1f times faster", ratio)
			}
		})
	}
}

// oneByOne creates and uploads one file after the other.
func oneByOne(t *testing.T, w *world, folder string, n int) {
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	token := w.token()
	call := func(path string, body map[string]any) map[string]any {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequest("POST", w.server.URL+"/data-manager/"+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		var out map[string]any
		do(t, r, &out)
		return out
	}
	for _, path := range names[:n] {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := md5.Sum(data)
		d := call("create-dataset", map[string]any{"name": filepath.Base(path), "type": "image", "project": w.target.Project, "mission": w.target.Mission,
			"components": []any{map[string]any{"name": "image"}}})
		to := call("init-upload-component", map[string]any{"dataset": d["_id"], "component": "image",
			"filename": filepath.Base(path), "checksum": hex.EncodeToString(sum[:])})
		r, err := http.NewRequest("PUT", to["put_url"].(string), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range to["headers"].(map[string]any) {
			r.Header.Set(name, value.(string))
		}
		do(t, r, nil)
		call("complete-upload-component", map[string]any{"dataset": d["_id"], "component": "image"})
	}
}

func do(t *testing.T, r *http.Request, into any) {
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(err, answer.Status, string(body))
	}
	if into != nil {
		if err := json.Unmarshal(body, into); err != nil {
			t.Fatal(err)
		}
	}
}

// token signs in as any program does.
func (w *world) token() string {
	login := w.p.Credentials()
	body, err := json.Marshal(map[string]string{"grant_type": "password", "username": login.User, "password": login.Password})
	if err != nil {
		w.t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/dxauth/oauth/token", bytes.NewReader(body))
	r.SetBasicAuth(login.ClientID, login.ClientSecret)
	answer := httptest.NewRecorder()
	w.p.Handler().ServeHTTP(answer, r)
	var out struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil || out.Token == "" {
		w.t.Fatal(fmt.Sprint(answer.Code, " ", answer.Body.String()))
	}
	return out.Token
}
