package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// noise returns bytes that are the same in every run.
func noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	r.Read(b)
	return b
}

func TestUploadWhole(t *testing.T) {
	for name, open := range map[string]func(testing.TB, Options) *site{"TCP": start, "in process": inside} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{})
			project := s.project("p")
			id := s.dataset("file", store.Doc{"project": project}, "file")
			content := noise(300_000) // larger than any buffer on the way
			ref := store.Doc{"dataset": id, "component": "file"}

			s.expect(s.get("/data-manager/download-component?dataset="+id+"&component=file"), 404, "not uploaded")
			s.refused(409, "no upload", "data-manager/complete-upload-component", ref)
			start := store.Doc{"dataset": id, "component": "file", "filename": "../../etc/pass wörd.bin", "checksum": sum(content)}
			signed := s.ok("data-manager/init-upload-component", start)
			if !strings.HasPrefix(store.Text(signed, "put_url"), s.base+"/") {
				t.Errorf("address %v is not on %s", signed["put_url"], s.base)
			}
			s.refused(400, "missing", "data-manager/complete-upload-component", ref)
			s.expect(s.put(signed, content[1:]), 400, "MD5")
			s.refused(400, "missing", "data-manager/complete-upload-component", ref)
			if a := s.put(signed, content); a.status != 200 {
				t.Fatalf("put: %d %s", a.status, a.text)
			}
			// Clients repeat what they did not hear the answer of.
			for range 2 {
				s.ok("data-manager/complete-upload-component", ref)
			}
			if a := s.put(signed, content); a.status != 200 {
				t.Fatalf("repeated put: %d %s", a.status, a.text)
			}
			doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed")
			c := doc["components"].([]any)[0].(store.Doc)
			if c["status"] != "completed" || c["checksum"] != sum(content) {
				t.Errorf("component %v", c)
			}
			a := s.get("/data-manager/download-component?dataset=" + id + "&component=file")
			if a.text != string(content) || !strings.Contains(a.header.Get("Content-Disposition"), "filename*=UTF-8''") {
				t.Errorf("download: %d bytes, %v", len(a.text), a.header)
			}
			r := s.request("GET", "/data-manager/download-component?dataset="+id+"&component=file", nil)
			r.Header.Set("Range", "bytes=299990-")
			if a := s.do(r); a.status != 206 || a.text != string(content[299990:]) {
				t.Errorf("range: %d, %d bytes", a.status, len(a.text))
			}
		})
	}
}

func TestUploadInParts(t *testing.T) {
	s := start(t, Options{})
	content := noise(2*minChunk + 1000)
	for _, direct := range []bool{true, false} {
		id := s.dataset("file", store.Doc{"company": s.company}, "file")
		ref := store.Doc{"dataset": id, "component": "file"}
		with := func(more store.Doc) store.Doc {
			body := store.Doc{"dataset": id, "component": "file"}
			for k, v := range more {
				body[k] = v
			}
			return body
		}
		start := with(store.Doc{"filename": "big.bin", "checksum": sum(content), "chunk_size": minChunk, "total_size": len(content), "direct_upload": direct})
		small := with(start)
		small["chunk_size"] = minChunk - 1
		s.refused(400, "chunk_size", "data-manager/create-multipart-upload", small)
		if doc := s.ok("data-manager/create-multipart-upload", start); doc["total_parts"].(interface{ String() string }).String() != "3" {
			t.Fatalf("parts: %v", doc)
		}
		send := func(number int, part []byte) answer {
			if !direct {
				q := url.Values{"dataset": {id}, "component": {"file"}, "part_number": {strconv.Itoa(number)}, "checksum": {sum(part)}}
				return s.do(s.request("POST", "/data-manager/upload-part?"+q.Encode(), bytes.NewReader(part)))
			}
			signed := s.ok("data-manager/get-upload-part-url", with(store.Doc{"part_number": number, "checksum": sum(part)}))
			return s.put(signed, part)
		}
		part := func(n int) []byte { return content[(n-1)*minChunk : min(n*minChunk, len(content))] }
		for _, n := range []int{3, 1} {
			if a := send(n, part(n)); a.status != 200 {
				t.Fatalf("part %d: %d %s", n, a.status, a.text)
			}
		}
		s.expect(send(2, part(2)[1:]), 400, "must have")
		s.refused(400, "1 of 3 parts", "data-manager/complete-multipart-upload", ref)
		wrong := append([]byte{^part(2)[0]}, part(2)[1:]...)
		if a := send(2, wrong); a.status != 200 {
			t.Fatalf("a part of the right size: %d %s", a.status, a.text)
		}
		s.refused(400, "MD5", "data-manager/complete-multipart-upload", ref)
		if a := send(2, part(2)); a.status != 200 {
			t.Fatalf("part again: %d %s", a.status, a.text)
		}
		for range 2 {
			s.ok("data-manager/complete-multipart-upload", ref)
		}
		if a := s.get("/data-manager/download-component?dataset=" + id + "&component=file"); a.text != string(content) {
			t.Errorf("download has %d bytes", len(a.text))
		}
	}
}

