package platform

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"transect/client/transport/httpserve"
	"transect/platform/internal/store"
)

// A client that stalls in the middle of a body is answered 408, one that is slow
// or waits for a slow answer is not.
func TestStalledBody(t *testing.T) {
	s := inside(t, Options{})
	const timeout = 300 * time.Millisecond
	server := httptest.NewServer(httpserve.Limits{Stall: timeout, Grace: 100 * timeout}.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.p.handler.ServeHTTP(w, r)
		time.Sleep(2 * timeout)
		if r.Context().Err() != nil && r.Method == "POST" {
			t.Error("a request that was read is cancelled")
		}
	})))
	defer server.Close()
	s.base, s.http = server.URL, server.Client()
	slow, client := io.Pipe()
	go func() {
		for _, b := range []byte(`{"filter":{}}`) {
			client.Write([]byte{b})
			time.Sleep(timeout / 10)
		}
		client.Close()
	}()
	if a := s.do(s.request("POST", "/data-manager/search-datasets", slow)); a.status != 200 {
		t.Errorf("slow: %d %s", a.status, a.text)
	}
	stalled, client := io.Pipe()
	defer client.Close()
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	signed := s.ok("data-manager/init-upload-component", store.Doc{"dataset": id, "component": "file", "filename": "a", "checksum": sum(nil)})
	go client.Write([]byte("some"))
	r := s.request("PUT", store.Text(signed, "put_url"), stalled)
	for name, value := range signed["headers"].(store.Doc) {
		r.Header.Set(name, value.(string))
	}
	a := s.do(r)
	if a.status != 408 || !strings.Contains(a.text, "no byte") {
		t.Errorf("stalled: %d %s", a.status, a.text)
	}
}

// A body that comes in trickles is cut off, however regular they are.
func TestTrickledBody(t *testing.T) {
	s := inside(t, Options{})
	server := httptest.NewServer(httpserve.Limits{Stall: time.Minute, Grace: 300 * time.Millisecond}.Handler(s.p.handler))
	defer server.Close()
	s.base, s.http = server.URL, server.Client()
	body, client := io.Pipe()
	defer client.Close()
	go func() {
		for _, err := client.Write([]byte("{")); err == nil; _, err = client.Write([]byte(" ")) {
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if a := s.do(s.request("POST", "/data-manager/search-datasets", body)); a.status != 408 {
		t.Errorf("trickles: %d %s", a.status, a.text)
	}
}

// counted counts what is read of a body.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// Bodies are read for those who have a token, and no further than their route
// needs.
func TestBodyBounds(t *testing.T) {
	s := inside(t, Options{})
	post := func(path string, body io.Reader, header string) (status int, read int64) {
		c := &counted{Reader: body}
		r := httptest.NewRequest("POST", path, c)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		s.p.handler.ServeHTTP(w, r)
		return w.Code, c.n
	}
	endless := func() io.Reader { return io.MultiReader(strings.NewReader(`{"x":"`), forever('a')) }
	bearer := "Bearer " + s.token
	for _, c := range []struct {
		path, header string
		body         io.Reader
		status       int
		most         int64
	}{
		{"/data-manager/search-datasets", "", endless(), 401, 0},
		{"/data-manager/search-datasets", "Bearer wrong", endless(), 401, 0},
		{"/data-manager/create-datasets", "Bearer wrong", endless(), 401, 0},
		{"/data-manager/upload-component?dataset=x", "", endless(), 401, 0},
		{"/data-manager/nothing", "", endless(), 404, 0},
		{"/dxauth/oauth/token", "", endless(), 413, 70 << 10},
		{"/data-manager/init-upload-component", bearer, endless(), 413, 70 << 10},
		{"/data-manager/search-datasets", bearer, endless(), 413, 5 << 20},
		{"/data-manager/create-datasets", bearer, strings.NewReader(`{"datasets":[` + strings.Repeat("{},", 2_000_000) + `{}]}`), 413, 64 << 20},
		{"/data-manager/search-datasets", bearer, strings.NewReader(`{"filter":{"$or":[` + strings.Repeat(`{"name":"a"},`, 5000) + `{}]}}`), 400, 5 << 20},
		{"/data-manager/search-datasets", bearer, strings.NewReader(`{"filter":{"name":{"$in":[` + strings.Repeat(`"a",`, 50000) + `"b"]}}}`), 200, 5 << 20},
	} {
		if status, read := post(c.path, c.body, c.header); status != c.status || read > c.most {
			t.Errorf("%s: %d, %d bytes read, want %d and at most %d", c.path, status, read, c.status, c.most)
		}
	}
}

// forever is a reader of one byte without end.
type forever byte

func (b forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// What is no proper body is the request's mistake.
func TestMalformedChunks(t *testing.T) {
	s := start(t, Options{})
	for _, chunks := range []string{"zz\r\n{}\r\n", "2\r\n{}xx\r\n0\r\n\r\n", "-1\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "POST /data-manager/search-datasets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.token+
			"\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if !strings.Contains(line, "400") {
			t.Errorf("%q: %s %v", chunks, line, err)
		}
		conn.Close()
	}
}
