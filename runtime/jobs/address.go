package jobs

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"transect/client/fault"
)

func badURL(format string, args ...any) error {
	err := fault.Of(&fault.ConfigError{}, "the address of the jobs: "+format, args...)
	return fault.Hinted(err, "such as postgres://user@host/database; the password can be in ~/.pgpass")
}

// remote reports whether a server is on another machine.
func remote(u *url.URL) bool {
	for _, host := range strings.Split(u.Host, ",") {
		name := (&url.URL{Host: host}).Hostname()
		if given := u.Query().Get("host"); name == "" && given != "" {
			name = given
		}
		if name == "" {
			name = os.Getenv("PGHOST")
		}
		ip := net.ParseIP(name)
		if name != "" && !strings.HasPrefix(name, "/") && name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return true
		}
	}
	return false
}

// Redacted returns an address without its password.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(an address that cannot be read)"
	}
	query := u.Query()
	for _, name := range []string{"password", "sslpassword"} {
		if query.Has(name) {
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}

// Password returns the password in an address; ok is false without one.
func Password(address string) (password string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	if password, ok = u.User.Password(); !ok {
		password = u.Query().Get("password")
	}
	return password, password != ""
}

// Login returns the password that an address is used with, also from PGPASSWORD or a file of passwords, and the
// path of that file, which need not exist; both are "" for SQLite.
func Login(address string) (password, file string) {
	if !strings.HasPrefix(address, "postgres") {
		return "", ""
	}
	config, err := postgresConfig(address)
	if err != nil {
		return "", ""
	}
	u, _ := url.Parse(address) // postgresConfig has
	file = cmp.Or(u.Query().Get("passfile"), os.Getenv("PGPASSFILE"))
	if home, err := os.UserHomeDir(); file == "" && err == nil {
		file = filepath.Join(home, ".pgpass")
		if runtime.GOOS == "windows" {
			file = filepath.Join(os.Getenv("APPDATA"), "postgresql", "pgpass.conf")
		}
	}
	return config.ConnConfig.Password, file
}

// withoutPassword returns the text of an error that may contain the address.
func withoutPassword(address string, err error) string {
	text := strings.ReplaceAll(err.Error(), address, Redacted(address))
	u, failed := url.Parse(address)
	if failed != nil {
		return "it cannot be read"
	}
	secrets := []string{u.Query().Get("password"), u.Query().Get("sslpassword")}
	if u.User != nil {
		given, _ := u.User.Password()
		secrets = append(secrets, given)
	}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			text = strings.ReplaceAll(text, form, "xxxxx")
		}
	}
	return text
}
