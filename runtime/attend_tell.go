package runtime

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client/declare"
	"transect/client/fault"
	"transect/runtime/unattended/report"
	"transect/stdlib/notify"
	"transect/stdlib/web"
)

// calls counts the operations of a run.
type calls struct {
	mu    sync.Mutex
	named map[string]report.Calls
}

func (c *calls) link(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	value, err := next(ctx, call)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.named == nil {
		c.named = map[string]report.Calls{}
	}
	n := c.named[call.Spec.FullName()]
	n.Count++
	if err != nil {
		n.Failed++
	}
	c.named[call.Spec.FullName()] = n
	return value, err
}

// all is what was counted so far; a run that hangs may still count.
func (c *calls) all() map[string]report.Calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]report.Calls, len(c.named))
	for name, n := range c.named {
		all[name] = n
	}
	return all
}

// How long a monitor, and what is run on failure, may take.
const (
	pingPatience    = 15 * time.Second
	failurePatience = time.Minute
)

const pingStart = notify.Start

func pingEnd(code int) string {
	if code == ExitOK {
		return notify.Success
	}
	return notify.Fail
}

// ping tells the monitor. One that does not answer is no failure of the run.
func (a *attended) ping(ctx context.Context, event string) {
	ctx, cancel := context.WithTimeout(ctx, pingPatience)
	defer cancel()
	client := a.web()
	defer client.Close()
	body := ""
	if event != pingStart {
		body = fmt.Sprintf("exit code %d (%s) after %.1f s: %s\n%s", a.end_.ExitCode, a.end_.Outcome, a.end_.Seconds, a.summary.Script, a.lastLines())
	}
	if err := notify.Ping(ctx, client, a.set.Ping, event, body); err != nil && ctx.Err() != context.Canceled {
		a.warn(fmt.Sprintf("the monitor was not told of the %s: %s", event, err))
	}
}

func (a *attended) web() *web.Client {
	return web.New(web.Options{Env: a.world.Env, UserAgent: "transect/" + a.job.Version})
}

// lastLines are the end of what the run printed, without secrets.
func (a *attended) lastLines() string { return a.secrets.all(a.tail.String()) }

// onFailure does what was asked for when the run has failed.
func (a *attended) onFailure(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, failurePatience)
	defer cancel()
	var err error
	switch u, bad := url.Parse(a.set.OnFailure); {
	case bad == nil && (u.Scheme == "http" || u.Scheme == "https"):
		err = a.post(ctx)
	case bad == nil && u.Scheme == "mailto":
		err = a.mail(ctx, u)
	default:
		err = a.command(ctx)
	}
	if err != nil {
		text := "--on-failure did not work: " + err.Error()
		if f := fault.Find(err); f != nil && f.Facts().Hint != "" {
			text += "; " + f.Facts().Hint
		}
		a.alarm(text)
	}
}

// headline is one line that says what failed.
func (a *attended) headline() string {
	return fmt.Sprintf("%s failed on %s: exit code %d (%s)", a.summary.Script, a.summary.Host, a.end_.ExitCode, a.end_.Outcome)
}

// post sends the failure to an address: as a text for chats, and in parts.
func (a *attended) post(ctx context.Context) error {
	client := a.web()
	defer client.Close()
	return notify.Webhook(ctx, client, a.set.OnFailure, map[string]any{
		"text": a.headline() + "\n" + a.lastLines(), "script": a.summary.Script, "run": a.summary.ID, "host": a.summary.Host,
		"exit_code": a.end_.ExitCode, "outcome": a.end_.Outcome, "seconds": a.end_.Seconds, "error": a.end_.Error, "last_lines": a.lastLines(),
	})
}

// mail sends the failure to mailto:somebody, over the server of TRANSECT_SMTP.
func (a *attended) mail(ctx context.Context, to *url.URL) error {
	server := a.world.lookup("TRANSECT_SMTP")
	if server == "" {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "no mail server is known"), "set TRANSECT_SMTP to host:port")
	}
	receiver, err := url.PathUnescape(to.Opaque)
	if err != nil {
		return fault.Of(&fault.ConfigError{}, "%q is no mail address", to.Opaque)
	}
	m := notify.Mail{Server: server, Security: notify.StartTLS, To: strings.Split(receiver, ","), From: a.world.lookup("TRANSECT_MAIL_FROM"),
		User: a.world.lookup("TRANSECT_SMTP_USER"), Password: a.world.lookup("TRANSECT_SMTP_PASSWORD"),
		Subject: "transect: " + a.headline(), Text: a.lastLines(), Timeout: failurePatience}
	for prefix, security := range map[string]string{"smtp://": notify.None, "smtps://": notify.TLS} {
		if rest, ok := strings.CutPrefix(server, prefix); ok {
			m.Server, m.Security = rest, security
		}
	}
	if m.From == "" {
		m.From = "transect@" + a.summary.Host
	}
	return notify.Send(ctx, m)
}

// command runs a shell command: the last lines are its input, the rest is in
// its environment.
func (a *attended) command(ctx context.Context) error {
	shell := []string{"sh", "-c", a.set.OnFailure}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C", a.set.OnFailure}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Dir = a.world.Dir
	cmd.Stdin = strings.NewReader(a.lastLines())
	cmd.Stdout, cmd.Stderr = a.world.Stderr, a.world.Stderr
	message := ""
	if a.end_.Error != nil {
		message = a.end_.Error.Name + ": " + a.end_.Error.Message
	}
	cmd.Env = append(os.Environ(), "TRANSECT_EXIT_CODE="+strconv.Itoa(a.end_.ExitCode), "TRANSECT_OUTCOME="+a.end_.Outcome,
		"TRANSECT_SCRIPT="+a.summary.Script, "TRANSECT_RUN="+a.summary.ID, "TRANSECT_ERROR="+message)
	return cmd.Run()
}
