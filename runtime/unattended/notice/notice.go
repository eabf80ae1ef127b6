// Package notice notifies people and monitors of the results of unattended work: by a command, a webhook or
// mail, and by pings of a monitor. It is independent of Lua; single runs and the job queue use it.
package notice

import (
	"context"
	"errors"
	"io"
	"net/mail"
	"net/url"
	"os"
	"os/exec"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"transect/client/fault"
	"transect/client/transport/httpcore"
	"transect/stdlib/notify"
	"transect/stdlib/web"
)

const timeout = time.Minute

// Sender delivers notices with the settings of this machine.
type Sender struct {
	Env     func(name string) (string, bool) // for proxies, and the mail server of TRANSECT_SMTP
	Environ []string                         // of commands; nil for this process's
	Dir     string                           // of commands
	Output  io.Writer                        // of commands
	Host    string
	Version string
	Permit  func(what string) error // called with //host:port, mailto:address or a command; nil permits everything
}

// Permits checks against the policy whether a notice, or a ping, may be sent to a target.
func (s *Sender) Permits(to string, ping bool) error {
	if s.Permit == nil {
		return nil
	}
	u, err := url.Parse(to)
	switch {
	case err == nil && (ping || u.Scheme == "http" || u.Scheme == "https"):
		return s.reach(httpcore.HostPort(u))
	case err == nil && u.Scheme == "mailto":
		all, err := receivers(u)
		for _, text := range all {
			address, bad := mail.ParseAddress(text)
			if bad != nil {
				return fault.Of(&fault.ConfigError{}, "%q is not a mail address", text)
			}
			err = errors.Join(err, s.Permit("mailto:"+address.Address))
		}
		return err
	}
	return s.Permit(to)
}

// reach checks a server against the policy, including redirects.
func (s *Sender) reach(hostport string) error {
	if s.Permit == nil {
		return nil
	}
	return s.Permit("//" + hostport)
}

// receivers returns the addresses of a mailto: URL.
func receivers(to *url.URL) ([]string, error) {
	all, err := url.PathUnescape(to.Opaque)
	if err != nil {
		return nil, fault.Of(&fault.ConfigError{}, "%q is not a mail address", to.Opaque)
	}
	return strings.Split(all, ","), nil
}

// Notice describes a problem.
type Notice struct {
	Headline string         // in one line
	Text     string         // the last lines of output
	Fields   map[string]any // of a webhook, in addition to text and last_lines
	Env      []string       // of a command
}

// Outcome is the data of a notice about a run or a job: a webhook gets it as fields, a command as variables.
type Outcome struct {
	Script, Run, Host string // "" if not applicable
	Outcome           string
	ExitCode          *int
	Seconds           float64
	Error             any    // of a webhook; nil for none
	Message           string // the error in one line
	Job               int64
	Schedule          string
	Slot              time.Time // of the schedule
}

// Of returns the notice about an outcome.
func Of(headline, text string, o Outcome) Notice {
	n := Notice{Headline: headline, Text: text, Fields: map[string]any{"script": o.Script, "outcome": o.Outcome,
		"error": o.Error, "seconds": o.Seconds, "exit_code": o.ExitCode}}
	code := ""
	if o.ExitCode != nil {
		code = strconv.Itoa(*o.ExitCode)
	}
	n.Env = []string{"TRANSECT_EXIT_CODE=" + code, "TRANSECT_OUTCOME=" + o.Outcome, "TRANSECT_SCRIPT=" + o.Script,
		"TRANSECT_RUN=" + o.Run, "TRANSECT_ERROR=" + o.Message}
	if o.Run != "" {
		n.Fields["run"], n.Fields["host"] = o.Run, o.Host
	}
	if o.Job != 0 {
		n.Fields["job"] = o.Job
		n.Env = append(n.Env, "TRANSECT_JOB="+strconv.FormatInt(o.Job, 10))
	}
	if o.Schedule != "" {
		slot := o.Slot.UTC().Format(time.RFC3339)
		n.Fields["schedule"], n.Fields["slot"] = o.Schedule, slot
		n.Env = append(n.Env, "TRANSECT_SCHEDULE="+o.Schedule, "TRANSECT_SLOT="+slot)
	}
	return n
}

