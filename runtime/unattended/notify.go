package unattended

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"transect/client/fault"
	"transect/runtime"
	"transect/stdlib/notify"
	"transect/stdlib/web"
)

const failureTimeout = time.Minute

// ping notifies the monitor. A monitor that does not answer is not a failure of
// the run.
func (r *run) ping(ctx context.Context, event string) {
	client := r.web()
	defer client.Close()
	body, what := "run "+r.summary.ID+" of "+r.summary.Script, "start"
	if event != notify.Start {
		what = "end"
		body = fmt.Sprintf("exit code %d (%s) after %.1f s: %s\n%s", r.result.ExitCode, r.result.Outcome, r.result.Seconds, body, r.lastLines())
	}
	if err := notify.Ping(ctx, client, r.monitor(), event, body); err != nil && ctx.Err() != context.Canceled {
		r.warn(fmt.Sprintf("the monitor was not notified of the %s: %s", what, err))
	}
}

// endEvent is what the monitor is sent at the end of a run: a failure as its
// exit status. SIGTERM ends runs when the machine shuts down, which is neither
// success nor failure.
func (r *run) endEvent() string {
	switch r.result.ExitCode {
	case runtime.ExitOK:
		return notify.Success
	case runtime.ExitTerminated:
		return notify.Log
	}
	return strconv.Itoa(r.result.ExitCode)
}

// monitor is the address of the monitor with the run as its parameter rid, a
// UUID made of the run's ID, by which it matches starts and ends.
func (r *run) monitor() string {
	u, err := url.Parse(r.options.Ping)
	if err != nil {
		return r.options.Ping // the ping reports it
	}
	query := u.Query()
	if !query.Has("rid") {
		query.Set("rid", uuid.NewSHA1(uuid.NameSpaceOID, []byte("transect run "+r.summary.ID)).String())
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func (r *run) web() *web.Client {
	return web.New(web.Options{Env: r.process.Env, UserAgent: "transect/" + r.job.Version})
}

// lastLines are the last lines of output, without secrets.
func (r *run) lastLines() string { return r.redact.all(r.tail.String()) }

// notifyFailure does what --on-failure asks for.
func (r *run) notifyFailure(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, failureTimeout)
	defer cancel()
	var err error
	switch u, bad := url.Parse(r.options.OnFailure); {
	case bad == nil && (u.Scheme == "http" || u.Scheme == "https"):
		err = r.post(ctx)
	case bad == nil && u.Scheme == "mailto":
		err = r.mail(ctx, u)
	default:
		err = r.command(ctx)
	}
	if err != nil {
		text := "--on-failure failed: " + err.Error()
		if f := fault.Find(err); f != nil && f.Facts().Hint != "" {
			text += "; " + f.Facts().Hint
		}
		r.warn(text)
	}
}

// headline says in one line what failed.
func (r *run) headline() string {
	return fmt.Sprintf("%s failed on %s: exit code %d (%s)", r.summary.Script, r.summary.Host, r.result.ExitCode, r.result.Outcome)
}

// post sends the failure to a URL: as text for chats, and as separate fields.
func (r *run) post(ctx context.Context) error {
	client := r.web()
	defer client.Close()
	return notify.Webhook(ctx, client, r.options.OnFailure, map[string]any{
		"text": r.headline() + "\n" + r.lastLines(), "script": r.summary.Script, "run": r.summary.ID, "host": r.summary.Host,
		"exit_code": r.result.ExitCode, "outcome": r.result.Outcome, "seconds": r.result.Seconds, "error": r.result.Error, "last_lines": r.lastLines(),
	})
}

// mail sends the failure to a mailto: address with the server of TRANSECT_SMTP.
func (r *run) mail(ctx context.Context, to *url.URL) error {
	server := r.process.Getenv("TRANSECT_SMTP")
	if server == "" {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "no mail server is configured"), "set TRANSECT_SMTP to host:port")
	}
	receiver, err := url.PathUnescape(to.Opaque)
	if err != nil {
		return fault.Of(&fault.ConfigError{}, "%q is not a mail address", to.Opaque)
	}
	m := notify.Mail{Server: server, Security: notify.StartTLS, To: strings.Split(receiver, ","), From: r.process.Getenv("TRANSECT_MAIL_FROM"),
		User: r.process.Getenv("TRANSECT_SMTP_USER"), Password: r.process.Getenv("TRANSECT_SMTP_PASSWORD"),
		Subject: "transect: " + r.headline(), Text: r.lastLines(), Timeout: failureTimeout}
	for prefix, security := range map[string]string{"smtp://": notify.None, "smtps://": notify.TLS} {
		if address, ok := strings.CutPrefix(server, prefix); ok {
			m.Server, m.Security = address, security
		}
	}
	if m.From == "" {
		m.From = "transect@" + r.summary.Host
	}
	return notify.Send(ctx, m)
}

// command runs a shell command with the last lines as its input and the
// outcome in its environment.
func (r *run) command(ctx context.Context) error {
	shell := []string{"sh", "-c", r.options.OnFailure}
	if goruntime.GOOS == "windows" {
		shell = []string{"cmd", "/C", r.options.OnFailure}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Dir = r.process.Dir
	cmd.Stdin = strings.NewReader(r.lastLines())
	cmd.Stdout, cmd.Stderr = r.process.Stderr, r.process.Stderr
	message := ""
	if r.result.Error != nil {
		message = r.result.Error.Name + ": " + r.result.Error.Message
	}
	cmd.Env = append(os.Environ(), "TRANSECT_EXIT_CODE="+strconv.Itoa(r.result.ExitCode), "TRANSECT_OUTCOME="+r.result.Outcome,
		"TRANSECT_SCRIPT="+r.summary.Script, "TRANSECT_RUN="+r.summary.ID, "TRANSECT_ERROR="+message)
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it has ended; what it left in the background may run on
	}
	return err
}