func TestUploadComponent(t *testing.T) {
	s := start(t, Options{})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	content := noise(1000)
	q := url.Values{"dataset": {id}, "component": {"file"}, "filename": {"a.bin"}, "checksum": {sum(content)}}
	if a := s.do(s.request("POST", "/data-manager/upload-component?"+q.Encode(), bytes.NewReader(content))); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.text)
	}
	s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed")
	s.expect(s.do(s.request("POST", "/data-manager/upload-component?"+q.Encode(), bytes.NewReader(content[1:]))), 400, "MD5")
}

func TestSignedAddresses(t *testing.T) {
	now := time.Now()
	s := start(t, Options{Now: func() time.Time { return now }})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	content := noise(10)
	begin := store.Doc{"dataset": id, "component": "file", "filename": "a", "checksum": sum(content)}
	signed := s.ok("data-manager/init-upload-component", begin)

	address, _ := url.Parse(store.Text(signed, "put_url"))
	for _, key := range []string{"checksum", "expires", "signature"} {
		q := address.Query()
		q.Set(key, "1"+q.Get(key)[1:])
		if key == "checksum" {
			q.Set(key, sum([]byte("other")))
		}
		if key == "signature" {
			q.Set(key, strings.Repeat("A", 43))
		}
		if key == "expires" {
			q.Set(key, "9"+q.Get(key))
		}
		forged := *address
		forged.RawQuery = q.Encode()
		s.expect(s.put(store.Doc{"put_url": forged.String(), "headers": signed["headers"]}, content), 403, "")
	}
	s.expect(s.put(store.Doc{"put_url": address.String(), "headers": store.Doc{}}, content), 403, "header")
	now = now.Add(15*time.Minute + time.Second)
	s.expect(s.put(signed, content), 403, "expired")
	if a := s.put(s.ok("data-manager/init-upload-component", begin), content); a.status != 200 {
		t.Errorf("another address: %d %s", a.status, a.text)
	}
	// The first address is of an upload that was replaced.
	now = now.Add(-10 * time.Minute)
	s.expect(s.put(signed, content), 409, "a later one replaced it")
}

func photo(t testing.TB, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 640, 320))
	for x := range 640 {
		picture.Set(x, x/2, color.RGBA{200, 10, 10, 255})
	}
	var b bytes.Buffer
	if err := encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }
func asPNG(b *bytes.Buffer, m image.Image) error  { return png.Encode(b, m) }

func TestIngestion(t *testing.T) {
	s := start(t, Options{IngestDelay: 30 * time.Millisecond})
	project := s.project("p")
	mission, flight := s.survey(project, 2)
	id := s.dataset("image", store.Doc{"flight": flight, "mission": mission, "project": project}, "image")
	if doc := s.ok("data-manager/describe-dataset", store.Doc{"dataset": id}); store.Text(doc, "ingestion.status") != "pending" {
		t.Errorf("new dataset %v", doc)
	}
	s.upload(id, "image", "a.png", photo(t, asPNG))
	s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "running")
	doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed", "failed")
	if text(doc["width"]) != "640" || text(doc["height"]) != "320" || text(doc["size"]) == "" {
		t.Errorf("ingested %v", doc)
	}
	for kind, side := range map[string]int{"tiny": 128, "small": 512} {
		a := s.get("/data-manager/download-preview?dataset=" + id + "&kind=" + kind)
		config, err := jpeg.DecodeConfig(strings.NewReader(a.text))
		if err != nil || config.Width != side || config.Height != side/2 {
			t.Errorf("%s preview: %d %v %v", kind, a.status, config, err)
		}
	}
	if a := s.get("/data-manager/download-image-as-jpeg?dataset=" + id); a.header.Get("Content-Disposition") != "attachment; filename=a.jpg" {
		t.Errorf("as JPEG: %d %v", a.status, a.header)
	}

	broken := s.dataset("image", store.Doc{"flight": flight, "project": project}, "image")
	content := photo(t, asJPEG)
	s.upload(broken, "image", "b.jpg", content[:len(content)/2])
	doc = s.until("data-manager/describe-dataset", store.Doc{"dataset": broken}, "ingestion.status", "failed", "completed")
	if store.Text(doc, "ingestion.status") != "failed" || store.Text(doc, "ingestion.error.message") == "" {
		t.Errorf("half a JPEG: %v", doc["ingestion"])
	}
	counts := s.ok("project-manager/describe-flight-uploads-status", store.Doc{"missions": []any{mission}})["results"].([]any)[0].(store.Doc)
	if counts["flight"] != flight || text(counts["completed"]) != "1" || text(counts["failed"]) != "1" || text(counts["uploaded"]) != "2" {
		t.Errorf("uploads: %v", counts)
	}
	file := s.dataset("file", store.Doc{"project": project}, "file")
	s.expect(s.get("/data-manager/download-preview?dataset="+file), 404, "its files were not uploaded yet")
}

