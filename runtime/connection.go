package runtime

import (
	"cmp"
	"strconv"

	"transect/client"
	"transect/client/fault"
	"transect/client/human"
)

// Connection is a platform and a login, as given by one source of settings. Sources are merged, see over.
type Connection struct {
	Local    bool   // the local platform
	LocalDir string // its folder

	URL              string
	User             string
	Password         string
	PasswordFile     string
	ClientID         string
	ClientSecret     string
	ClientSecretFile string
	AccessToken      string
	AccessTokenFile  string

	Config, Profile string // configuration file, and the entry of its profiles
	Proxy, CACert   string
	Revision        string // of the interface: 1, 2 or 3
}

// Option is one setting: a flag and an environment variable.
type Option struct {
	Flag  string // "" for secrets, which do not belong on a command line
	Env   string
	Value string // placeholder of the value in help
	Doc   string
	Text  *string // destination of the value
	On    *bool   // destination of a switch
}

// Options lists the settings of c: flags, environment variables and their help
// are made from it.
func (c *Connection) Options() []Option {
	return []Option{
		{Flag: "local", Env: "TRANSECT_LOCAL", Doc: "use the local platform", On: &c.Local},
		{Flag: "local-dir", Env: "TRANSECT_LOCAL_DIR", Value: "DIR", Doc: "folder of the local platform", Text: &c.LocalDir},
		{Flag: "url", Env: "TRANSECT_URL", Value: "URL", Doc: "address of the platform", Text: &c.URL},
		{Flag: "user", Env: "TRANSECT_USER", Value: "NAME", Doc: "user to log in as", Text: &c.User},
		{Env: "TRANSECT_PASSWORD", Doc: "the user's password", Text: &c.Password},
		{Flag: "password-file", Env: "TRANSECT_PASSWORD_FILE", Value: "FILE", Doc: "file with the user's password",
			Text: &c.PasswordFile},
		{Flag: "client-id", Env: "TRANSECT_CLIENT_ID", Value: "ID", Doc: "OAuth client to log in as", Text: &c.ClientID},
		{Env: "TRANSECT_CLIENT_SECRET", Doc: "the client's secret", Text: &c.ClientSecret},
		{Flag: "client-secret-file", Env: "TRANSECT_CLIENT_SECRET_FILE", Value: "FILE", Doc: "file with the client's secret",
			Text: &c.ClientSecretFile},
		{Env: "TRANSECT_ACCESS_TOKEN", Doc: "access token", Text: &c.AccessToken},
		{Flag: "access-token-file", Env: "TRANSECT_ACCESS_TOKEN_FILE", Value: "FILE", Doc: "file with an access token",
			Text: &c.AccessTokenFile},
		{Flag: "config", Env: "TRANSECT_CONFIG", Value: "FILE", Doc: "configuration file with any of these settings",
			Text: &c.Config},
		{Flag: "profile", Env: "TRANSECT_PROFILE", Value: "NAME", Doc: "entry of the configuration file's profiles",
			Text: &c.Profile},
		{Flag: "proxy", Env: "TRANSECT_PROXY", Value: "URL", Doc: "proxy for every request", Text: &c.Proxy},
		{Flag: "ca-cert", Env: "TRANSECT_CA_CERT", Value: "FILE", Doc: "PEM file of further trusted certificates",
			Text: &c.CACert},
		{Flag: "revision", Env: "TRANSECT_REVISION", Value: "N",
			Doc: "revision of the interface that scripts are written for: 1, 2 or 3", Text: &c.Revision},
	}
}

// fromEnvironment reads the connection's environment variables.
func fromEnvironment(p *Process) (c Connection, err error) {
	for _, o := range c.Options() {
		value := p.Getenv(o.Env)
		switch {
		case value == "":
		case o.Text != nil:
			*o.Text = value
		default:
			if *o.On, err = strconv.ParseBool(value); err != nil {
				return c, fault.Hinted(fault.Of(&fault.ConfigError{}, "%s must be true or false, got %q", o.Env, value),
					"set it to 1, or unset it")
			}
		}
	}
	return c, nil
}

