package client

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"transect/client/fault"
)

// TestGivenLoginsAreTaken: values merge one by one, but a login that was given
// completely is not replaced by one of the file.
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
}

// A login may have several sources; when the platform refuses it, the message
// names them.
func TestMixedLoginsNameTheirSources(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(refusing.Close)
	path := filepath.Join(t.TempDir(), "connection.json")
	for file, cases := range map[string]map[string]Settings{
		`{"user": "ann", "password": "a"}`: {
			"user bob was given, but the password belongs to user ann in " + path: {User: "bob"},
			"the password was given, but user ann comes from " + path:             {Password: "b"},
			"": {User: "bob", Password: "b"},
		},
		`{"password": "a"}`: {"user bob was given, but the password belongs to " + path: {User: "bob"}},
		`{"client_id": "c", "client_secret": "s"}`: {
			"client d was given, but the secret belongs to client c in " + path: {ClientID: "d"},
			"the client secret was given, but client c comes from " + path:      {ClientSecret: "z"},
		},
	} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		for want, given := range cases {
			given.URL, given.ConfigPath = refusing.URL, path
			s, err := given.Resolve()
			if err != nil {
				t.Errorf("%s: %v", want, err)
				continue
			}
			_, err = New(t.Context(), s, Options{})
			if f := fault.Find(err); f == nil || f.Name() != "TokenRenewalError" || !strings.Contains(err.Error(), want) || (want == "") != !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
}

func TestMissingCredentials(t *testing.T) {
	for want, s := range map[string]Settings{
		"no credentials for http://x": {URL: "http://x"},
		"user bob has no password":    {URL: "http://x", User: "bob"},
		"client c has no secret":      {URL: "http://x", ClientID: "c"},
	} {
		_, err := New(t.Context(), s, Options{})
		if f := fault.Find(err); f == nil || f.Name() != "MissingCredentialsError" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
