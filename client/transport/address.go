package transport

import (
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

var slashes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`//+`) })

// parseBase checks a platform address and normalises it: no final slash, no
// double slashes, path kept.
func parseBase(raw string) (*url.URL, error) {
	const example = "give it like https://platform.example.com, with --url or TRANSECT_URL"
	wrong := func(why string) error {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the platform address %q %s", Redact(raw), why), example)
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, wrong("is not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, wrong("does not start with https:// or http://")
	case u.Hostname() == "":
		return nil, wrong("names no host")
	case u.User != nil:
		return nil, wrong("contains credentials, which belong in settings of their own")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, wrong("has a query or a fragment")
	}
	u.Host = strings.ToLower(u.Host)
	if u, err = u.Parse(strings.TrimSuffix(slashes().ReplaceAllString(u.EscapedPath(), "/"), "/")); err != nil {
		return nil, wrong("is not an address")
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	return u, nil
}

// locate returns the address of a route. The path is already escaped if an identifier in it needs that.
func (t *Transport) locate(path string, query url.Values) (*url.URL, error) {
	for segment := range strings.SplitSeq(path, "/") {
		// Servers clean paths: an identifier must not lead to another route.
		if plain, err := url.PathUnescape(segment); err != nil || plain == "." || plain == ".." {
			return nil, fault.Of(&fault.ParameterError{}, "%q cannot be part of an address", segment)
		}
	}
	u := t.base.JoinPath(slashes().ReplaceAllString(path, "/"))
	u.RawQuery = query.Encode()
	return u, nil
}

// ours reports whether an answer came from the platform rather than from another host it redirected to.
func (t *Transport) ours(u *url.URL) bool {
	return httpcore.SameOrigin(t.base, u) || httpcore.Upgrades(t.base, u)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