func text(v any) string {
	n, _ := v.(json.Number)
	return n.String()
}

func TestDatasetPlaces(t *testing.T) {
	s := start(t, Options{})
	one, two := s.project("one"), s.project("two")
	mission, flight := s.survey(one, 1)
	create := func(more store.Doc) store.Doc {
		body := store.Doc{"type": "image", "name": "x", "components": []any{store.Doc{"name": "image"}}}
		for k, v := range more {
			body[k] = v
		}
		return body
	}
	doc := s.ok("data-manager/create-dataset", create(store.Doc{"flight": flight, "project": one, "own": store.Doc{"key": 12345678901234567}}))
	if doc["mission"] != mission || doc["company"] != s.company || text(store.Lookup(doc, "own.key")) != "12345678901234567" {
		t.Errorf("created %v", doc)
	}
	for _, c := range []struct {
		status int
		want   string
		more   store.Doc
	}{
		{400, "project", store.Doc{}},
		{400, "project", store.Doc{"project": two, "mission": mission}},
		{404, "mission", store.Doc{"project": one, "mission": strings.Repeat("a", 24)}},
		{400, "components", store.Doc{"project": one, "components": []any{store.Doc{"name": "picture"}}}},
		{400, "twice", store.Doc{"project": one, "type": "file", "components": []any{store.Doc{"name": "f"}, store.Doc{"name": "f"}}}},
		{400, "type", store.Doc{"project": one, "type": "video"}},
		{400, "creation_date", store.Doc{"project": one, "creation_date": "2020"}},
	} {
		s.refused(c.status, c.want, "data-manager/create-dataset", create(c.more))
	}
	a := s.post("data-manager/create-datasets", store.Doc{"datasets": []any{create(store.Doc{"project": one}), create(store.Doc{"project": two})}})
	if a.status != 200 || !strings.HasPrefix(a.text, "[") {
		t.Errorf("create-datasets: %d %s", a.status, a.text)
	}
	s.refused(400, "datasets[1]", "data-manager/create-datasets", store.Doc{"datasets": []any{create(store.Doc{"project": one}), create(nil)}})

	id := store.Text(doc, "_id")
	s.ok("data-manager/add-dataset-categories", store.Doc{"dataset": id, "categories": []any{"x", "y", "x"}})
	s.ok("data-manager/delete-dataset-categories", store.Doc{"dataset": id, "categories": []any{"x"}})
	s.ok("data-manager/update-dataset-properties", store.Doc{"dataset": id, "properties": store.Doc{"a": 1, "b": 2}})
	s.ok("data-manager/delete-dataset-properties", store.Doc{"dataset": id, "properties": []any{"a"}})
	s.ok("data-manager/rename-dataset", store.Doc{"dataset": id, "name": "new"})
	s.ok("data-manager/delete-datasets", store.Doc{"datasets": []any{id}})
	s.refused(404, id, "data-manager/describe-dataset", store.Doc{"dataset": id})
	deleted := s.ok("data-manager/search-datasets", store.Doc{"filter": store.Doc{"deletion_date": store.Doc{"$exists": true}}})
	if len(deleted["results"].([]any)) != 1 {
		t.Errorf("deleted: %v", deleted)
	}
	s.ok("data-manager/restore-datasets", store.Doc{"datasets": []any{id}})
	doc = s.ok("data-manager/describe-dataset", store.Doc{"dataset": id})
	if doc["name"] != "new" || len(doc["categories"].([]any)) != 1 || len(doc["properties"].(store.Doc)) != 1 || doc["deletion_date"] != nil {
		t.Errorf("restored %v", doc)
	}
}

