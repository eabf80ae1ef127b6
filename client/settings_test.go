package client

import "testing"

// The secrets of a file are for its platform.
func TestSecretsStayWithTheirPlatform(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given, file string
		withheld    bool
	}{
		{"", "https://a.example", false},
		{"https://a.example", "", false},
		{"https://A.example:443/", "https://a.example", false},
		{"a.example", "https://a.example", false},
		{"https://b.example", "https://a.example", true},
		{"http://a.example", "https://a.example", true},
		{"https://a.example:8443", "https://a.example", true},
	} {
		s := Settings{URL: c.file, User: "u", Password: "p", ClientID: "c", ClientSecret: "s", AccessToken: "t", ConfigFile: "f"}
		why := s.withhold(c.given)
		if gone := s.Password == "" && s.ClientSecret == "" && s.AccessToken == ""; gone != c.withheld || (why != "") != c.withheld {
			t.Errorf("%q for %q: %+v %q", c.given, c.file, s, why)
		}
	}
}
