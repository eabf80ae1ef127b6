package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"

	"transect/client/fault"
)

// Settings are the platform to connect to, the login, and how to connect. Empty
// values count as absent.
type Settings struct {
	URL          string `json:"url" arg:"url" doc:"address of the platform"`
	User         string `json:"user" arg:"user" doc:"user to log in as"`
	Password     string `json:"password" arg:"password" secret:"yes" doc:"the user's password"`
	ClientID     string `json:"client_id" arg:"client_id" doc:"OAuth client to log in as"`
	ClientSecret string `json:"client_secret" arg:"client_secret" alias:"secret" secret:"yes" doc:"the client's secret"`
	AccessToken  string `json:"access_token" arg:"access_token" secret:"yes" doc:"access token, instead of a login"`
	Domain       string `json:"domain" arg:"domain" doc:"domain of the login"` // kept for those who read it; nothing depends on it
	ProxyURL     string `json:"proxy_url" arg:"proxy_url" doc:"proxy for every request"`
	Scope        string `json:"scope" arg:"scope" doc:"scope of the token"`
	CACert       string `json:"ca_cert" arg:"ca_cert" doc:"PEM file of further trusted certificates"`
	Keyring      bool   `json:"keyring"` // of a file: the secret of its login is in the system's keyring

	Revision int `json:"revision" arg:"revision" doc:"revision of the interface: 1 is the newest and the default, 2 and 3 are older"`

	Connection *Connection `json:"connection" arg:"connection" doc:"max_retries, max_outage, disable_ssl_certificate"` // replaces the file's, never merged

	ConfigFile  string        `json:"-"` // set by Resolve: the file that was read, if any
	ConfigPath  string        `json:"-" arg:"config_path" alias:"file_path" doc:"configuration file with any of these settings"`
	Profile     string        `json:"-" arg:"profile" doc:"entry of the configuration file's profiles"`
	Service     []string      `json:"-" arg:"service" type:"string|[]string" doc:"names of the program, for the platform's logs"`
	Timeout     time.Duration `json:"-" arg:"timeout" unit:"seconds" min:"0.001" doc:"seconds one request may take"`
	ForcePrompt bool          `json:"-" arg:"force_prompt" doc:"true asks for url, user and password on the terminal"`

	Extra map[string]any `json:"-"` // further keys, merged over the file's
	Given []string       `json:"-"` // names of the arguments, refused when the revision lacks one

	withheld string // why the secrets of the configuration file are not used
	mixed    string // which parts of the login come from where, when there are several sources
}

// Connection are the settings of the transport.
type Connection struct {
	MaxRetries            *int     `json:"max_retries" arg:"max_retries" min:"0" doc:"retries of a request"`
	MaxOutage             *float64 `json:"max_outage" arg:"max_outage" unit:"seconds" min:"0" doc:"how long requests are repeated while the network or the platform is away, 300 unless max_retries is given; 0 does not wait"`
	DisableSSLCertificate bool     `json:"disable_ssl_certificate" arg:"disable_ssl_certificate" doc:"true accepts any certificate"`
}

// Resolve merges what was given with the configuration file: an argument wins
// over the file, value by value.
func (s Settings) Resolve() (Settings, error) {
	file, err := s.readFile()
	if err != nil {
		return s, err
	}
	out := s
	out.ConfigFile = file.ConfigFile
	out.withheld = cmp.Or(file.withhold(s.URL), file.withheld)
	file.yieldLogin(s)
	out.mixed = file.mixedWith(s)
	given, found := reflect.ValueOf(&out).Elem(), reflect.ValueOf(file)
	for i := range given.NumField() {
		if given.Field(i).CanSet() && given.Field(i).IsZero() {
			given.Field(i).Set(found.Field(i))
		}
	}
	return out, nameKeys(out.ConfigFile, out.complete())
}

// withhold removes the secrets of a configuration file from its settings when
// the platform that was given is not the one they are for, and warns about it.
func (s *Settings) withhold(given string) (why string) {
	if given == "" || s.URL == "" || origin(given) == origin(s.URL) {
		return ""
	}
	kind := ""
	for _, secret := range []struct {
		kind  string
		value *string
		held  bool
	}{
		{"access token", &s.AccessToken, s.Keyring && s.User == "" && s.ClientID == ""},
		{"client secret", &s.ClientSecret, s.Keyring && s.User == "" && s.ClientID != ""},
		{"password", &s.Password, s.Keyring && s.User != ""},
	} {
		if *secret.value != "" || secret.held {
			kind = secret.kind
		}
		*secret.value = ""
	}
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("the %s of %s is for %s", kind, s.ConfigFile, origin(s.URL))
}

// SameOrigin reports whether two addresses are of platforms that get the same secrets.
func SameOrigin(a, b string) bool { return origin(a) == origin(b) }

