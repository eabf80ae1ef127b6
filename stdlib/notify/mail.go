package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	netmail "net/mail"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"transect/client/fault"
)

// Encryption modes of the connection to a mail server.
const (
	StartTLS = "starttls" // STARTTLS after the greeting; required
	TLS      = "tls"      // TLS from the start
	None     = "none"     // plain text; refused together with credentials
)

// Mail is one message and the server that relays it.
type Mail struct {
	Server      string // host:port; the port defaults to 587, 465 with TLS, 25 with None
	Security    string // StartTLS, TLS or None
	User        string // empty: no authentication
	Password    string
	From        string
	To, Cc, Bcc []string
	ReplyTo     string
	Subject     string
	Text        string
	HTML        string // an alternative to Text, or the only body
	Attachments []Attachment

	Timeout time.Duration // for the whole exchange
	Roots   *x509.CertPool
	Permit  func(hostport string) error
	Sending func(n int64) error // called with the size of the message; may refuse it
}

// Attachment is a file sent with a message.
type Attachment struct {
	Name string // as the recipient sees it
	Data []byte
}

// Send delivers a message to its server. Credentials travel encrypted only.
func Send(ctx context.Context, m Mail) error {
	msg, err := m.message()
	if err != nil {
		return err
	}
	host, port, err := m.address()
	if err != nil {
		return err
	}
	server := net.JoinHostPort(host, strconv.Itoa(port))
	if m.User != "" && m.Security == None {
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "user and password would travel in plain text"),
			`use tls = "starttls" or tls = "tls", or leave user and password out`)
	}
	if m.Permit != nil {
		if err := m.Permit(server); err != nil {
			return err
		}
	}
	if m.Sending != nil {
		size, err := msg.WriteTo(io.Discard)
		if err == nil {
			err = m.Sending(size)
		}
		if err != nil {
			return err
		}
	}
	timed, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	err = m.deliver(timed, host, port, msg)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case timed.Err() != nil:
		return fault.Hinted(fault.Of(&fault.TimeoutError{}, "the mail server %s did not accept the message within %s", server,
			m.Timeout), "run again later")
	}
	return m.failure(server, err)
}

