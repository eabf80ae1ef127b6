package runtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"transect/client"
	"transect/platform"
)

func TestSourcesOverOneAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		over, under, want Connection
	}{
		{"value by value",
			Connection{URL: "a"}, Connection{URL: "b", User: "u", Password: "p", Proxy: "x"},
			Connection{URL: "a", User: "u", Password: "p", Proxy: "x"}},
		{"a password for the user named above",
			Connection{User: "u"}, Connection{Password: "p"}, Connection{User: "u", Password: "p"}},
		{"the same user",
			Connection{User: "u"}, Connection{User: "u", Password: "p"}, Connection{User: "u", Password: "p"}},
		{"a file for a value",
			Connection{PasswordFile: "f"}, Connection{User: "u", Password: "p"}, Connection{User: "u", PasswordFile: "f"}},
		{"the password of another user",
			Connection{User: "u"}, Connection{User: "v", Password: "p"}, Connection{User: "u"}},
		{"no token beside a user",
			Connection{User: "u", PasswordFile: "f"}, Connection{AccessTokenFile: "t"}, Connection{User: "u", PasswordFile: "f"}},
		{"no user beside a token",
			Connection{AccessToken: "t"}, Connection{User: "u", Password: "p", ClientID: "c", ClientSecret: "s"}, Connection{AccessToken: "t"}},
		{"a password for the file named above",
			Connection{Config: "f"}, Connection{User: "u", Password: "p"}, Connection{Config: "f", User: "u", Password: "p"}},
		{"a password for the profile named above",
			Connection{Profile: "f"}, Connection{Password: "p", Local: true}, Connection{Profile: "f", Password: "p"}},
		{"no password of another platform for a file",
			Connection{Config: "f"}, Connection{URL: "a", User: "u", Password: "p"}, Connection{Config: "f"}},
		{"a client comes along with a user",
			Connection{User: "u", Password: "p"}, Connection{ClientID: "c", ClientSecret: "s"},
			Connection{User: "u", Password: "p", ClientID: "c", ClientSecret: "s"}},
		{"no user beside a client",
			Connection{ClientID: "c"}, Connection{User: "u", Password: "p", ClientSecret: "s"}, Connection{ClientID: "c", ClientSecret: "s"}},
		{"local instead of everything",
			Connection{Local: true}, Connection{URL: "a", User: "u", Password: "p", LocalDir: "d"}, Connection{Local: true, LocalDir: "d"}},
		{"everything instead of local",
			Connection{URL: "a"}, Connection{Local: true, LocalDir: "d"}, Connection{URL: "a", LocalDir: "d"}},
		{"local below",
			Connection{LocalDir: "e"}, Connection{Local: true, LocalDir: "d"}, Connection{Local: true, LocalDir: "e"}},
	} {
		if diff := cmp.Diff(c.want, c.over.over(c.under)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestScriptsOwnConnection(t *testing.T) {
	t.Parallel()
	remote := Connection{URL: "a", User: "u", Password: "p", Config: "c", Proxy: "x"}
	local := Connection{Local: true, LocalDir: "d"}
	for _, c := range []struct {
		name  string
		own   client.Settings
		named Connection
		want  Connection
	}{
		{"nothing of its own", client.Settings{}, remote, remote},
		{"another platform takes no login along", client.Settings{URL: "b"}, remote, Connection{URL: "b", Proxy: "x"}},
		{"a file of its own", client.Settings{ConfigPath: "f"}, remote, Connection{Config: "f", Proxy: "x"}},
		{"another user of the same platform", client.Settings{User: "v", Password: "q"}, remote,
			Connection{URL: "a", User: "v", Password: "q", Config: "c", Proxy: "x"}},
		{"the local platform", client.Settings{}, local, local},
		{"the local platform by its address", client.Settings{URL: platform.Address}, local, local},
		{"another platform beside the local one", client.Settings{URL: "b", User: "v"}, local, Connection{URL: "b", User: "v"}},
	} {
		if diff := cmp.Diff(c.want, (&connector{named: c.named, backend: &testBackend{}}).mergeScript(&c.own)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Every setting has a variable, and a flag unless it is a secret.
func TestOptionsAreComplete(t *testing.T) {
	t.Parallel()
	var c Connection
	seen := map[string]bool{}
	for _, o := range c.Options() {
		secret := o.Text == &c.Password || o.Text == &c.ClientSecret || o.Text == &c.AccessToken
		if o.Env == "" || o.Doc == "" || seen[o.Env] || (o.Text == nil) == (o.On == nil) || secret != (o.Flag == "") {
			t.Errorf("%+v", o)
		}
		seen[o.Env] = true
	}
}
