package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/transport/httpserve"
)

// The id of an event counts no other that is written after it: a browser whose connection breaks between the two
// would never receive that one.
func TestEventIDs(t *testing.T) {
	t.Parallel()
	recorder := &slow{ResponseRecorder: httptest.NewRecorder(), t: t}
	out := &stream{w: recorder, control: http.NewResponseController(recorder), after: url.Values{}}
	var all sync.WaitGroup
	for _, topic := range []string{"a", "b", "c"} {
		all.Go(func() {
			for n := range 50 {
				if err := out.emit("k", topic, strconv.Itoa(n), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	sent := url.Values{}
	for event := range strings.SplitSeq(strings.TrimSpace(recorder.Body.String()), "\n\n") {
		lines := strings.Split(event, "\n")
		id, err := url.ParseQuery(strings.TrimPrefix(lines[1], "id: "))
		_, topic, _ := strings.Cut(lines[2], `"topic":"`)
		topic, _, _ = strings.Cut(topic, `"`)
		sent.Set(topic, id.Get(topic))
		if err != nil || id.Encode() != sent.Encode() {
			t.Fatalf("an event says %v after %v, %v", id, sent, err)
		}
	}
}

// slow takes its time, and fails when it is written to after its handler has returned.
type slow struct {
	*httptest.ResponseRecorder
	returned atomic.Bool
	t        *testing.T
}

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(100 * time.Microsecond)
	if s.returned.Load() {
		s.t.Errorf("written after the end: %s", p)
	}
	return s.ResponseRecorder.Write(p)
}

// A stream whose browser leaves as its topics end is not written to any more.
func TestStreamEndsOnce(t *testing.T) {
	t.Parallel()
	gate, err := httpserve.NewGate("127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{ctx: t.Context(), gate: gate}
	s.events = newEvents(s)
	for n := range 300 {
		ctx, leave := context.WithCancel(t.Context())
		s.topic("short", func(context.Context, string, string, emitter) error { go leave(); return nil })
		w := &slow{ResponseRecorder: httptest.NewRecorder(), t: t}
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprint("/events?topic=short:", n), nil)
		if err := s.serveEvents(w, r); err != nil {
			t.Fatal(err)
		}
		w.returned.Store(true)
	}
	time.Sleep(10 * time.Millisecond)
}
