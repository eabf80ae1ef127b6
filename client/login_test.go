package client

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGivenLoginsAreTaken: what the file says of somebody else does not mix
// with the login that was given.
func TestGivenLoginsAreTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "connection.json")
	file := `{"url": "https://p.example", "user": "ann", "password": "a", "client_id": "c", "client_secret": "s"}`
	if err := os.WriteFile(path, []byte("\xef\xbb\xbf"+file), 0o600); err != nil {
		t.Fatal(err)
	}
	type login struct{ User, Password, ClientID, ClientSecret, AccessToken string }
	for name, c := range map[string]struct{ given, want login }{
		"nothing":        {login{}, login{"ann", "a", "c", "s", ""}},
		"a token":        {login{AccessToken: "t"}, login{AccessToken: "t"}},
		"another client": {login{ClientID: "d", ClientSecret: "z"}, login{ClientID: "d", ClientSecret: "z"}},
		"the same user":  {login{User: "ann"}, login{"ann", "a", "c", "s", ""}},
		"another user":   {login{User: "bob", Password: "b"}, login{"bob", "b", "c", "s", ""}},
	} {
		got, err := Settings{ConfigPath: path, User: c.given.User, Password: c.given.Password, ClientID: c.given.ClientID,
			ClientSecret: c.given.ClientSecret, AccessToken: c.given.AccessToken}.Resolve()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, login{got.User, got.Password, got.ClientID, got.ClientSecret, got.AccessToken}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := (Settings{ConfigPath: path, User: "bob"}).Resolve(); err == nil {
		t.Error("the password of another user went along")
	}
}
