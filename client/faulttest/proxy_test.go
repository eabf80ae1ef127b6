package faulttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// proxy stands between clients and a platform. It counts the requests that
// come and does to some of them what networks and gateways do.
type proxy struct {
	behind  http.Handler
	server  *httptest.Server
	clock   *clock
	closing chan struct{}

	mu       sync.Mutex
	requests int
	plan     func(n int, r *http.Request) fault // of request n, from 0; nil for none
	struck   int                                // how many had a fault
	log      []string                           // what came
	late     []late
}

// fault is done in the place of just forwarding a request.
type fault func(p *proxy, w http.ResponseWriter, r *http.Request)

// late is a request that reaches the platform some time after its sender was
// told that it did not.
type late struct {
	at int // once so many requests were answered
	do func()
}

func newProxy(behind http.Handler, c *clock) *proxy {
	p := &proxy{behind: behind, clock: c, closing: make(chan struct{})}
	p.server = httptest.NewServer(p)
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	n := p.requests
	p.requests++
	var f fault
	if p.plan != nil {
		f = p.plan(n, r)
	}
	entry := fmt.Sprintf("%3d %s %s", n, r.Method, r.URL.Path)
	if f != nil {
		p.struck++
		entry += "  <- fault"
	}
	p.log = append(p.log, entry)
	p.mu.Unlock()
	if f == nil {
		f = forward
	}
	defer p.deliver(n)
	f(p, w, r)
}

// deliver lets late requests through whose time has come.
func (p *proxy) deliver(n int) {
	p.mu.Lock()
	var due, rest []late
	for _, l := range p.late {
		if l.at <= n {
			due = append(due, l)
		} else {
			rest = append(rest, l)
		}
	}
	p.late = rest
	p.mu.Unlock()
	for _, l := range due {
		l.do()
	}
}

// heal ends all faults, as when a network is back. What is late arrives.
func (p *proxy) heal() {
	p.mu.Lock()
	p.plan = nil
	p.mu.Unlock()
	p.deliver(1 << 30)
}

func forward(p *proxy, w http.ResponseWriter, r *http.Request) { p.behind.ServeHTTP(w, r) }

// answered forwards a request and keeps the answer.
func (p *proxy) answered(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	p.behind.ServeHTTP(answer, r)
	return answer
}

// refuse answers without the platform.
func refuse(status int, header ...string) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		reply(w, status, header...)
	}
}

// reply writes an error as a platform or, for the statuses of gateways, a page
// as a server in between does.
func reply(w http.ResponseWriter, status int, header ...string) {
	for i := 0; i < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	if status == http.StatusBadGateway || status == http.StatusGatewayTimeout {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<html><head><title>%d %s</title></head></html>", status, http.StatusText(status))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"service":"proxy","code":"Fault","message":"%s"}`, http.StatusText(status))
}

// early answers before the body of the request has come, as busy servers do.
func early(status int, header ...string) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) { reply(w, status, header...) }
}

// replace lets a request have its effect and gives another answer.
func replace(status int) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		p.answered(r)
		reply(w, status)
	}
}

// cut breaks the connection before the platform sees the request.
func cut(p *proxy, w http.ResponseWriter, r *http.Request) { breakOff(w) }

// cutInBody breaks it in the middle of the request's body.
func cutInBody(p *proxy, w http.ResponseWriter, r *http.Request) {
	io.CopyN(io.Discard, r.Body, r.ContentLength/2)
	breakOff(w)
}

// cutAnswer lets the request have its effect and breaks the connection.
func cutAnswer(p *proxy, w http.ResponseWriter, r *http.Request) {
	p.answered(r)
	breakOff(w)
}

// truncate breaks the connection in the middle of the answer's body.
func truncate(p *proxy, w http.ResponseWriter, r *http.Request) {
	answer := p.answered(r)
	conn := hijack(w)
	defer reset(conn)
	length := answer.Body.Len()
	answer.Header().Set("Content-Length", strconv.Itoa(length))
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n", answer.Code, http.StatusText(answer.Code))
	answer.Header().Write(conn)
	io.WriteString(conn, "\r\n")
	conn.Write(answer.Body.Bytes()[:length/2])
	time.Sleep(time.Millisecond) // a reset overtakes what was sent
}

// flip changes one bit of an answer's body.
func flip(p *proxy, w http.ResponseWriter, r *http.Request) {
	answer := p.answered(r)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	body := answer.Body.Bytes()
	if len(body) > 0 {
		body[len(body)/2] ^= 1 << 3
	}
	w.WriteHeader(answer.Code)
	w.Write(body)
}

