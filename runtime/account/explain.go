package account

import (
	"os"

	"transect/client"
	"transect/client/transport"
	"transect/runtime"
)

// Setting is a setting in force: its value, without secrets, and its source.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// Explain lists the connection settings in force, and the files and folders used. The error is the reason why
// it cannot connect.
func Explain(p *runtime.Process, flags runtime.Connection) (settings, files []Setting, err error) {
	named, err := runtime.ResolveConnection(p, flags)
	if err != nil {
		return nil, nil, err
	}
	given := flags.Options()
	for i, o := range named.Options() {
		value, isFlag := "", false
		if o.On != nil && *o.On {
			value, isFlag = "true", *given[i].On
		} else if o.Text != nil {
			value, isFlag = *o.Text, *o.Text == *given[i].Text
		}
		if value == "" {
			continue
		}
		from := "$" + o.Env
		if isFlag {
			from = "--" + o.Flag
		}
		settings = append(settings, Setting{settingName(o), shown(o.Flag == "", value), from})
	}
	resolved, ready := client.Settings{}, error(nil)
	if !named.Local {
		var s client.Settings
		s.URL, s.User, s.Password, s.ClientID, s.ClientSecret, s.AccessToken = named.URL, named.User, named.Password,
			named.ClientID, named.ClientSecret, named.AccessToken
		s.ConfigPath, s.Profile = p.Path(named.Config), named.Profile
		for _, secret := range []struct {
			file  string
			value *string
		}{{named.PasswordFile, &s.Password}, {named.ClientSecretFile, &s.ClientSecret},
			{named.AccessTokenFile, &s.AccessToken}} {
			if _, err := os.Stat(p.Path(secret.file)); secret.file != "" && err == nil {
				*secret.value = "in " + secret.file
			}
		}
		given := s
		resolved, ready = s.Resolve()
		settings = append(settings, ofFile(given, resolved)...)
	}
	files = append(files, Setting{"configuration", exists(resolved.ConfigFile, client.LoginFile(named.Config)), ""})
	if p.Backend != nil {
		if dir, err := p.Backend(p).Folder(named.LocalDir); err == nil {
			files = append(files, Setting{"local platform", exists("", dir), ""})
		}
	}
	files = append(files, Setting{"state and history", exists("", p.StateDir()), ""})
	return settings, files, ready
}

// ofFile lists what the configuration file added.
func ofFile(given, resolved client.Settings) (settings []Setting) {
	for _, v := range []struct {
		name          string
		before, after string
		secret        bool
	}{
		{"url", given.URL, resolved.URL, false}, {"user", given.User, resolved.User, false},
		{"password", given.Password, resolved.Password, true},
		{"client-id", given.ClientID, resolved.ClientID, false},
		{"client-secret", given.ClientSecret, resolved.ClientSecret, true},
		{"access-token", given.AccessToken, resolved.AccessToken, true}, {"proxy", given.ProxyURL, resolved.ProxyURL, false},
		{"ca-cert", given.CACert, resolved.CACert, false},
	} {
		if v.before != "" || v.after == "" {
			continue
		}
		from := resolved.ConfigFile
		if v.secret && resolved.Keyring {
			from = "the system's keyring"
		}
		settings = append(settings, Setting{v.name, shown(v.secret, v.after), from})
	}
	return settings
}

func settingName(o runtime.Option) string {
	if o.Flag != "" {
		return o.Flag
	}
	return map[string]string{"TRANSECT_PASSWORD": "password", "TRANSECT_CLIENT_SECRET": "client-secret",
		"TRANSECT_ACCESS_TOKEN": "access-token"}[o.Env]
}

// shown hides secret values.
func shown(secret bool, value string) string {
	if secret {
		return "(set)"
	}
	return transport.Redact(value)
}

// exists formats a path and whether it exists.
func exists(read, path string) string {
	if read != "" {
		return read
	}
	if _, err := os.Stat(path); err != nil {
		return path + " (not there)"
	}
	return path
}