func TestComputeBox(t *testing.T) {
	s := start(t, Options{})
	project := s.project("p")
	mission, _ := s.survey(project, 1)
	for _, at := range [][]any{{1, 2}, {3, -4, 100}} {
		s.dataset("file", store.Doc{"project": project, "mission": mission, "geometry": store.Doc{"type": "Point", "coordinates": at}})
	}
	for kind, id := range map[string]string{"mission": mission, "project": project} {
		doc := s.ok("project-manager/compute-"+kind+"-bbox", store.Doc{kind: id})
		got, err := json.Marshal(store.Lookup(doc, "real_bbox.coordinates"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != "[[[1,-4],[3,-4],[3,2],[1,2],[1,-4]]]" {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestPanicIsAnError(t *testing.T) {
	s := inside(t, Options{})
	panics := s.p.serve(route{writes: true, handle: func(*Request) any { panic("oh") }})
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/project-manager/panics", strings.NewReader("{}"))
	r.Header.Set("Authorization", "Bearer "+s.token)
	panics(w, r)
	if w.Code != 500 || !strings.Contains(w.Body.String(), "failed") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A part of an upload that was replaced while it came leaves no file behind, and
// removes none that is in use.
func TestPartOfReplacedUpload(t *testing.T) {
	s := inside(t, Options{})
	id := s.dataset("file", store.Doc{"project": s.project("p")}, "file")
	r := &Request{p: s.p, http: httptest.NewRequest("PUT", "/", nil)}
	u := upload{id: strings.Repeat("ab", 16), dataset: id, component: "file", chunk: minChunk, size: 5, parts: 1}
	sum := "5d41402abc4b2a76b9719d911017c592"
	replaced := func() {
		t.Helper()
		r.http.Body, r.http.ContentLength = io.NopCloser(strings.NewReader("hello")), 5
		var f *failure
		if err := recovered(func() { r.receive(u, 1, sum) }); !errors.As(err, &f) || f.status != 409 {
			t.Fatalf("%v", err)
		}
	}
	replaced()
	if _, err := s.p.blobs.Open(u.id); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if err := s.p.write(t.Context(), func(t tx) { t.keepBytes(id, "file", "f", blob.Blob{ID: u.id, Size: 5, MD5: sum}) }); err != nil {
		t.Fatal(err)
	}
	replaced()
	if file, err := s.p.blobs.Open(u.id); err != nil {
		t.Errorf("the component's bytes are gone: %v", err)
	} else {
		file.Close()
	}
}

// The arguments of requests that no operation declares are checked, too.
func TestUploadArguments(t *testing.T) {
	s := inside(t, Options{})
	good := store.Doc{"dataset": s.dataset("file", store.Doc{"company": s.company}, "file"), "component": "file", "filename": "a", "checksum": sum(nil)}
	for message, change := range map[string]store.Doc{
		"checksun: is not an argument of this request; did you mean checksum": {"checksun": sum(nil)},
		"checksum: is required":                 {"checksum": nil},
		"checksum: must be an MD5":              {"checksum": "12"},
		"dataset: must be an identifier":        {"dataset": "12"},
		"filename: must not be empty":           {"filename": ""},
		"part_number: must be a whole number":   {"part_number": "x"},
		"part_number: must be between 1 and 1,": {"part_number": 2},
		"chunk_size: must be between 5242880":   {"chunk_size": 10, "total_size": 10},
		"direct_upload: must be true or false":  {"direct_upload": "yes", "chunk_size": minChunk, "total_size": 10},
		"total_size: must be an integer":        {"direct_upload": true, "chunk_size": minChunk, "total_size": 1.5},
		"is not in parts":                       {"part_number": 1},
	} {
		body := store.Doc{}
		for _, more := range []store.Doc{good, change} {
			for key, value := range more {
				body[key] = value
			}
		}
		route, status := "init-upload-component", 400
		switch {
		case body["chunk_size"] != nil:
			route = "create-multipart-upload"
		case body["part_number"] != nil:
			route = "get-upload-part-url"
			delete(body, "filename")
			begin := store.Doc{"dataset": good["dataset"], "component": "file", "filename": "a", "checksum": sum(nil)}
			if body["part_number"] == 1 {
				s.ok("data-manager/init-upload-component", begin)
				status = 409
			} else {
				begin["direct_upload"], begin["chunk_size"], begin["total_size"] = true, minChunk, 10
				s.ok("data-manager/create-multipart-upload", begin)
			}
		}
		s.refused(status, message, "data-manager/"+route, body)
	}
}