// origin returns the part of a platform's address that decides who gets a secret.
func origin(address string) string {
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	host := strings.ToLower(u.Host)
	if port := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// yieldLogin removes from the file's login what would win over a complete login
// that was given. Otherwise values merge one by one: a user that is given goes
// along with the password of the file.
func (s *Settings) yieldLogin(given Settings) {
	if given.AccessToken != "" {
		s.User, s.Password, s.ClientID, s.ClientSecret = "", "", "", ""
	}
	if given.AccessToken != "" || given.User != "" || given.ClientID != "" {
		s.AccessToken = ""
	}
	// A given client may be combined with the file's user, but not the other way round.
	if given.ClientID != "" && given.ClientSecret != "" && given.User == "" {
		s.User, s.Password = "", ""
	}
}

// mixedWith describes a login with one part given and the other from a file
// that names another login, for the message when the platform refuses it.
func (s Settings) mixedWith(given Settings) string {
	switch {
	case given.User != "" && given.User != s.User && given.Password == "" && s.Password != "":
		return fmt.Sprintf("user %s was given, but the password belongs to %s", given.User, s.fileUser("user", s.User))
	case given.Password != "" && given.User == "" && s.User != "":
		return fmt.Sprintf("the password was given, but user %s comes from %s", s.User, s.ConfigFile)
	case given.ClientID != "" && given.ClientID != s.ClientID && given.ClientSecret == "" && s.ClientSecret != "":
		return fmt.Sprintf("client %s was given, but the secret belongs to %s", given.ClientID,
			s.fileUser("client", s.ClientID))
	case given.ClientSecret != "" && given.ClientID == "" && s.ClientID != "":
		return fmt.Sprintf("the client secret was given, but client %s comes from %s", s.ClientID, s.ConfigFile)
	}
	return ""
}

// fileUser names who a secret of the configuration file belongs to.
func (s Settings) fileUser(kind, name string) string {
	if name == "" {
		return s.ConfigFile
	}
	return fmt.Sprintf("%s %s in %s", kind, name, s.ConfigFile)
}

// complete refuses settings that cannot work, before any request.
func (s Settings) complete() error {
	switch {
	case s.URL == "":
		return noConnection()
	case s.Revision < 0 || s.Revision > oldestRevision:
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "there is no revision %d of the interface", s.Revision),
			"revision is 1 (the newest, unless another is given), 2 or 3")
	case s.lacking() != "":
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "argument %s does not exist in this revision of the interface",
			s.lacking()), "connect with another revision")
	case s.User == "" && s.ClientID == "" && s.AccessToken == "":
		return fault.Hinted(fault.Of(&fault.MissingCredentialsError{}, "no credentials for %s", s.URL),
			"%s", s.hintWithheld("TRANSECT_PASSWORD with TRANSECT_USER",
				"give --user with --password-file, --client-id with --client-secret-file, --access-token-file, or a "+
					"configuration file with --config"))
	case s.User != "" && s.Password == "" && s.AccessToken == "":
		return fault.Hinted(fault.Of(&fault.MissingCredentialsError{}, "user %s has no password", s.User), "%s",
			s.hintWithheld("TRANSECT_PASSWORD", "give --password-file FILE or set TRANSECT_PASSWORD"+s.notIn("password")))
	case s.ClientID != "" && s.ClientSecret == "" && s.User == "" && s.AccessToken == "":
		return fault.Hinted(fault.Of(&fault.MissingCredentialsError{}, "client %s has no secret", s.ClientID), "%s",
			s.hintWithheld("TRANSECT_CLIENT_SECRET",
				"give --client-secret-file FILE or set TRANSECT_CLIENT_SECRET"+s.notIn("client_secret")))
	}
	return nil
}

// hintWithheld returns the hint for a login that lacks a secret: why the
// configuration file's was not used, or otherwise.
func (s Settings) hintWithheld(variable, otherwise string) string {
	if s.withheld == "" {
		return otherwise
	}
	login := "transect login --url " + s.URL
	if s.Profile != "" {
		login += " --profile " + s.Profile
	}
	return fmt.Sprintf("%s; give %s, or %s", s.withheld, variable, login)
}

// notIn returns "; <file> holds no <key>", or "" when no configuration file was read.
func (s Settings) notIn(key string) string {
	if s.ConfigFile == "" {
		return ""
	}
	return fmt.Sprintf("; %s holds no %s", s.ConfigFile, key)
}

// ErrNoConnection is the cause of the error of a script that needs a platform when none was named.
var ErrNoConnection = errors.New("no platform was named")

// noConnection returns the error of a script that needs a platform when none
// was named. There is no fallback to the local one.
func noConnection() error {
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "%w", ErrNoConnection),
		"transect login keeps one; or name it: --local for the local platform; --url with --user or --client-id (or "+
			"TRANSECT_URL and so on); --config FILE for a configuration file")
}
