package platform

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"transect/platform/internal/store"
)

// Another process receives the bytes of an upload that this one began.
func TestUploadAcrossProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "platform")
	one, two := start(t, Options{Dir: dir}), start(t, Options{Dir: dir})
	content := photo(t, asJPEG)
	id := one.dataset("image", store.Doc{"company": one.company}, "image")
	begin := store.Doc{"dataset": id, "component": "image", "filename": "a.jpg", "checksum": sum(content)}
	signed := one.ok("data-manager/init-upload-component", begin)
	signed["put_url"] = two.base + store.Text(signed, "put_url")[len(one.base):]
	if a := two.put(signed, content); a.status != 200 {
		t.Fatalf("put: %d %s", a.status, a.text)
	}
	one.ok("data-manager/complete-upload-component", store.Doc{"dataset": id, "component": "image"})
	doc := two.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed")
	if text(doc["width"]) != "640" {
		t.Errorf("ingested %v", doc)
	}
}

// A photo is ingested once its upload is complete, a damaged one fails, and other
// bytes in its place are ingested again.
func TestPhotoIngestion(t *testing.T) {
	s := start(t, Options{})
	content := photo(t, asJPEG)
	for want, bytes := range map[string][]byte{"completed": content, "failed": content[:len(content)/2]} {
		id := s.dataset("image", store.Doc{"company": s.company}, "image")
		s.upload(id, "image", "a.jpg", bytes)
		doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed", "failed")
		if store.Text(doc, "ingestion.status") != want || text(doc["size"]) != strconv.Itoa(len(bytes)) ||
			(want == "failed") != (store.Text(doc, "ingestion.error.message") != "") {
			t.Errorf("%s: %v", want, doc)
		}
		s.upload(id, "image", "a.png", photo(t, asPNG))
		doc = s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed", "failed")
		if store.Text(doc, "ingestion.status") != "completed" || store.Lookup(doc, "ingestion.error") != nil {
			t.Errorf("after %s: %v", want, doc["ingestion"])
		}
	}
}

// Bytes for an upload that a later one replaced change nothing, whether the later
// one is in progress or complete.
func TestReplacedUpload(t *testing.T) {
	s := start(t, Options{})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	begin := func(content []byte) store.Doc {
		return s.ok("data-manager/init-upload-component", store.Doc{"dataset": id, "component": "file", "filename": "a", "checksum": sum(content)})
	}
	ref := store.Doc{"dataset": id, "component": "file"}
	first, second := noise(10), noise(20)
	late := begin(first)
	signed := begin(second)
	s.expect(s.put(late, first), 409, "a later one replaced it")
	if a := s.put(signed, second); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.text)
	}
	s.expect(s.put(late, first), 409, "a later one replaced it")
	s.ok("data-manager/complete-upload-component", ref)
	s.expect(s.put(late, first), 409, "a later one replaced it")
	if a := s.get("/data-manager/download-component?dataset=" + id + "&component=file"); a.text != string(second) {
		t.Errorf("%d bytes", len(a.text))
	}
	// An upload that began and got no bytes is not complete, though an earlier one was.
	begin(first)
	s.refused(400, "missing", "data-manager/complete-upload-component", ref)
}

// An upload in a single request is complete with it, also when it is repeated, and
// replaces one that began before.
func TestSingleRequestUpload(t *testing.T) {
	s := start(t, Options{})
	id := s.dataset("image", store.Doc{"company": s.company}, "image")
	content := photo(t, asJPEG)
	begin := store.Doc{"dataset": id, "component": "image", "filename": "a.jpg", "checksum": sum(content)}
	late := s.ok("data-manager/init-upload-component", begin)
	q := url.Values{}
	for key, value := range begin {
		q.Set(key, fmt.Sprint(value))
	}
	for range 2 {
		if a := s.do(s.request("POST", "/data-manager/upload-component?"+q.Encode(), bytes.NewReader(content))); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.text)
		}
		doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", "completed", "failed")
		if text(doc["width"]) != "640" {
			t.Errorf("%v", doc)
		}
		if a := s.get("/data-manager/download-component?dataset=" + id + "&component=image"); a.text != string(content) {
			t.Errorf("%d bytes", len(a.text))
		}
	}
	modified := s.ok("data-manager/describe-dataset", store.Doc{"dataset": id})["modification_date"]
	if a := s.do(s.request("POST", "/data-manager/upload-component?"+q.Encode(), bytes.NewReader(content))); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.text)
	}
	if now := s.ok("data-manager/describe-dataset", store.Doc{"dataset": id})["modification_date"]; now != modified {
		t.Errorf("changed by the same bytes: %v, before %v", now, modified)
	}
	s.expect(s.put(late, content), 409, "a later one replaced it")
	s.ok("data-manager/complete-upload-component", store.Doc{"dataset": id, "component": "image"}) // it is
	q.Set("component", "other")
	s.expect(s.do(s.request("POST", "/data-manager/upload-component?"+q.Encode(), bytes.NewReader(content))), 404, "component")
	r := s.request("POST", "/data-manager/upload-component?"+q.Encode(), bytes.NewReader(content))
	r.Header.Set("Authorization", "Bearer wrong")
	s.expect(s.do(r), 401, "")
}

// An upload in a single request begins once its bytes are here: one that breaks
// off replaces nothing, and two that overlap do not refuse each other.
func TestOverlappingUploads(t *testing.T) {
	s := start(t, Options{})
	id := s.dataset("image", store.Doc{"company": s.company}, "image")
	content := photo(t, asJPEG)
	ref := store.Doc{"dataset": id, "component": "image"}
	q := url.Values{"dataset": {id}, "component": {"image"}, "filename": {"a.jpg"}, "checksum": {sum(content)}}
	patient := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	defer patient.CloseIdleConnections()
	// send returns when the platform has begun to read the body.
	send := func() (*io.PipeWriter, chan int) {
		body, client := io.Pipe()
		status := make(chan int, 1)
		r := s.request("POST", "/data-manager/upload-component?"+q.Encode(), body)
		r.Header.Set("Expect", "100-continue")
		go func() {
			a, err := patient.Do(r)
			if err != nil {
				body.CloseWithError(err)
				status <- 0
				return
			}
			a.Body.Close()
			status <- a.StatusCode
		}()
		client.Write(content[:100])
		return client, status
	}
	s.ok("data-manager/create-multipart-upload", store.Doc{"dataset": id, "component": "image", "filename": "a.jpg",
		"checksum": sum(content), "chunk_size": minChunk, "total_size": len(content), "direct_upload": true})
	client, status := send()
	client.CloseWithError(io.ErrClosedPipe)
	<-status
	s.put(s.ok("data-manager/get-upload-part-url", store.Doc{"dataset": id, "component": "image", "part_number": 1, "checksum": sum(content)}), content)
	s.ok("data-manager/complete-multipart-upload", ref)

	first, firstStatus := send()
	second, secondStatus := send()
	end := func(client *io.PipeWriter, status chan int) {
		client.Write(content[100:])
		client.Close()
		if got := <-status; got != 200 {
			t.Error(got)
		}
	}
	end(first, firstStatus)
	end(second, secondStatus)
}
