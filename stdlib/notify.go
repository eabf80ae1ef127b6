package stdlib

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/notify"
)

var notifyModule = &module.Module{
	Name: "notify",
	Doc: "Notifies people and monitors of runs. A message is sent again when a connection breaks, so it may arrive " +
		"twice rather than not at all. Addresses and passwords are never part of an error.",
	Lazy: notifyFuncs,
}

func notifyFuncs() []module.Func {
	return []module.Func{
		{
			Name: "ping",
			Doc: "Notifies a monitor (such as healthchecks) that a job started, succeeded or failed: a POST to the " +
				"address, to address/start or to address/fail.",
			Params: []module.Param{{Name: "url", Type: "string", Doc: "the address of the check"},
				{Name: "event", Type: "string", Doc: "what happened", Default: notify.Success,
					Choices: []string{notify.Start, notify.Success, notify.Fail}},
				{Name: "options", Fields: []module.Param{
					{Name: "body", Type: "string",
						Doc: "text to store with it, such as the end of a log; only the last 100 kB are sent", Default: ""},
					{Name: "ca_cert", Type: "string", Doc: "a file of certificates to trust besides the system's", Optional: true},
				}}},
			Call: func(c *module.Call) (any, error) {
				client := webClient(c)
				at, event, body := c.String("url"), c.String("event"), c.String("body")
				return nil, c.Blocking(func(ctx context.Context) error { return notify.Ping(ctx, client, at, event, body) })
			},
		},
		{
			Name: "webhook",
			Doc: "Posts a message to a URL, such as a chat channel's. Give either text, sent as {\"text\": …}, or " +
				"json.",
			Params: []module.Param{{Name: "url", Type: "string", Doc: "the address of the hook"},
				{Name: "options", Fields: []module.Param{
					{Name: "text", Type: "string", Doc: "the message", Optional: true},
					{Name: "json", Type: "any", Doc: "a value to send instead"},
					{Name: "ca_cert", Type: "string", Doc: "a file of certificates to trust besides the system's", Optional: true},
				}}},
			Call: webhook,
		},
		{
			Name: "email",
			Doc: "Sends a mail. User and password only ever travel encrypted. A server that cannot take it now is a " +
				"ConnectionError, refused credentials are a ConfigError.",
			Params: []module.Param{{Name: "options", Fields: emailOptions}},
			Call:   email,
		},
	}
}

var emailOptions = []module.Param{
	{Name: "smtp", Type: "string", Doc: "the server: host:port, port 587 if left out"},
	{Name: "tls", Type: "string",
		Doc: "starttls: encrypt after the greeting; tls: from the start, as on port 465; none: not at all, without " +
			"credentials", Default: notify.StartTLS,
		Choices: []string{notify.StartTLS, notify.TLS, notify.None}},
	{Name: "user", Type: "string", Doc: "user to log in to the server as", Optional: true},
	{Name: "password", Type: "string", Doc: "the user's", Optional: true},
	{Name: "from", Type: "string", Doc: "the sender: ops@example.com or Ops <ops@example.com>"},
	{Name: "to", Type: "string|table", Doc: "a receiver, or a list"},
	{Name: "cc", Type: "string|table", Doc: "who gets a copy", Optional: true},
	{Name: "bcc", Type: "string|table", Doc: "who gets a blind copy", Optional: true},
	{Name: "reply_to", Type: "string", Doc: "address for replies", Optional: true},
	{Name: "subject", Type: "string", Doc: "one line"},
	{Name: "body", Type: "string", Doc: "the text", Default: ""},
	{Name: "html", Type: "string", Doc: "the text as HTML", Optional: true},
	{Name: "attachments", Type: "table", Doc: "a list of files to send along, 25 MiB together", Optional: true},
	secondsParam(module.Param{Name: "timeout", Doc: "limit in seconds for the whole transfer", Default: 60}),
	{Name: "ca_cert", Type: "string", Doc: "a file of certificates to trust besides the system's", Optional: true},
}

func webhook(c *module.Call) (any, error) {
	client := webClient(c)
	hasJSON := c.Value("json") != lua.LNil
	if c.Has("text") == hasJSON {
		return nil, fault.Of(&fault.ParameterError{}, "give either text or json")
	}
	c.Must(schema.CheckText(c.String("text")))
	var message any = c.String("text")
	if hasJSON {
		text := encodeValue(c, "json")
		message = json.RawMessage(text)
	}
	at := c.String("url")
	if u, err := url.Parse(at); err == nil && !vm.Happens(c.L, sandbox.Effect{Kind: sandbox.SendRequest,
		What: "POST " + u.Scheme + "://" + u.Host}) {
		return nil, nil // the path of a webhook is a secret
	}
	return nil, c.Blocking(func(ctx context.Context) error { return notify.Webhook(ctx, client, at, message) })
}

// longestAttachments is the total size that mail servers commonly accept.
const longestAttachments = 25 << 20

func email(c *module.Call) (any, error) {
	client := webClient(c)
	for _, name := range []string{"from", "reply_to", "subject", "body", "html"} {
		if err := schema.CheckText(c.String(name)); err != nil {
			return nil, fault.Of(&fault.ParameterError{}, "option %s: %w", name, err)
		}
	}
	m := notify.Mail{Server: c.String("smtp"), Security: c.String("tls"), User: c.String("user"),
		Password: c.String("password"),
		From:     c.String("from"), ReplyTo: c.String("reply_to"), Subject: c.String("subject"), Text: c.String("body"),
		HTML:    c.String("html"),
		Timeout: c.Seconds("timeout"), Permit: client.Permit, Sending: client.Sending}
	var err error
	m.Roots, err = client.Trusted()
	c.Must(err)
	for name, list := range map[string]*[]string{"to": &m.To, "cc": &m.Cc, "bcc": &m.Bcc} {
		*list = texts(c, name)
	}
	files := texts(c, "attachments")
	paths := make([]string, len(files))
	for i, name := range files {
		paths[i] = c.In.Path(name)
		c.Must(c.In.Permit(sandbox.Read, paths[i])) // before anything is sent
	}
	if !vm.Happens(c.L, sandbox.Effect{Kind: sandbox.SendMail, What: strings.Join(m.To, ", ")}) {
		return nil, nil
	}
	return nil, c.Blocking(func(ctx context.Context) error {
		for i, path := range paths {
			data, err := attachment(c.In, path, &m)
			if err != nil {
				return fault.Of(&fault.FileError{}, "the attachment %s: %w", files[i], err)
			}
			m.Attachments = append(m.Attachments, notify.Attachment{Name: filepath.Base(path), Data: data})
		}
		return notify.Send(ctx, m)
	})
}

// attachment reads a file, unless it exceeds the size limit of the mail.
func attachment(in *vm.Interp, path string, m *notify.Mail) ([]byte, error) {
	info, err := in.Stat(path)
	if err != nil {
		return nil, fault.Reason(err)
	}
	size := info.Size()
	for _, a := range m.Attachments {
		size += int64(len(a.Data))
	}
	if size > longestAttachments {
		return nil, fault.Of(&fault.LimitError{}, "together they are larger than 25 MiB")
	}
	data, err := in.ReadFile(path)
	return data, fault.Reason(err)
}

// texts reads an option that is a text or a list of texts.
func texts(c *module.Call, name string) (list []string) {
	for _, v := range oneOrList(c.Value(name)) {
		list = append(list, v.String())
	}
	return list
}
