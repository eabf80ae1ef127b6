package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A page has one stream of server-sent events, GET /events?topic=KIND:ARG&…,
// whatever it follows. page.js opens it for the topics of the view:
//
//	event: run
//	id: run%3A20261122-…=4711
//	data: {"topic": "run:20261122-…", "data": …}
//
// The id holds the cursor of every topic, so that a browser that reconnects
// misses nothing and sees nothing twice.
//
// Browsers open six connections to a server, so that many streams of one
// browser would block its other requests: streams beyond streamsPerSession end
// after the first news, and the browser reconnects. page.js closes the stream of
// a hidden page.
const (
	streamsPerSession = 3
	streamsInAll      = 200
	shortStream       = 500 * time.Millisecond
	retryLive         = 2 * time.Second // the browser's delay before it reconnects
	retryPolling      = 5 * time.Second
	heartbeat         = 15 * time.Second
)

// topic follows one thing until ctx ends, or returns when no more events will come. arg is the text after the
// colon; after is the cursor of the last event that the browser received, "" for none. emit sends data as
// JSON; with the cursor "" the last cursor stays.
type topic func(ctx context.Context, arg, after string, emit emitter) error

type emitter func(cursor string, data any) error

// events counts the open streams.
type events struct {
	server *Server
	topics map[string]topic

	mu   sync.Mutex
	open map[string]int // streams by session
	all  int
}

func newEvents(s *Server) *events {
	return &events{server: s, topics: map[string]topic{}, open: map[string]int{}}
}

// topic registers a kind of live updates. Sections call it with their routes.
func (s *Server) topic(kind string, t topic) { s.events.topics[kind] = t }

// enter counts a stream; lasting is false when it must end soon.
func (e *events) enter(session string) (lasting bool, leave func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	lasting = e.open[session] < streamsPerSession && e.all < streamsInAll
	if !lasting {
		return false, func() {}
	}
	e.open[session]++
	e.all++
	return true, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.all--; e.open[session] > 1 {
			e.open[session]--
		} else {
			delete(e.open, session)
		}
	}
}

// serveEvents sends the stream of a page.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) error {
	names := r.URL.Query()["topic"]
	if len(names) == 0 || len(names) > 16 {
		return notFound("a stream follows 1 to 16 topics, not %d", len(names))
	}
	for _, name := range names {
		kind, _, _ := strings.Cut(name, ":")
		if s.events.topics[kind] == nil {
			return notFound("there is no topic %q", kind)
		}
	}
	lasting, leave := s.events.enter(s.gate.Session(r))
	defer leave()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() // streams end with the server
	retry := retryLive
	if !lasting {
		retry = retryPolling
		ctx, cancel = context.WithTimeout(ctx, shortStream)
		defer cancel()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer
	out := &stream{w: w, control: http.NewResponseController(w), after: cursors(r, names)}
	if err := out.print("retry: %d\n\n", retry.Milliseconds()); err != nil {
		return nil
	}
	var group sync.WaitGroup
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	silent := atomic.Int64{} // topics without an event yet
	silent.Store(int64(len(names)))
	for _, name := range names {
		kind, arg, _ := strings.Cut(name, ":")
		group.Go(func() {
			first := true
			err := s.events.topics[kind](ctx, arg, out.cursor(name), func(cursor string, data any) error {
				err := out.emit(kind, name, cursor, data)
				if first && silent.Add(-1) == 0 && !lasting {
					cancel() // a short stream ends after its news
				}
				first = false
				return err
			})
			if err != nil && ctx.Err() == nil {
				_ = out.emit("problem", name, "", describe(err)) // the browser reconnects
				cancel()
			}
		})
	}
	ended := make(chan struct{}) // nothing more is written
	go func() {
		defer close(ended)
		group.Wait()
		if ctx.Err() == nil {
			_ = out.emit("end", "", "", nil) // page.js does not reconnect
		}
		cancel()
	}()
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if out.print(": \n\n") != nil {
				cancel()
			}
		case <-ctx.Done():
			<-ended
			return nil
		}
	}
}

// stream writes the events of one browser.
type stream struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	after   url.Values // cursor by topic
}

// cursors returns the cursors that the browser last received, for the topics it follows.
func cursors(r *http.Request, names []string) url.Values {
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		last = r.URL.Query().Get("after")
	}
	after, _ := url.ParseQuery(last) // an invalid one starts over
	for name := range after {
		if !slices.Contains(names, name) {
			delete(after, name)
		}
	}
	return after
}

func (s *stream) cursor(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.after.Get(name)
}

func (s *stream) print(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(format, args...)
}

// write prints under the lock.
func (s *stream) write(format string, args ...any) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(heartbeat)) // drops a browser that stops reading
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		return err
	}
	return s.control.Flush()
}

// emit writes an event. Its id holds the cursors of all events up to and including this one, so that a browser whose
// connection breaks gets what it has missed.
func (s *stream) emit(kind, name, cursor string, data any) error {
	text, err := json.Marshal(map[string]any{"topic": name, "data": data})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cursor != "" {
		s.after.Set(name, cursor)
	}
	return s.write("event: %s\nid: %s\ndata: %s\n\n", kind, s.after.Encode(), text)
}
