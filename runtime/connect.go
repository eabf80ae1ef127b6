package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"transect/bindings"
	"transect/client"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/journal"
	"transect/client/transfer"
	"transect/client/transport"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// connector opens the connections of a run when the script needs them.
type connector struct {
	process *Process
	job     *Job
	parts   []Part
	named   Connection // by the command line and the environment
	in      *vm.Interp
	policy  *sandbox.Policy  // nil without a sandbox
	backend Backend          // nil in a program without one
	stats   *transfer.Stats  // shared by all connections
	journal *journal.Journal // of uploads

	traceable bool // tracing can be turned on later
	tracing   atomic.Bool
}

func newConnector(p *Process, job *Job, parts []Part, named Connection, in *vm.Interp) *connector {
	c := &connector{process: p, job: job, parts: parts, named: named, in: in, policy: job.policy, backend: job.Backend,
		stats:   transfer.NewStats(),
		journal: journal.New(in.StateDir(), in.Options().Logger),
	}
	if c.backend == nil && p.Backend != nil {
		c.backend = p.Backend(p)
	}
	return c
}

// connect opens a connection with the settings of the command line, or those
// of the script merged with them.
func (c *connector) connect(ctx context.Context, own *client.Settings) (*client.Client, error) {
	if own == nil {
		own = &client.Settings{}
	}
	if err := c.checkFiles(own); err != nil {
		return nil, err
	}
	named := c.mergeScript(own)
	settings := *own
	if err := c.fill(&settings, named); err != nil {
		return nil, err
	}
	options := c.options()
	if own.Connection == nil || own.Connection.MaxOutage == nil {
		options.MaxOutage = c.job.Transfers.MaxOutage
	}
	if named.Local {
		if c.backend == nil {
			return nil, fault.Of(&fault.ConfigError{}, "this program has no local platform")
		}
		login, answers, err := c.backend.Open(ctx, named.LocalDir, c.job.DryRun, options.Logger)
		if err != nil {
			return nil, err
		}
		useLocal(&settings, login)
		options.RoundTripper = answers
	}
	if own.ForcePrompt {
		if err := c.ask(ctx, &settings); err != nil {
			return nil, err
		}
		if !c.isLocal(settings.URL) {
			options.RoundTripper = nil // the answer is another platform
		}
	}
	if !named.Local {
		var err error
		if settings, err = settings.Resolve(); err != nil {
			return nil, err
		}
		if info, err := os.Stat(settings.ConfigFile); err == nil {
			warnIfReadable("configuration", settings.ConfigFile, info, options.Logger)
		}
	}
	if err := c.restrict(own, settings, &options); err != nil {
		return nil, err
	}
	for part := range PartsOf[Linker](c.parts) {
		part.Link(settings.URL, &options)
	}
	connection, err := client.New(ctx, settings, options)
	for part := range PartsOf[Checker](c.parts) {
		if err == nil {
			err = part.Check(ctx, connection, settings.URL)
		}
	}
	return connection, err
}

// Connected connects like a script does and calls work with the client, until
// work returns or a signal comes. label names the platform.
func Connected(ctx context.Context, p *Process, job Job,
	work func(ctx context.Context, c *client.Client, label string) error) error {
	return Perform(ctx, p, &job, func(x *Execution, ctx context.Context) error {
		c, err := x.connector.connect(ctx, nil)
		if err != nil {
			return err
		}
		label := x.connector.label()
		if x.connector.named.Local {
			label = "local platform"
		}
		return work(ctx, c, label)
	})
}

// Connections lets a prompt name, trace and replace the connection of its run.
type Connections struct {
	connector *connector
	binding   *bindings.Binding
	first     Connection
}

// Connections returns the connections that a binding opens.
func (x *Execution) Connections(b *bindings.Binding) *Connections {
	x.connector.traceable = true
	x.connector.tracing.Store(x.job.Trace)
	return &Connections{connector: x.connector, binding: b, first: x.connector.named}
}

// Label names the platform.
func (c *Connections) Label() string { return c.connector.label() }

// Trace turns the printing of requests on or off.
func (c *Connections) Trace(on bool) { c.connector.tracing.Store(on) }

// Profiles lists the profiles of the configuration, and the one in use.
func (c *Connections) Profiles() (names []string, current string) {
	named := c.connector.named
	return client.Profiles(c.connector.process.Path(named.Config)), named.Profile
}

// Use connects with a profile from now on; "-" is the first connection.
func (c *Connections) Use(profile string) error {
	named := c.first
	if profile != "-" {
		named = Connection{Profile: profile}.over(c.first)
		var s client.Settings
		if err := c.connector.fill(&s, named); err != nil {
			return err
		}
		if _, err := s.Resolve(); err != nil {
			return err
		}
	}
	c.connector.named = named
	c.binding.Reconnect()
	return nil
}

// label names the platform.
func (c *connector) label() string {
	if c.named.Local {
		return "local"
	}
	s := client.Settings{URL: c.named.URL, ConfigPath: c.process.Path(c.named.Config), Profile: c.named.Profile}
	s, _ = s.Resolve() // what is missing is reported when connecting
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "":
		return "transect"
	case c.named.Profile != "":
		return c.named.Profile + "@" + u.Host
	}
	return u.Host
}

