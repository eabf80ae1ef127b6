package platform

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"transect/platform/internal/store"
)

// A job that is stored anew while its predecessor of the same number ends begins
// after that.
func TestJobBeginsAfterItsPredecessor(t *testing.T) {
	s := inside(t, Options{})
	ending := job{id: strings.Repeat("ab", 12), kind: archiveJob, attempt: 1}
	w := &workers{p: s.p, running: map[job]context.CancelCauseFunc{ending: func(error) {}}}
	undo := errors.New("undo")
	if err := s.p.write(t.Context(), func(stored tx) {
		stored.exec("INSERT INTO jobs (id, kind) VALUES (?, ?)", ending.id, ending.kind)
		if due := w.waiting(stored, ending.kind, 8); len(due) > 0 {
			t.Errorf("%v begins", due)
		}
		delete(w.running, ending)
		if due := w.waiting(stored, ending.kind, 8); len(due) != 1 || due[0] != ending {
			t.Errorf("%v begins", due)
		}
		panic(undo)
	}); !errors.Is(err, undo) {
		t.Fatal(err)
	}
}

// A panic while a file is read becomes one sentence; the stack goes to the log.
func TestPanicWhileReading(t *testing.T) {
	var log bytes.Buffer
	p := &Platform{log: slog.New(slog.NewTextHandler(&log, nil))} // without blobs: reading one panics
	blobID := strings.Repeat("ab", 16)
	for _, kind := range []string{"file", "image"} {
		log.Reset()
		doc := store.Doc{"_id": "d1", "type": kind}
		_, err := p.inspect(t.Context(), doc, []stored{{blob: blobID, filename: "DJI_0001.JPG", size: 5}}, job{})
		if err == nil {
			t.Fatal("no error")
		}
		message := errorText(err)
		if !strings.HasPrefix(message, "DJI_0001.JPG could not be read: ") || strings.ContainsAny(message, "\n\t") || strings.Contains(message, "goroutine") {
			t.Errorf("%s: %q", kind, message)
		}
		if said := log.String(); !strings.Contains(said, "goroutine") || !strings.Contains(said, "d1") || !strings.Contains(said, "panic: ") {
			t.Errorf("%s: the log says %q", kind, said)
		}
	}
}

// What a dataset says of a damaged file stays short, whatever is in the file.
func TestTextsOfErrorsAreBounded(t *testing.T) {
	s := start(t, Options{})
	project := s.project("p")
	for name, content := range map[string]string{
		"number.geojson": `{"type":"Point","coordinates":[` + strings.Repeat("1", 1<<20) + `,2]}`,
		"type.geojson":   `{"type":"` + strings.Repeat("Point", 1<<20) + `","coordinates":[1,2]}`,
		"broken.geojson": `{"type":` + strings.Repeat("1", 1<<20) + `x`,
	} {
		id := s.dataset("vector", store.Doc{"project": project}, "vector")
		s.upload(id, "vector", name, []byte(content))
		s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "ingestion.status", statusCompleted, statusFailed)
		if a := s.post("data-manager/describe-dataset", store.Doc{"dataset": id}); len(a.text) > 4*maxErrorText {
			t.Errorf("%s: the dataset has %d bytes", name, len(a.text))
		}
	}
}
