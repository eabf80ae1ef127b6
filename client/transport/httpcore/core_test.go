package httpcore

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestWritesAreAsked: what is refused, or waits, between the beginning of a request
// and its connection does not arrive.
func TestWritesAreAsked(t *testing.T) {
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	over, lease := errors.New("over"), make(chan error, 1)
	c, err := New(Options{Env: func(string) (string, bool) { return "", false }, Connections: 1,
		Writing: func() error { return <-lease }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send := func() error {
		request := &Request{Method: http.MethodPost, URL: address, Header: http.Header{}, Redirects: -1}
		answer, err := c.Do(t.Context(), request)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	lease <- over
	if err := send(); !errors.Is(err, over) || arrived.Load() != 0 {
		t.Errorf("refused: %v, %d requests arrived", err, arrived.Load())
	}
	sent := make(chan error, 1)
	go func() { sent <- send() }()
	time.Sleep(20 * time.Millisecond) // what it would send is sent by now
	if n := arrived.Load(); n != 0 {
		t.Errorf("%d requests arrived while it waited", n)
	}
	lease <- nil
	if err := <-sent; err != nil || arrived.Load() != 1 {
		t.Errorf("%v, %d requests arrived", err, arrived.Load())
	}
}

// A certificate that is not valid now may be a wrong clock's fault.
func TestCertificateDates(t *testing.T) {
	for reason, clock := range map[x509.InvalidReason]bool{x509.Expired: true, x509.NotAuthorizedToSign: false} {
		err := &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: reason}}
		f := Failure("host", err, Names{CACert: "--ca-cert"}).Facts()
		if clock != strings.Contains(f.Hint, "this machine's clock, which says 2") {
			t.Errorf("%v: %s", reason, f.Hint)
		}
	}
}
