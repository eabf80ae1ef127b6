package httpserve

import (
	"cmp"
	"io"
	"net"
	"net/http"
	"time"
)

// Limits limits the resources that one peer may use.
type Limits struct {
	// Stall is how long a request's body may make no progress.
	Stall time.Duration
	// Grace is how long a body may be slower than MinRate.
	Grace time.Duration
	// Rest is how long the part of a body may take to arrive that its handler did not read, such as for a
	// request without a token.
	Rest time.Duration
	// Connections limits the open connections of one peer.
	Connections int
}

// MinRate is the minimum rate of a body, in bytes per second, after Grace.
const MinRate = 1 << 10

// The limits of a Server that sets none.
var standard = Limits{Stall: time.Minute, Grace: 30 * time.Second, Rest: 5 * time.Second, Connections: 512}

func (l Limits) filled() Limits {
	return Limits{cmp.Or(l.Stall, standard.Stall), cmp.Or(l.Grace, standard.Grace), cmp.Or(l.Rest, standard.Rest),
		cmp.Or(l.Connections, standard.Connections)}
}

// Listener limits the connections of each peer.
func (l Limits) Listener(listener net.Listener) net.Listener {
	return &peers{Listener: listener, most: l.Connections, open: map[string]int{}}
}

// Handler limits how long a request may stall its connection, whether the length of its body is declared or
// not: while the handler reads it, and while the server reads the rest to answer a handler that did not.
func (l Limits) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			h.ServeHTTP(w, r)
			return
		}
		body := &limitedBody{ReadCloser: r.Body, limits: l, connection: http.NewResponseController(w), left: l.Grace}
		body.allow(l.Stall)
		r.Body = body
		h.ServeHTTP(w, r)
		if !body.ended {
			body.allow(l.Rest)
		}
	})
}

// limitedBody is the body of a request. Its reads fail when no byte arrives, or, after a grace period, when
// the body arrives too slowly.
type limitedBody struct {
	io.ReadCloser
	limits     Limits
	connection *http.ResponseController
	left       time.Duration // how long the peer may still delay the server
	ended      bool
}

func (b *limitedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.allow(min(b.limits.Stall, b.left))
	n, err := b.ReadCloser.Read(p)
	if b.ended = b.ended || err == io.EOF; b.ended {
		// The server now waits for the end of the connection: a deadline that passes
		// while the request is worked on would cancel it.
		_ = b.connection.SetReadDeadline(time.Time{})
	} else {
		b.allow(b.limits.Stall)
	}
	b.left += time.Duration(n)*time.Second/MinRate - time.Since(began)
	b.left = min(b.left, 10*b.limits.Grace)
	return n, err
}

// allow sets a deadline for reads of the connection.
func (b *limitedBody) allow(d time.Duration) { _ = b.connection.SetReadDeadline(time.Now().Add(d)) }