// check refuses contradictory settings of one source. called returns the name
// of a setting in that source.
func (c *Connection) check(called func(Option) string) error {
	names := map[*string]string{}
	local := ""
	for _, o := range c.Options() {
		if o.On == &c.Local {
			local = called(o)
			continue
		}
		names[o.Text] = called(o)
	}
	exclude := func(a, b string) error {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s and %s are mutually exclusive", a, b), "give one of them")
	}
	for _, rivals := range [][2]*string{
		{&c.Password, &c.PasswordFile}, {&c.ClientSecret, &c.ClientSecretFile}, {&c.AccessToken, &c.AccessTokenFile},
	} {
		if *rivals[0] != "" && *rivals[1] != "" {
			return exclude(names[rivals[0]], names[rivals[1]])
		}
	}
	for _, other := range []*string{&c.URL, &c.Config, &c.Profile} {
		if c.Local && *other != "" {
			return exclude(local, names[other])
		}
	}
	return nil
}

func asFlag(o Option) string        { return "--" + o.Flag }
func asEnvironment(o Option) string { return o.Env }

// over merges c with a source of lower precedence, value by value. A token of one
// source must not win over the user of another, nor a password be combined with
// another user, nor a login reach another platform than it was given for.
func (c Connection) over(under Connection) Connection {
	switch {
	case c.Local:
		under = Connection{LocalDir: under.LocalDir}
	case c.URL == "" && (c.Config != "" || c.Profile != ""):
		// The file selects the platform. A login that came with another platform does not apply.
		if under.Local = false; under.URL != "" {
			under = Connection{Config: under.Config, Profile: under.Profile, Proxy: under.Proxy, CACert: under.CACert,
				Revision: under.Revision, LocalDir: under.LocalDir}
		}
	case c.URL != "":
		under.Local = false
	}
	under.dropLogin(c)
	from := under.Options()
	for i, o := range c.Options() {
		if o.Text != nil && *o.Text == "" {
			*o.Text = *from[i].Text
		}
	}
	c.Local = c.Local || under.Local
	return c
}

// dropLogin removes the parts of the login that over replaces.
func (c *Connection) dropLogin(over Connection) {
	if over.Password != "" || over.PasswordFile != "" {
		c.Password, c.PasswordFile = "", ""
	}
	if over.ClientSecret != "" || over.ClientSecretFile != "" {
		c.ClientSecret, c.ClientSecretFile = "", ""
	}
	token := over.AccessToken != "" || over.AccessTokenFile != ""
	if token || over.User != "" || over.ClientID != "" {
		c.AccessToken, c.AccessTokenFile = "", ""
	}
	// A client may be combined with a user of another source, but not the reverse.
	alone := token || over.ClientID != "" && over.User == ""
	if other := over.User != "" && c.User != "" && c.User != over.User; alone || other {
		c.User, c.Password, c.PasswordFile = "", "", ""
	}
	if other := over.ClientID != "" && c.ClientID != "" && c.ClientID != over.ClientID; token || other {
		c.ClientID, c.ClientSecret, c.ClientSecretFile = "", "", ""
	}
}

// CheckPlanned refuses to send a login to a platform that only a plan names: a login from flags or the
// environment is for the platform named there, or in the configuration file.
func CheckPlanned(p *Process, flags Connection, address string) error {
	named, err := ResolveConnection(p, flags)
	if err != nil {
		return err
	}
	secret := ""
	for _, o := range named.Options() {
		for _, value := range []*string{&named.Password, &named.PasswordFile, &named.ClientSecret, &named.ClientSecretFile,
			&named.AccessToken, &named.AccessTokenFile} {
			if o.Text == value && *value != "" {
				secret = o.Env
			}
		}
	}
	if secret == "" || !named.Local && (named.URL != "" && client.SameOrigin(named.URL, address) ||
		named.URL == "" && client.SameHost(address, p.Path(named.Config), named.Profile)) {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.MissingCredentialsError{},
		"only the plan names the platform %s, and the login that is given (%s) was not given for it", human.Line(address),
		secret), "name the platform to log in there: --url %s; or keep a login of it: transect login --url %[1]s",
		human.Line(address))
}

// ResolveConnection merges the command line with the environment.
func ResolveConnection(p *Process, flags Connection) (Connection, error) {
	if err := flags.check(asFlag); err != nil {
		return flags, err
	}
	env, err := fromEnvironment(p)
	if err != nil {
		return flags, err
	}
	if err := env.check(asEnvironment); err != nil {
		return flags, err
	}
	if file := flags.Config != "" || flags.Profile != ""; file && flags.URL == "" && env.URL != "" &&
		client.SameHost(env.URL, p.Path(cmp.Or(flags.Config, env.Config)), cmp.Or(flags.Profile, env.Profile)) {
		env.URL = "" // the file's platform: the login of the environment is for it
	}
	return flags.over(env), nil
}