// deliver connects, authenticates and sends. The connection is closed when ctx ends.
func (m *Mail) deliver(ctx context.Context, host string, port int, msg *mail.Msg) error {
	config := &tls.Config{ServerName: host, RootCAs: m.Roots, MinVersion: tls.VersionTLS12}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if m.Security == TLS {
			return (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	options := []mail.Option{mail.WithPort(port), mail.WithTimeout(m.Timeout + time.Second), mail.WithTLSConfig(config),
		mail.WithoutNoop(), mail.WithoutRset(),
		mail.WithDialContextFunc(func(dialCtx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(dialCtx, network, address)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		})}
	switch m.Security {
	case TLS:
		options = append(options, mail.WithSSL())
	case None:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if m.User != "" {
		options = append(options, mail.WithUsername(m.User), mail.WithPassword(m.Password),
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthPlain, mail.SMTPAuthLogin))
	}
	c, err := mail.NewClient(host, options...)
	if err != nil {
		return err
	}
	if err := c.DialWithContext(ctx); err != nil {
		return err
	}
	if err := c.Send(msg); err != nil {
		return err
	}
	_ = c.Close() // the message is accepted; a failing QUIT does not matter
	return nil
}

// address splits Server and supplies the default port of the encryption mode.
func (m *Mail) address() (host string, port int, err error) {
	switch m.Security {
	case StartTLS:
		port = 587
	case TLS:
		port = 465
	case None:
		port = 25
	}
	host, given, err := net.SplitHostPort(m.Server)
	if err != nil {
		host, err = strings.Trim(m.Server, "[]"), nil
	} else {
		port, err = strconv.Atoi(given)
	}
	if err != nil || host == "" || strings.ContainsAny(host, " /@") {
		return "", 0, fault.Of(&fault.ParameterError{}, "the mail server must be host:port, such as smtp.example.com:587")
	}
	return host, port, nil
}

// message builds the MIME message.
func (m *Mail) message() (*mail.Msg, error) {
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if len(m.To)+len(m.Cc)+len(m.Bcc) == 0 {
		return nil, fault.Of(&fault.ParameterError{}, "no recipient: give to, cc or bcc")
	}
	replyTo := []string{m.ReplyTo}
	if m.ReplyTo == "" {
		replyTo = nil
	}
	for _, header := range []struct {
		name  string
		texts []string
		set   func(...string) error
	}{
		{"from", []string{m.From}, func(a ...string) error { return msg.From(a[0]) }},
		{"to", m.To, msg.To}, {"cc", m.Cc, msg.Cc}, {"bcc", m.Bcc, msg.Bcc},
		{"reply_to", replyTo, func(a ...string) error { return msg.ReplyTo(a[0]) }},
	} {
		for _, text := range header.texts {
			if _, err := netmail.ParseAddress(text); err != nil || strings.ContainsAny(text, "\r\n") {
				return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "%s %q is not a mail address", header.name, text),
					"write it like ops@example.com or Ops <ops@example.com>")
			}
		}
		if len(header.texts) > 0 {
			if err := header.set(header.texts...); err != nil {
				return nil, fault.Of(&fault.ParameterError{}, "%s: %w", header.name, err)
			}
		}
	}
	if strings.ContainsAny(m.Subject, "\r\n") {
		return nil, fault.Of(&fault.ParameterError{}, "the subject must be one line")
	}
	msg.Subject(m.Subject)
	msg.SetDate()
	msg.SetMessageID()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // prevents out-of-office replies
	switch {
	case m.HTML == "":
		msg.SetBodyString(mail.TypeTextPlain, m.Text)
	case m.Text == "":
		msg.SetBodyString(mail.TypeTextHTML, m.HTML)
	default:
		msg.SetBodyString(mail.TypeTextPlain, m.Text)
		msg.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	}
	for _, a := range m.Attachments {
		if err := msg.AttachReader(a.Name, bytes.NewReader(a.Data)); err != nil {
			return nil, fault.Of(&fault.ParameterError{}, "attachment %s: %w", a.Name, err)
		}
	}
	return msg, nil
}

// failure explains why the server did not accept the message.
func (m *Mail) failure(server string, err error) error {
	var certificate *tls.CertificateVerificationError
	var reply *textproto.Error
	var sending *mail.SendError
	reason, _, _ := strings.Cut(fault.Reason(err).Error(), ", affected message ID")
	cause := errors.New(strings.ReplaceAll(m.redact(reason), `"`, ""))
	switch {
	case strings.Contains(err.Error(), "does not support STARTTLS"):
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "the mail server %s does not offer STARTTLS", server),
			`if it encrypts from the start, as on port 465, use tls = "tls"`)
	case errors.As(err, &certificate):
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "connecting to the mail server %s: %w", server, cause),
			"if the server uses a certificate of its own, name its CA file with ca_cert")
	case errors.As(err, &sending) && sending.ErrorCode() >= 500:
		return fault.Of(&fault.RuntimeError{}, "the mail server %s refuses the message: %w", server, cause)
	case errors.As(err, &sending) && sending.IsTemp():
		return fault.Hinted(fault.Of(&fault.ConnectionError{}, "the mail server %s cannot accept the message now: %w", server,
			cause), "run again later")
	case errors.As(err, &reply) && strings.Contains(err.Error(), "SMTP AUTH"):
		cause = fmt.Errorf("%d %s", reply.Code, m.redact(reply.Msg))
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the mail server %s refuses the credentials: %w", server, cause),
			"check user and password; some servers want an app password")
	}
	return fault.Hinted(fault.Of(&fault.ConnectionError{}, "the mail server %s: %w", server, cause),
		"check the server's address, its port, and tls")
}

// redact removes a password that the server echoes.
func (m *Mail) redact(text string) string {
	if len(m.Password) > 3 {
		text = strings.ReplaceAll(text, m.Password, "[redacted]")
	}
	return text
}
