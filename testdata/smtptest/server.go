// Package smtptest is a small mail server for tests: it takes messages and
// remembers them, and whether each was encrypted on its way.
package smtptest

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
)

// Options says how the server behaves.
type Options struct {
	TLS, StartTLS  bool                     // encrypted from the start; offers to
	Auth           string                   // the mechanisms offered, such as "PLAIN LOGIN"
	User, Password string                   // what it accepts
	Reply          func(line string) string // an answer of its own to a command; "" for the usual one
}

// Message is what it took.
type Message struct {
	From, To  string // To separated by commas
	Text      string // header and body
	Encrypted bool
	User      string
}

// Server listens on 127.0.0.1 until Close.
type Server struct {
	Addr  string
	Roots *x509.CertPool // believe its certificate
	PEM   []byte         // the same as a file

	opt      Options
	listener net.Listener
	trust    *tls.Config
	wait     sync.WaitGroup
	mu       sync.Mutex
	messages []Message
	lines    []string
	conns    map[net.Conn]bool
}

// New starts a server.
func New(opt Options) *Server {
	https := httptest.NewTLSServer(nil) // lends its certificate
	defer https.Close()
	s := &Server{opt: opt, Roots: x509.NewCertPool(), conns: map[net.Conn]bool{},
		PEM:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: https.Certificate().Raw}),
		trust: &tls.Config{Certificates: https.TLS.Certificates, MinVersion: tls.VersionTLS12}}
	s.Roots.AddCert(https.Certificate())
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		panic(err)
	}
	s.Addr = s.listener.Addr().String()
	s.wait.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = true
			s.mu.Unlock()
			s.wait.Go(func() { defer conn.Close(); s.serve(conn) })
		}
	})
	return s
}

// Close ends the server.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
}

// Messages lists what was taken.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.messages...)
}

// Lines lists every command that came in plain text.
func (s *Server) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}

func (s *Server) serve(conn net.Conn) {
	encrypted := s.opt.TLS
	if encrypted {
		conn = tls.Server(conn, s.trust)
	}
	r := bufio.NewReader(conn)
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	read := func() (string, bool) {
		line, err := r.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		if !encrypted && err == nil {
			s.mu.Lock()
			s.lines = append(s.lines, line)
			s.mu.Unlock()
		}
		return line, err == nil
	}
	say("220 test")
	m := Message{}
	var to []string
	for {
		line, ok := read()
		if !ok {
			return
		}
		if s.opt.Reply != nil {
			if reply := s.opt.Reply(line); reply != "" {
				say(reply)
				continue
			}
		}
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-test")
			if s.opt.StartTLS && !encrypted {
				say("250-STARTTLS")
			}
			if s.opt.Auth != "" {
				say("250-AUTH " + s.opt.Auth)
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go on")
			conn, encrypted = tls.Server(conn, s.trust), true
			r = bufio.NewReader(conn)
		case "AUTH":
			if s.login(rest, say, read) {
				m.User = s.opt.User
				say("235 welcome")
			} else {
				say("535 who are you")
			}
		case "MAIL":
			m.From, to = strings.Trim(strings.SplitN(rest, ":", 2)[1], "<> "), nil
			m.From, _, _ = strings.Cut(m.From, ">")
			say("250 fine")
		case "RCPT":
			to = append(to, strings.Trim(strings.SplitN(rest, ":", 2)[1], "<> "))
			say("250 fine")
		case "DATA":
			say("354 go on")
			var b strings.Builder
			for {
				text, ok := read()
				if !ok {
					return
				}
				if text == "." {
					break
				}
				b.WriteString(strings.TrimPrefix(text, ".") + "\r\n")
			}
			m.To, m.Text, m.Encrypted = strings.Join(to, ","), b.String(), encrypted
			s.mu.Lock()
			s.messages = append(s.messages, m)
			s.mu.Unlock()
			say("250 taken")
		case "RSET":
			say("250 fine")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("502 what")
		}
	}
}

func (s *Server) login(rest string, say func(string), read func() (string, bool)) bool {
	kind, first, _ := strings.Cut(rest, " ")
	decode := func(t string) string { d, _ := base64.StdEncoding.DecodeString(t); return string(d) }
	if kind == "LOGIN" {
		ask := func(q string) string {
			say("334 " + base64.StdEncoding.EncodeToString([]byte(q)))
			line, _ := read()
			return decode(line)
		}
		return ask("Username:") == s.opt.User && ask("Password:") == s.opt.Password
	}
	return decode(first) == "\x00"+s.opt.User+"\x00"+s.opt.Password
}
