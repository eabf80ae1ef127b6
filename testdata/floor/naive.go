package floor

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// IngestNaively uploads some images of a folder as people write it in an
// afternoon: one after the other, four requests each.
func (s *Server) IngestNaively(tb testing.TB, folder string, files int) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries[:files] {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		sum := md5.Sum(data)
		d := s.call(tb, "create-dataset", map[string]any{"name": e.Name(), "type": "image", "project": "p",
			"components": []any{map[string]any{"name": "image"}}})
		component := map[string]any{"dataset": d["_id"], "component": "image", "filename": e.Name(), "checksum": hex.EncodeToString(sum[:])}
		to := s.call(tb, "init-upload-component", component)
		r, err := http.NewRequest(http.MethodPut, to["put_url"].(string), bytes.NewReader(data))
		if err != nil {
			tb.Fatal(err)
		}
		for name, value := range to["headers"].(map[string]any) {
			r.Header.Set(name, value.(string))
		}
		do(tb, r)
		s.call(tb, "complete-upload-component", component)
	}
}

func (s *Server) call(tb testing.TB, operation string, body map[string]any) (answer map[string]any) {
	text, err := json.Marshal(body)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, s.URL+"/data-manager/"+operation, bytes.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer token")
	r.Header.Set("Content-Type", "application/json")
	if err := json.Unmarshal(do(tb, r), &answer); err != nil {
		tb.Fatal(err)
	}
	return answer
}

func do(tb testing.TB, r *http.Request) []byte {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		tb.Fatal(err, response.Status, string(body))
	}
	return body
}