// Send delivers a notice to a shell command, or to a URL: http:, https: or mailto:.
func (s *Sender) Send(ctx context.Context, to string, n Notice) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.Permits(to, false); err != nil {
		return err
	}
	switch u, bad := url.Parse(to); {
	case bad == nil && (u.Scheme == "http" || u.Scheme == "https"):
		return s.post(ctx, to, n)
	case bad == nil && u.Scheme == "mailto":
		return s.mail(ctx, u, n)
	}
	return s.command(ctx, to, n)
}

// IsCommand reports whether a target is a command.
func IsCommand(to string) bool {
	u, err := url.Parse(to)
	return err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto"
}

func (s *Sender) web() *web.Client {
	return web.New(web.Options{Env: s.Env, UserAgent: "transect/" + s.Version, Permit: s.reach})
}

// post sends a notice to a URL: as text for chats, and as separate fields.
func (s *Sender) post(ctx context.Context, to string, n Notice) error {
	client := s.web()
	defer client.Close()
	fields := map[string]any{"text": n.Headline + "\n" + n.Text, "last_lines": n.Text}
	for name, value := range n.Fields {
		fields[name] = value
	}
	return notify.Webhook(ctx, client, to, fields)
}

// mail sends a notice to a mailto: address with the server of TRANSECT_SMTP.
func (s *Sender) mail(ctx context.Context, to *url.URL, n Notice) error {
	setting := func(name string) string { value, _ := s.Env(name); return value }
	server := setting("TRANSECT_SMTP")
	if server == "" {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "no mail server is configured"), "set TRANSECT_SMTP to host:port")
	}
	addresses, err := receivers(to)
	if err != nil {
		return err
	}
	m := notify.Mail{Server: server, Security: notify.StartTLS, To: addresses,
		From: setting("TRANSECT_MAIL_FROM"),
		User: setting("TRANSECT_SMTP_USER"), Password: setting("TRANSECT_SMTP_PASSWORD"), Subject: "transect: " +
			n.Headline, Text: n.Text, Timeout: timeout}
	for prefix, security := range map[string]string{"smtp://": notify.None, "smtps://": notify.TLS} {
		if address, ok := strings.CutPrefix(server, prefix); ok {
			m.Server, m.Security = address, security
		}
	}
	if m.From == "" {
		m.From = "transect@" + s.Host
	}
	return notify.Send(ctx, m)
}

// command runs a shell command with the text as its input.
func (s *Sender) command(ctx context.Context, line string, n Notice) error {
	shell := []string{"sh", "-c", line}
	if goruntime.GOOS == "windows" {
		shell = []string{"cmd", "/C", line}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Dir = s.Dir
	cmd.Stdin = strings.NewReader(n.Text)
	cmd.Stdout, cmd.Stderr = s.Output, s.Output
	environ := s.Environ
	if environ == nil {
		environ = os.Environ()
	}
	cmd.Env = slices.Concat(environ, n.Env)
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it succeeded, though programs it left in the background may still run
	}
	return err
}

// Ping sends an event, notify.Start or an exit code, to the monitor at a URL, with the run as the parameter
// rid: a UUID derived from its ID, by which monitors match starts and ends.
func (s *Sender) Ping(ctx context.Context, monitor, run, event, body string) error {
	client := s.web()
	defer client.Close()
	if u, err := url.Parse(monitor); err == nil { // otherwise the ping reports it
		query := u.Query()
		if !query.Has("rid") {
			query.Set("rid", uuid.NewSHA1(uuid.NameSpaceOID, []byte("transect run "+run)).String())
		}
		u.RawQuery = query.Encode()
		monitor = u.String()
	}
	return notify.Ping(ctx, client, monitor, event, body)
}

// Explain returns the text of a delivery error with its hint.
func Explain(err error) string {
	text := err.Error()
	if f := fault.Find(err); f != nil && f.Facts().Hint != "" {
		text += "; " + f.Facts().Hint
	}
	return text
}
