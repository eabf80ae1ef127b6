package stdlib_test

import (
	"bufio"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"transect/testdata/smtptest"
)

// exampleWorld is the environment examples run in: https://example.com and a
// mail server answer, from this process.
func exampleWorld(t *testing.T) func(string) (string, bool) {
	t.Helper()
	site := httptest.NewTLSServer(http.HandlerFunc(exampleSite)) // its certificate is for example.com
	t.Cleanup(site.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			t.Errorf("an example asks for %s %s", r.Method, r.Host)
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		client, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		tunnel(client, buffer, site.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	mail := smtptest.New(smtptest.Options{StartTLS: true, Auth: "PLAIN", User: "survey@example.com", Password: "password"})
	t.Cleanup(mail.Close)
	certs := filepath.Join(t.TempDir(), "certs.pem")
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw})
	if err := os.WriteFile(certs, append(own, mail.PEM...), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HTTPS_PROXY": proxy.URL, "SSL_CERT_FILE": certs, "SMTP_SERVER": mail.Addr, "SMTP_PASSWORD": "password",
		"TRANSECT_STATE_DIR": t.TempDir()}
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

func tunnel(client net.Conn, buffer *bufio.ReadWriter, to string) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(server, buffer); _ = server.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(client, server)
}

func exampleSite(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/weather.json":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"wind": 3.5}`)
	case "/ortho.tif":
		w.Header().Set("Content-Type", "image/tiff")
		_, _ = io.WriteString(w, "II*\x00")
	case "/hello.txt":
		_, _ = io.WriteString(w, "hello")
	default:
		_, _ = io.Copy(w, r.Body)
	}
}