func (c *connector) close() error {
	var err error
	for part := range PartsOf[io.Closer](c.parts) {
		err = errors.Join(err, part.Close())
	}
	if c.job.Backend != nil || c.backend == nil { // its owner closes it
		return err
	}
	return errors.Join(err, c.backend.Close())
}

func (c *connector) options() client.Options {
	out := c.in.Options()
	t := c.job.Transfers
	options := client.Options{Version: c.job.Version, Logger: out.Logger, Env: c.process.Env, Budget: t.budget,
		Stats:     c.stats,
		Bandwidth: t.Bandwidth, RequestRate: t.Rate, Stall: t.Stall, Journal: c.journal, Rehearses: c.job.DryRun}
	if c.policy != nil {
		options.Links = []client.Link{client.At(client.PlacePermit, c.policy.Intercept),
			client.At(client.PlaceCharge, c.policy.Charge)}
		options.Sending, options.Plan, options.Room = c.policy.Sending, c.policy.Plan, c.policy.Room
	}
	if c.in.Guarded() {
		options.Tree = files.Tree{View: c.in}
		options.Folder = func(folder, name string) (*os.Root, error) { return c.in.Receive(folder, name) }
	}
	if trace := tracer(out.Stderr, c.job.Output.JSON); c.traceable {
		options.Trace = func(r transport.TraceRecord) {
			if c.tracing.Load() {
				trace(r)
			}
		}
	} else if c.job.Trace {
		options.Trace = trace
	}
	return options
}

// isLocal reports whether an address is the backend's.
func (c *connector) isLocal(address string) bool {
	return c.backend != nil && address == c.backend.Address()
}

// mergeScript merges a script's settings with the command line's. When the
// script names a platform of its own, the platform and the login of the
// command line do not apply.
func (c *connector) mergeScript(own *client.Settings) Connection {
	named := c.named
	script := Connection{
		URL: own.URL, User: own.User, Password: own.Password, ClientID: own.ClientID, ClientSecret: own.ClientSecret,
		AccessToken: own.AccessToken, Config: own.ConfigPath, Profile: own.Profile, Proxy: own.ProxyURL, CACert: own.CACert,
	}
	other := script.URL != "" && script.URL != named.URL || script.Config != "" || script.Profile != "" && named.Local
	if local := named.Local && c.isLocal(script.URL); other && !local {
		named = Connection{Proxy: named.Proxy, CACert: named.CACert, Revision: named.Revision}
	} else if local {
		script.URL = ""
	}
	return script.over(named)
}

// fill completes settings with a connection and the secrets of its files.
func (c *connector) fill(s *client.Settings, named Connection) error {
	for _, secret := range []struct {
		name  string
		file  string
		value *string
	}{
		{"password", named.PasswordFile, &named.Password},
		{"client secret", named.ClientSecretFile, &named.ClientSecret},
		{"access token", named.AccessTokenFile, &named.AccessToken},
	} {
		if secret.file == "" || *secret.value != "" {
			continue
		}
		var err error
		if *secret.value, err = readSecret(c.in.Options().Logger, secret.name, c.process.Path(secret.file)); err != nil {
			return err
		}
	}
	s.URL, s.User, s.Password = named.URL, named.User, named.Password
	s.ClientID, s.ClientSecret, s.AccessToken = named.ClientID, named.ClientSecret, named.AccessToken
	s.ConfigPath, s.Profile = c.process.Path(named.Config), named.Profile
	s.ProxyURL, s.CACert = named.Proxy, c.process.Path(named.CACert)
	if named.Revision != "" && s.Revision == 0 {
		var err error
		if s.Revision, err = strconv.Atoi(named.Revision); err != nil || s.Revision < 1 {
			return fault.Hinted(fault.Of(&fault.ConfigError{}, "there is no revision %s of the interface", named.Revision),
				"revision is 1, the newest, 2 or 3")
		}
	}
	return nil
}

// useLocal completes settings with the login of the local platform.
func useLocal(s *client.Settings, login client.Settings) {
	s.URL = login.URL
	if s.User != "" || s.ClientID != "" || s.AccessToken != "" {
		if s.User == login.User && s.Password == "" {
			s.Password = login.Password
		}
		return
	}
	s.User, s.Password, s.ClientID, s.ClientSecret = login.User, login.Password, login.ClientID, login.ClientSecret
}

// ExchangeLine is the line of --log-format json for a request that --trace shows.
type ExchangeLine struct {
	Time     time.Time             `json:"time"`
	Level    string                `json:"level" jsonschema:"TRACE"`
	Message  string                `json:"msg"`
	Exchange transport.TraceRecord `json:"exchange"`
}

// tracer prints exchanges, for people or as JSON lines.
func tracer(out io.Writer, asJSON bool) func(transport.TraceRecord) {
	if !asJSON {
		return transport.TraceWriter(out)
	}
	return func(r transport.TraceRecord) {
		line, _ := json.Marshal(ExchangeLine{r.Time, "TRACE", r.Method + " " + r.URL, r})
		_, _ = out.Write(append(line, '\n')) // a trace that cannot be written does not stop the run
	}
}
