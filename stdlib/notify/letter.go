package notify

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"path/filepath"
	"strings"
	"time"

	"transect/client/fault"
)

// letter is a message as it travels, and its envelope.
type letter struct {
	from string
	to   []string
	text []byte
}

func (m *Mail) letter() (*letter, error) {
	from, err := bare("from", m.From)
	if err != nil {
		return nil, err
	}
	l := &letter{from: from.Address}
	if len(m.To)+len(m.Cc)+len(m.Bcc) == 0 {
		return nil, fault.Of(&fault.ParameterError{}, "to names nobody")
	}
	var b bytes.Buffer
	field := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	field("From", from.String())
	for _, g := range []struct {
		name string
		list []string
	}{{"To", m.To}, {"Cc", m.Cc}, {"Bcc", m.Bcc}} {
		var shown []string
		for _, text := range g.list {
			a, err := bare(strings.ToLower(g.name), text)
			if err != nil {
				return nil, err
			}
			l.to, shown = append(l.to, a.Address), append(shown, a.String())
		}
		if len(shown) > 0 && g.name != "Bcc" {
			field(g.name, strings.Join(shown, ",\r\n "))
		}
	}
	if m.ReplyTo != "" {
		a, err := bare("reply_to", m.ReplyTo)
		if err != nil {
			return nil, err
		}
		field("Reply-To", a.String())
	}
	if strings.ContainsAny(m.Subject, "\r\n") {
		return nil, fault.Of(&fault.ParameterError{}, "the subject must be one line")
	}
	field("Subject", folded(mime.QEncoding.Encode("utf-8", m.Subject)))
	field("Date", time.Now().Format(time.RFC1123Z))
	_, domain, _ := strings.Cut(from.Address, "@")
	field("Message-ID", "<"+rand.Text()+"@"+domain+">")
	field("Auto-Submitted", "auto-generated") // no holiday replies
	field("MIME-Version", "1.0")
	if err := m.write(&b); err != nil {
		return nil, err
	}
	l.text = b.Bytes()
	return l, nil
}

// folded breaks a header after its encoded words.
func folded(value string) string { return strings.ReplaceAll(value, "?= =?", "?=\r\n =?") }

// write writes the header of the content and the content.
func (m *Mail) write(b *bytes.Buffer) error {
	if len(m.Attachments) == 0 {
		return m.content(func(h textproto.MIMEHeader) (io.Writer, error) {
			writeHeader(b, h)
			return b, nil
		})
	}
	parts := multipart.NewWriter(b)
	writeHeader(b, textproto.MIMEHeader{"Content-Type": {`multipart/mixed; boundary="` + parts.Boundary() + `"`}})
	if err := m.content(parts.CreatePart); err != nil {
		return err
	}
	for _, a := range m.Attachments {
		kind := mime.TypeByExtension(filepath.Ext(a.Name))
		if kind == "" {
			kind = "application/octet-stream"
		}
		w, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {kind}, "Content-Transfer-Encoding": {"base64"},
			"Content-Disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": a.Name})}})
		if err != nil {
			return err
		}
		for data := base64.StdEncoding.EncodeToString(a.Data); data != ""; {
			n := min(76, len(data))
			if _, err := io.WriteString(w, data[:n]+"\r\n"); err != nil {
				return err
			}
			data = data[n:]
		}
	}
	return parts.Close()
}

// content writes the text, the page, or both as alternatives.
func (m *Mail) content(part func(textproto.MIMEHeader) (io.Writer, error)) error {
	switch {
	case m.HTML == "":
		return words(part, "text/plain", m.Text)
	case m.Text == "":
		return words(part, "text/html", m.HTML)
	}
	var b bytes.Buffer
	either := multipart.NewWriter(&b)
	if err := words(either.CreatePart, "text/plain", m.Text); err != nil {
		return err
	}
	if err := words(either.CreatePart, "text/html", m.HTML); err != nil {
		return err
	}
	if err := either.Close(); err != nil {
		return err
	}
	w, err := part(textproto.MIMEHeader{"Content-Type": {`multipart/alternative; boundary="` + either.Boundary() + `"`}})
	if err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

func words(part func(textproto.MIMEHeader) (io.Writer, error), kind, text string) error {
	w, err := part(textproto.MIMEHeader{"Content-Type": {kind + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"}})
	if err != nil {
		return err
	}
	q := quotedprintable.NewWriter(w)
	if _, err := io.WriteString(q, text); err != nil {
		return err
	}
	return q.Close()
}

func writeHeader(b *bytes.Buffer, h textproto.MIMEHeader) {
	for _, name := range []string{"Content-Type", "Content-Transfer-Encoding"} {
		if v := h.Get(name); v != "" {
			fmt.Fprintf(b, "%s: %s\r\n", name, v)
		}
	}
	b.WriteString("\r\n")
}
