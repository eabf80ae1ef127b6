package httpserve

import (
	"os"
	"strings"
	"testing"
)

// Which hosts are ours depends on where the page listens: a name that somebody's
// DNS could point here never is.
func TestHostsThatAreOurs(t *testing.T) {
	t.Parallel()
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		listen        string
		ours, foreign []string
	}{
		{"127.0.0.1:80", []string{"127.0.0.1:80", "localhost", "LOCALHOST:90", "[::1]:80"}, []string{"", "evil.example", "10.0.0.1", "localhost.evil.example", "0.0.0.0", name + ".example"}},
		{"0.0.0.0:80", []string{"127.0.0.1", "10.0.0.1:80", name, strings.ToUpper(name), "[fe80::1]"}, []string{"", "evil.example", name + ".evil.example"}},
		{"[::]:80", []string{"10.0.0.1:80", name}, []string{"evil.example"}},
		{"10.0.0.1:80", []string{"10.0.0.1:80", "survey.lan"}, []string{"evil.example"}},
	} {
		a, err := NewGate(c.listen, []string{"survey.lan"})
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range c.ours {
			if !a.Ours(host) {
				t.Errorf("%s: %q is not ours", c.listen, host)
			}
		}
		for _, host := range c.foreign {
			if a.Ours(host) {
				t.Errorf("%s: %q is ours", c.listen, host)
			}
		}
	}
	a, err := NewGate("[::]:8090", nil)
	if err != nil {
		t.Fatal(err)
	}
	if address := a.Address("/open"); !strings.HasPrefix(address, "http://"+name+":8090/open?token=") {
		t.Errorf("the address is %s", address)
	}
}
