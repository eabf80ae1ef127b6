package platform

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"transect/platform/store"
)

// A fault of the platform's own while it reads a file is told in a sentence;
// the stack is the log's.
func TestFaultWhileReading(t *testing.T) {
	var log bytes.Buffer
	p := &Platform{log: slog.New(slog.NewTextHandler(&log, nil))} // without blobs: reading one panics
	p.options.fill()
	blobID := strings.Repeat("ab", 16)
	for name, c := range map[string]struct {
		files []stored
		doc   store.Doc
		want  string
	}{
		"which of several": {[]stored{{blob: blobID, filename: "DJI_0001.JPG", size: 5}},
			store.Doc{"_id": "d1", "type": "file", "components": []any{store.Doc{}, store.Doc{}}}, "DJI_0001.JPG could not be read: "},
		"of a photo": {[]stored{{blob: blobID, filename: "DJI_0002.JPG", size: 5}}, store.Doc{"_id": "d1", "type": "image"}, "DJI_0002.JPG could not be read: "},
	} {
		found, wrong := p.examine(c.doc, c.files, job{})
		told(t, p, name, c.doc, found, wrong, c.want, &log)
	}
	// A photo that was looked at as it came.
	doc := store.Doc{"_id": "d1", "components": []any{map[string]any{"filename": "DJI_0003.JPG"}}}
	told(t, p, "looked at", doc, store.Doc{}, problemOf(guarded(func() error { panic("odd tag") })), "DJI_0003.JPG could not be read: ", &log)
}

func told(t *testing.T, p *Platform, name string, doc, found store.Doc, wrong problem, want string, log *bytes.Buffer) {
	t.Helper()
	log.Reset()
	p.ingested(doc, found, wrong)
	message := store.Text(doc, "ingestion.error.message")
	if !strings.HasPrefix(message, want) || strings.ContainsAny(message, "\n\t") || strings.Contains(message, "goroutine") {
		t.Errorf("%s: %q", name, message)
	}
	if store.Text(doc, "ingestion.status") != ingestionFailed {
		t.Errorf("%s: %v", name, doc)
	}
	if said := log.String(); !strings.Contains(said, "goroutine") || !strings.Contains(said, "d1") || !strings.Contains(said, "panic: ") {
		t.Errorf("%s: the log says %q", name, said)
	}
}
