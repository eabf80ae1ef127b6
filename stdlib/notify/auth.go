package notify

import (
	"errors"
	"net/smtp"
	"slices"
	"strings"
)

// authenticate logs in, on an encrypted connection only.
func (m *Mail) authenticate(c *smtp.Client, host string) error {
	if _, encrypted := c.TLSConnectionState(); !encrypted {
		return errNoTLS // never reached: Send refuses before it connects
	}
	ok, offered := c.Extension("AUTH")
	if !ok {
		return step("login", errors.New("the server takes no credentials there"))
	}
	var auth smtp.Auth = smtp.PlainAuth("", m.User, m.Password, host)
	if names := strings.Fields(strings.ToUpper(offered)); !slices.Contains(names, "PLAIN") && slices.Contains(names, "LOGIN") {
		auth = &login{m.User, m.Password}
	}
	if err := c.Auth(auth); err != nil {
		return step("login", err)
	}
	return nil
}

// login is the mechanism LOGIN, the only one some servers offer.
type login struct{ user, password string }

func (l *login) Start(s *smtp.ServerInfo) (string, []byte, error) {
	if !s.TLS {
		return "", nil, errNoTLS
	}
	return "LOGIN", nil, nil
}

func (l *login) Next(asked []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	switch question := strings.ToLower(string(asked)); {
	case strings.HasPrefix(question, "user"):
		return []byte(l.user), nil
	case strings.HasPrefix(question, "pass"):
		return []byte(l.password), nil
	}
	return nil, errors.New("the server asks what LOGIN does not answer")
}
