package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"os"
	"strings"
	"time"

	"transect/client/fault"
	"transect/stdlib/web"
)

// How a mail server is talked to.
const (
	StartTLS = "starttls" // in plain text until the server agrees to encrypt; it must
	TLS      = "tls"      // encrypted from the start
	None     = "none"     // never; refused together with credentials
)

// Mail is one message and the server that takes it.
type Mail struct {
	Server      string // host:port; without port 587, or 465 with TLS, or 25 with None
	Security    string // StartTLS, TLS or None; StartTLS when empty
	User        string // empty: no credentials
	Password    string
	From        string
	To, Cc, Bcc []string
	ReplyTo     string
	Subject     string
	Text        string
	HTML        string // an alternative to Text, or all of the message
	Attachments []Attachment

	Timeout time.Duration // for all of it; a minute when 0
	Roots   *x509.CertPool
	Permit  func(hostport string) error
	Sending func(n int64) error // told the size of the letter, may refuse
}

// Attachment is a file that goes along.
type Attachment struct {
	Name string // how the receiver sees it
	Data []byte
}

const longestMail = time.Minute

// Send delivers a message to its server. Credentials only travel encrypted.
func Send(ctx context.Context, m Mail) error {
	l, err := m.letter()
	if err != nil {
		return err
	}
	server, host, err := m.address()
	if err != nil {
		return err
	}
	if m.User != "" && m.Security == None {
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "a user and password would travel in plain text"),
			`use tls = "starttls" or tls = "tls", or leave user and password out`)
	}
	if m.Permit != nil {
		if err := m.Permit(server); err != nil {
			return err
		}
	}
	if m.Sending != nil {
		if err := m.Sending(int64(len(l.text))); err != nil {
			return err
		}
	}
	limit := m.Timeout
	if limit <= 0 {
		limit = longestMail
	}
	late, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = m.deliver(late, server, host, l)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case late.Err() != nil:
		return fault.Hinted(fault.Of(&fault.TimeoutError{}, "the mail server %s did not take the message within %s", server, limit), "run again later")
	}
	return m.failure(server, err)
}

func (m *Mail) address() (server, host string, err error) {
	port := "587"
	switch m.Security {
	case "", StartTLS:
		m.Security = StartTLS
	case TLS:
		port = "465"
	case None:
		port = "25"
	default:
		return "", "", fault.Of(&fault.ParameterError{}, "tls must be %s, %s or %s, got %q", StartTLS, TLS, None, m.Security)
	}
	host, given, err := net.SplitHostPort(m.Server)
	if err != nil {
		host, given = strings.Trim(m.Server, "[]"), port
	}
	if host == "" || strings.ContainsAny(host, " /@") {
		return "", "", fault.Of(&fault.ParameterError{}, "the mail server must be host:port, such as smtp.example.com:587")
	}
	return net.JoinHostPort(host, given), host, nil
}

// deliver speaks SMTP; when ctx ends the connection does.
func (m *Mail) deliver(ctx context.Context, server, host string, l *letter) error {
	trust := &tls.Config{ServerName: host, RootCAs: m.Roots, MinVersion: tls.VersionTLS12}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
	if err != nil {
		return step("connect", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if m.Security == TLS {
		wrapped := tls.Client(conn, trust)
		if err := wrapped.HandshakeContext(ctx); err != nil {
			return step("connect", err)
		}
		conn = wrapped
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return step("connect", err)
	}
	if err := c.Hello(hello()); err != nil {
		return step("greeting", err)
	}
	if m.Security == StartTLS {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return errNoTLS
		}
		if err := c.StartTLS(trust); err != nil {
			return step("STARTTLS", err)
		}
	}
	if m.User != "" {
		if err := m.authenticate(c, host); err != nil {
			return err
		}
	}
	return l.hand(c)
}

// hand gives the letter to a server that listens.
func (l *letter) hand(c *smtp.Client) error {
	if err := c.Mail(l.from); err != nil {
		return step("the sender "+l.from, err)
	}
	for _, to := range l.to {
		if err := c.Rcpt(to); err != nil {
			return step("the receiver "+to, err)
		}
	}
	w, err := c.Data()
	if err != nil {
		return step("the message", err)
	}
	if _, err := w.Write(l.text); err != nil {
		return step("the message", err)
	}
	if err := w.Close(); err != nil {
		return step("the message", err)
	}
	_ = c.Quit() // the message is taken; what follows does not matter
	return nil
}

func hello() string {
	if name, err := os.Hostname(); err == nil && name != "" && !strings.ContainsAny(name, " \r\n_") {
		return name
	}
	return "localhost"
}

var errNoTLS = errors.New("no STARTTLS")

type stepError struct {
	what  string
	cause error
}

func (e *stepError) Error() string { return e.what + ": " + e.cause.Error() }
func (e *stepError) Unwrap() error { return e.cause }

func step(what string, err error) error { return &stepError{what, err} }

// failure says what the server did not like.
func (m *Mail) failure(server string, err error) error {
	if fault.Find(err) != nil {
		return err
	}
	if errors.Is(err, errNoTLS) {
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "the mail server %s does not offer STARTTLS", server),
			`if it encrypts from the start, as on port 465, use tls = "tls"`)
	}
	var s *stepError
	if !errors.As(err, &s) {
		s = &stepError{"connect", err}
	}
	var reply *textproto.Error
	if !errors.As(err, &reply) {
		hint := "check the address of the server, its port, and tls"
		var trust *tls.CertificateVerificationError
		if errors.As(err, &trust) {
			hint = "if the server uses a certificate of its own, name the file that vouches for it with ca_cert"
		}
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "the mail server %s (%s): %w", server, s.what, errors.New(web.Reason(s.cause))), "%s", hint)
	}
	said := errors.New(strings.Join(strings.Fields(fmt.Sprintf("%d %s", reply.Code, m.redact(reply.Msg))), " "))
	switch {
	case s.what == "login":
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the mail server %s refuses the credentials: %w", server, said),
			"check user and password; some servers want a password made for programs")
	case reply.Code < 500: // for now
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "the mail server %s cannot take it now (%s): %w", server, s.what, said), "run again later")
	}
	return fault.Of(&fault.RuntimeError{}, "the mail server %s refuses %s: %w", server, s.what, said)
}

// redact takes what a server repeats of the credentials out of its words.
func (m *Mail) redact(text string) string {
	if len(m.Password) > 3 {
		text = strings.ReplaceAll(text, m.Password, "[redacted]")
	}
	return text
}

// bare is an address without its name, safe for a line of its own.
func bare(what, text string) (*mail.Address, error) {
	a, err := mail.ParseAddress(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "%s %q is no mail address", what, text),
			"write it like ops@example.com or Ops <ops@example.com>")
	}
	return a, nil
}
