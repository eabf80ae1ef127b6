package notify

import (
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"transect/client/fault"
	"transect/testdata/smtptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func server(t *testing.T, o smtptest.Options) *smtptest.Server {
	s := smtptest.New(o)
	t.Cleanup(s.Close)
	return s
}

const secret = "p4ss=wörd"

func letterTo(s *smtptest.Server) Mail {
	return Mail{Server: s.Addr, Security: StartTLS, Timeout: time.Minute, Roots: s.Roots, User: "bot", Password: secret, From: "Bot <bot@example.com>",
		To: []string{"a@example.com"}, Bcc: []string{"hidden@example.com"}, Subject: "Flug über Köln " + strings.Repeat("é", 60), Text: "Grüße\n.\nEnde"}
}

func TestMailTravelsEncrypted(t *testing.T) {
	for _, security := range []string{StartTLS, TLS} {
		for _, auth := range []string{"PLAIN LOGIN", "LOGIN"} {
			s := server(t, smtptest.Options{TLS: security == TLS, StartTLS: security == StartTLS, Auth: auth, User: "bot", Password: secret})
			m := letterTo(s)
			m.Security, m.HTML = security, "<p>Grüße</p>"
			m.Attachments = []Attachment{{Name: "año.csv", Data: []byte(strings.Repeat("x,y\n", 100))}}
			if err := Send(context.Background(), m); err != nil {
				t.Fatal(security, auth, err)
			}
			got := s.Messages()
			if len(got) != 1 || !got[0].Encrypted || got[0].User != "bot" || got[0].To != "a@example.com,hidden@example.com" || got[0].From != "bot@example.com" {
				t.Fatalf("%s %s: %+v", security, auth, got)
			}
			read, err := mail.ReadMessage(strings.NewReader(got[0].Text))
			if err != nil {
				t.Fatal(err)
			}
			if subject, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject")); err != nil || subject != m.Subject {
				t.Errorf("subject %q, %v", subject, err)
			}
			if strings.Contains(got[0].Text, "hidden@") {
				t.Error("the hidden receiver shows")
			}
			for line := range strings.SplitSeq(got[0].Text, "\r\n") {
				if len(line) > 200 {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
			_, params, _ := mime.ParseMediaType(read.Header.Get("Content-Type"))
			parts := multipart.NewReader(read.Body, params["boundary"])
			first, err := parts.NextPart()
			if err != nil || !strings.HasPrefix(first.Header.Get("Content-Type"), "multipart/alternative") {
				t.Fatal(first, err)
			}
			file, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			if name, err := new(mime.WordDecoder).DecodeHeader(file.FileName()); err != nil || name != "año.csv" {
				t.Error(name, err)
			}
		}
	}
}

func TestMailPlainBody(t *testing.T) {
	s := server(t, smtptest.Options{})
	m := letterTo(s)
	m.Security, m.User, m.Password = None, "", ""
	if err := Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	read, err := mail.ReadMessage(strings.NewReader(s.Messages()[0].Text))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(read.Body)
	if want := "Gr=C3=BC=C3=9Fe\r\n.\r\nEnde"; strings.TrimSpace(string(body)) != want {
		t.Errorf("got %q", body)
	}
}

func TestMailThatIsRefused(t *testing.T) {
	plain := server(t, smtptest.Options{Auth: "PLAIN", User: "bot", Password: secret})
	strict := server(t, smtptest.Options{StartTLS: true, Auth: "PLAIN", User: "other", Password: secret})
	busy := server(t, smtptest.Options{StartTLS: true, Auth: "PLAIN", User: "bot", Password: secret, Reply: func(line string) string {
		if strings.HasPrefix(line, "RCPT") {
			return "451 greylisted"
		}
		return ""
	}})
	never := server(t, smtptest.Options{StartTLS: true, Auth: "PLAIN", User: "bot", Password: secret, Reply: func(line string) string {
		if strings.HasPrefix(line, "RCPT") {
			return "550 no such user, not even with " + secret
		}
		return ""
	}})
	for name, c := range map[string]struct {
		server *smtptest.Server
		change func(*Mail)
		fault  string
		says   string
	}{
		"credentials in plain text": {plain, func(m *Mail) { m.Security = None }, "ParameterError", "plain text"},
		"no STARTTLS":               {plain, func(*Mail) {}, "ConnectionError", "does not offer STARTTLS"},
		"unknown certificate":       {strict, func(m *Mail) { m.Roots = nil }, "ConnectionError", "certificate"},
		"wrong password":            {strict, func(*Mail) {}, "ConfigError", "refuses the credentials"},
		"greylisted":                {busy, func(*Mail) {}, "ConnectionError", "451 greylisted"},
		"no such user":              {never, func(*Mail) {}, "RuntimeError", "[redacted]"},
		"header injection":          {strict, func(m *Mail) { m.Subject = "a\r\nBcc: x@example.com" }, "ParameterError", "one line"},
		"address injection":         {strict, func(m *Mail) { m.To = []string{"a@example.com\r\nBcc: x@example.com"} }, "ParameterError", "not a mail address"},
		"nobody":                    {strict, func(m *Mail) { m.To, m.Bcc = nil, nil }, "ParameterError", "no recipient"},
		"nobody listens":            {strict, func(m *Mail) { m.Server = "127.0.0.1:1" }, "ConnectionError", "127.0.0.1:1"},
		"wrong port for tls":        {plain, func(m *Mail) { m.Security = TLS }, "ConnectionError", "mail server"},
		"not permitted": {strict, func(m *Mail) {
			m.Permit = func(string) error { return fault.Of(&fault.PermissionError{}, "no") }
		}, "PermissionError", "no"},
	} {
		t.Run(name, func(t *testing.T) {
			m := letterTo(c.server)
			c.change(&m)
			err := Send(context.Background(), m)
			if f := fault.Find(err); f == nil || f.Name() != c.fault || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error()+fault.Find(err).Facts().Hint, secret) {
				t.Errorf("the password shows: %v", err)
			}
		})
	}
	for _, line := range append(plain.Lines(), strict.Lines()...) {
		if strings.HasPrefix(line, "AUTH") {
			t.Errorf("credentials went in plain text: %s", line)
		}
	}
}

func TestMailEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	s := server(t, smtptest.Options{StartTLS: true, Reply: func(string) string { <-release; return "" }})
	t.Cleanup(func() { close(release) }) // before the server closes
	m := letterTo(s)
	m.Timeout = 50 * time.Millisecond
	if err := Send(context.Background(), m); fault.Find(err) == nil || fault.Find(err).Name() != "TimeoutError" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	m.Timeout = time.Minute
	if err := Send(ctx, m); err != ctx.Err() {
		t.Errorf("got %v", err)
	}
}
