package web

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"transect/client"
	"transect/client/fault"
)

// pageTimeout is how long a page waits for the platform before it reports that it does not answer.
const pageTimeout = 15 * time.Second

// errTimeout is the cancellation cause of a page that took too long.
var errTimeout = fault.Hinted(fault.Of(&fault.TimeoutError{}, "the platform did not answer within %s", pageTimeout),
	"the page tries again; check the network and the platform")

// platform returns the client, or an error when none is connected.
func (s *Server) platform() (*client.Client, error) {
	if s.Client == nil {
		return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "%w", client.ErrNoConnection),
			"start transect ui with --local, --url or --profile, or log in first: transect login URL")
	}
	return s.Client, nil
}

// connected adapts a handler that needs the platform.
func (s *Server) connected(h func(w http.ResponseWriter, r *http.Request, c *client.Client) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := s.platform()
		if err != nil {
			return err
		}
		return h(w, r, c)
	}
}

// bounded limits how long a handler waits for the platform.
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

// nameCache caches the names of projects and missions: tables show many records of few of them.
type nameCache struct {
	mu    sync.Mutex
	names map[string]string
	until time.Time
}

const namesKept = 30 * time.Second

// names returns the names of projects and missions by id, or their id if they have none.
func (s *Server) names(ctx context.Context, projects, missions []string) (map[string]string, error) {
	c, err := s.platform()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for chunk := range s.nameCache.missing(projects, found) {
		page, err := c.Projects.Search.Page(ctx, namesOf(chunk))
		if err != nil {
			return nil, err
		}
		for _, p := range page.Results {
			found[p.ID] = cmp.Or(p.Name, p.ID)
		}
	}
	for chunk := range s.nameCache.missing(missions, found) {
		page, err := c.Missions.Search.Page(ctx, namesOf(chunk))
		if err != nil {
			return nil, err
		}
		for _, m := range page.Results {
			found[m.ID] = cmp.Or(m.Name, m.ID)
		}
	}
	s.nameCache.mu.Lock()
	defer s.nameCache.mu.Unlock()
	maps.Copy(s.nameCache.names, found)
	for _, id := range slices.Concat(projects, missions) {
		found[id] = cmp.Or(found[id], id)
	}
	return found, nil
}

func namesOf(ids []string) client.Query {
	return client.Query{Filter: among("_id", ids), Limit: new(len(ids)), Fields: only("name")}
}

// missing adds cached names to found, and returns the other ids in chunks.
func (n *nameCache) missing(ids []string, found map[string]string) iter.Seq[[]string] {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); n.names == nil || now.After(n.until) {
		n.names, n.until = map[string]string{}, now.Add(namesKept)
	}
	var unknown []string
	for _, id := range ids {
		if name, ok := n.names[id]; ok {
			found[id] = name
		} else if id != "" && !slices.Contains(unknown, id) {
			unknown = append(unknown, id)
		}
	}
	return slices.Chunk(unknown, 100)
}

// platformState is the platform's state as pages show it.
type platformState struct {
	Away    bool   `json:"away"`
	Message string `json:"message,omitempty"`
}

// watchPlatform emits whether the platform is reachable.
func (s *Server) watchPlatform(ctx context.Context, _, after string, emit emitter) error {
	if s.Client == nil {
		return nil
	}
	return follow(ctx, after, s.Poll, emit, func() (version string, news any, ended bool, err error) {
		state, err := s.watched.get("", s.Poll/2, s.askPlatform)
		return strconv.FormatBool(state.Away) + state.Message, state, false, err
	})
}

// askPlatform searches for a single project, on behalf of all pages.
func (s *Server) askPlatform() (state platformState, _ error) {
	ctx, cancel := context.WithTimeoutCause(s.ctx, pageTimeout, errTimeout)
	defer cancel()
	_, err := s.Client.Projects.Search.Page(ctx, client.Query{Limit: new(1), Fields: only("name")})
	if err != nil && s.ctx.Err() == nil {
		if p := describe(err); p.Away {
			state = platformState{true, p.Message}
		}
	}
	return state, nil
}

// timedCache caches a value, for a while and for a key.
type timedCache[T any] struct {
	mu    sync.Mutex
	key   string
	until time.Time
	value T
	err   error
}

func (k *timedCache[T]) get(key string, life time.Duration, read func() (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key != k.key || !time.Now().Before(k.until) {
		k.value, k.err = read()
		k.key, k.until = key, time.Now().Add(life)
	}
	return k.value, k.err
}
