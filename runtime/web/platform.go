package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"transect/client"
	"transect/client/fault"
)

// pageTimeout is how long a page waits for the platform before it says that it
// does not answer.
const pageTimeout = 15 * time.Second

// errTimeout is the cause of a page that took too long.
var errTimeout = fault.Hinted(fault.Of(&fault.TimeoutError{}, "the platform did not answer within %s", pageTimeout),
	"the page tries again; check the network and the platform")

// platform is the client, or an error where none is connected.
func (s *Server) platform() (*client.Client, error) {
	if s.Client == nil {
		return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "%w", client.ErrNoConnection),
			"start transect ui with --local, --url or --profile, or log in first: transect login URL")
	}
	return s.Client, nil
}

// bounded makes a handler wait for the platform so long and no longer.
func bounded(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeoutCause(r.Context(), pageTimeout, errTimeout)
		defer cancel()
		err := h(w, r.WithContext(ctx))
		if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
			return errTimeout
		}
		return err
	}
}

// named keeps the names of projects and missions for a while: tables show many
// records of few of them.
type named struct {
	mu    sync.Mutex
	names map[string]string
	until time.Time
}

const namesKept = 30 * time.Second

// names returns the names of resources by id; what has none is its id.
func (s *Server) names(ctx context.Context, manager string, ids []string) (map[string]string, error) {
	c, err := s.platform()
	if err != nil {
		return nil, err
	}
	n := &s.named
	found, asked := map[string]string{}, []any{}
	n.mu.Lock()
	if now := time.Now(); n.names == nil || now.After(n.until) {
		n.names, n.until = map[string]string{}, now.Add(namesKept)
	}
	for _, id := range ids {
		if name, ok := n.names[id]; ok {
			found[id] = name
		} else if id != "" && !slices.Contains(asked, any(id)) {
			asked = append(asked, id)
		}
	}
	n.mu.Unlock()
	for chunk := range slices.Chunk(asked, 100) {
		q := client.Query{Filter: client.Filter{"_id": map[string]any{"$in": chunk}}, Limit: new(len(chunk)),
			Fields: only("name")}
		add := func(id, name string) {
			if name != "" {
				found[id] = name
			}
		}
		switch manager {
		case "projects":
			page, err := c.Projects.Search.Page(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, p := range page.Results {
				add(p.ID, p.Name)
			}
		case "missions":
			page, err := c.Missions.Search.Page(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, m := range page.Results {
				add(m.ID, m.Name)
			}
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		if found[id] == "" {
			found[id] = id
			continue
		}
		n.names[id] = found[id]
	}
	return found, nil
}

// watch is the topic platform: whether the platform is there. One goroutine asks
// for all pages.
type watch struct {
	mu      sync.Mutex
	pages   int
	state   platformState
	changed chan struct{} // closed when state has changed
	stop    context.CancelFunc
}

// platformState is what pages are told about the platform.
type platformState struct {
	Away    bool   `json:"away"`
	Message string `json:"message,omitempty"`
}

func (s *Server) watchPlatform(ctx context.Context, _, _ string, emit emitter) error {
	if s.Client == nil {
		return nil
	}
	w := &s.watch
	w.mu.Lock()
	if w.pages++; w.pages == 1 {
		var asking context.Context
		asking, w.stop = context.WithCancel(s.ctx)
		w.changed = make(chan struct{})
		go s.askPlatform(asking)
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.pages--; w.pages == 0 {
			w.stop()
		}
	}()
	for {
		w.mu.Lock()
		state, changed := w.state, w.changed
		w.mu.Unlock()
		if err := emit("", state); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// askPlatform asks for a single project now and then.
func (s *Server) askPlatform(ctx context.Context) {
	for {
		asking, cancel := context.WithTimeoutCause(ctx, pageTimeout, errTimeout)
		_, err := s.Client.Projects.Search.Page(asking, client.Query{Limit: new(1), Fields: only("name")})
		cancel()
		state := platformState{}
		if err != nil && ctx.Err() == nil {
			if p := describe(err); p.Away {
				state = platformState{true, p.Message}
			}
		}
		s.watch.set(ctx, state)
		select {
		case <-time.After(s.Poll):
		case <-ctx.Done():
			return
		}
	}
}

func (w *watch) set(ctx context.Context, state platformState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil && state != w.state {
		w.state = state
		close(w.changed)
		w.changed = make(chan struct{})
	}
}