// half ends the body of an answer in its middle as if it were its end.
func half(p *proxy, w http.ResponseWriter, r *http.Request) {
	answer := p.answered(r)
	conn := hijack(w)
	defer conn.Close()
	answer.Header().Del("Content-Length")
	answer.Header().Set("Connection", "close")
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n", answer.Code, http.StatusText(answer.Code))
	answer.Header().Write(conn)
	io.WriteString(conn, "\r\n")
	conn.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
}

// delay answers 504 at once and delivers the request only later, behind that
// many others.
func delay(behind int) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			breakOff(w)
			return
		}
		again := r.Clone(context.Background())
		again.Body = io.NopCloser(bytes.NewReader(body))
		p.mu.Lock()
		p.late = append(p.late, late{at: p.requests + behind, do: func() { p.answered(again) }})
		p.mu.Unlock()
		reply(w, http.StatusGatewayTimeout)
	}
}

// expire lets so much time pass at the platform: after some of it signed
// addresses are refused, after more tokens as well.
func expire(d time.Duration) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		p.clock.pass(d)
		forward(p, w, r)
	}
}

// dated limits requests until a moment (Retry-After as a date).
func dated(status int) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		refuse(status, "Retry-After", time.Now().Add(time.Second).UTC().Format(http.TimeFormat))(p, w, r)
	}
}

// slow lets a request wait on its way.
func slow(p *proxy, w http.ResponseWriter, r *http.Request) {
	time.Sleep(200 * time.Millisecond)
	forward(p, w, r)
}

// silent never answers; the platform may have had the request.
func silent(effect bool) fault {
	return func(p *proxy, w http.ResponseWriter, r *http.Request) {
		if effect {
			p.answered(r)
		} else {
			io.Copy(io.Discard, r.Body)
		}
		select {
		case <-r.Context().Done():
		case <-p.closing:
		}
		panic(http.ErrAbortHandler)
	}
}

// trickle sends an answer in drops.
func trickle(p *proxy, w http.ResponseWriter, r *http.Request) {
	answer := p.answered(r)
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
	w.WriteHeader(answer.Code)
	for drop := max(answer.Body.Len()/20, 1); answer.Body.Len() > 0; time.Sleep(5 * time.Millisecond) {
		w.Write(answer.Body.Next(drop))
		http.NewResponseController(w).Flush()
	}
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}

func breakOff(w http.ResponseWriter) { reset(hijack(w)) }

// reset ends a connection as a crashed host does.
func reset(conn net.Conn) {
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// kind is one way to go wrong.
type kind struct {
	name  string
	fault fault
	lasts fault // of all requests after it; nil when it happens once

	silent bool // the client has to time out
	again  bool // it shows once the workflow has ended: it is run again in any case
}

// silence is how long a client waits for hosts that do not answer.
const silence = 1500 * time.Millisecond

// kinds are all of them.
var kinds = []kind{
	{name: "429 before", fault: refuse(429)},
	{name: "429 Retry-After", fault: refuse(429, "Retry-After", "1")},
	{name: "500 before", fault: refuse(500)},
	{name: "502 before", fault: refuse(502)},
	{name: "503 before", fault: refuse(503)},
	{name: "429 Retry-After date", fault: dated(429)},
	{name: "503 Retry-After", fault: refuse(503, "Retry-After", "1")},
	{name: "503 early", fault: early(503, "Retry-After", "1")},
	{name: "504 before", fault: refuse(504)},
	{name: "cut before", fault: cut},
	{name: "cut in body", fault: cutInBody},
	{name: "500 after", fault: replace(500)},
	{name: "502 after", fault: replace(502)},
	{name: "503 after", fault: replace(503)},
	{name: "504 after", fault: replace(504)},
	{name: "504 late", fault: delay(1)},
	{name: "504 after the end", fault: delay(1 << 29), again: true},
	{name: "slow", fault: slow},
	{name: "silent before", fault: silent(false), silent: true},
	{name: "silent after", fault: silent(true), silent: true},
	{name: "trickle", fault: trickle},
	{name: "cut after", fault: cutAnswer},
	{name: "truncated", fault: truncate},
	{name: "half", fault: half},
	{name: "401", fault: refuse(401)},
	{name: "403", fault: refuse(403)},
	{name: "addresses expired", fault: expire(20 * time.Minute)},
	{name: "all expired", fault: expire(5 * time.Hour)},
	{name: "down", fault: refuse(502), lasts: refuse(502)},
	{name: "gone", fault: cut, lasts: cut},
	{name: "gone after", fault: cutAnswer, lasts: cut},
}

// strike plans a kind of fault for request n.
func (p *proxy) strike(k kind, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = func(i int, r *http.Request) fault {
		switch {
		case i == n:
			return k.fault
		case i > n:
			return k.lasts
		}
		return nil
	}
}

// clock is the platform's.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}
