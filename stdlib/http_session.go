package stdlib

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"transect/client/fault"
	"transect/client/transport/httpcore"
	"transect/runtime/module"
	"transect/stdlib/web"
)

// session is what several requests to one service have in common.
type session struct {
	base   *url.URL
	jar    *cookiejar.Jar
	header http.Header
	caCert string
}

var sessionFunc = module.Func{
	Name: "session", Doc: "Starts a session with one service: it keeps the cookies that answers set, and sends the same headers and credentials each time, only to the host of its URL.",
	Params: []module.Param{{Name: "url", Type: "string", Doc: "the base URL of its requests"},
		{Name: "options", Fields: []module.Param{
			{Name: "headers", Type: "table", Doc: "names and values to send each time", Optional: true},
			{Name: "auth", Type: "table", Doc: "{ user = …, password = … } or { bearer = token }", Optional: true},
			{Name: "ca_cert", Type: "string", Doc: "a PEM file of certificates to trust beside the system's", Optional: true},
		}}},
	Returns: "a session",
	Call: func(c *module.Call) (any, error) {
		base, err := web.Parse(c.String("url"))
		if err != nil {
			return nil, err
		}
		s := &session{base: base, header: http.Header{}, caCert: c.String("ca_cert")}
		if s.jar, err = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}); err != nil {
			return nil, err
		}
		if err := httpHeaders(c, s.header); err != nil {
			return nil, err
		}
		return module.NewObject(c.L, sessionType, s), nil
	},
}

var sessionType = &module.Type{
	Name: "session",
	Doc:  "Requests to one service that share cookies, headers and credentials.",
	Text: func(self any) string { return "session with " + self.(*session).base.Host },
	Methods: append(httpFuncs(module.Param{Name: "url", Type: "string", Doc: "the path below the session's URL, or a whole URL"}), module.Func{
		Name: "cookies", Doc: "The cookies that are sent to a URL.",
		Params:  []module.Param{{Name: "url", Type: "string", Doc: "a path below the session's URL, or a whole URL", Default: ""}},
		Returns: "a table of values by name",
		Call: func(c *module.Call) (any, error) {
			s := c.Self.(*session)
			at, err := url.Parse(s.address(c.String("url")))
			if err != nil {
				return nil, fault.Of(&fault.ParameterError{}, "the url is no address")
			}
			values := map[string]any{}
			for _, cookie := range s.jar.Cookies(at) {
				values[cookie.Name] = cookie.Value
			}
			return values, nil
		},
	}),
}

// address is that of a request, below the session's.
func (s *session) address(path string) string {
	if strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") {
		return path
	}
	base := *s.base
	base.RawQuery, base.Fragment = "", ""
	if path == "" {
		return base.String()
	}
	return strings.TrimSuffix(base.String(), "/") + "/" + strings.TrimPrefix(path, "/")
}

// add lays the session's part under a request's own.
func (s *session) add(r *httpcore.Request) {
	r.Cookies = s.jar
	if r.URL.Host != s.base.Host || r.URL.Scheme != s.base.Scheme {
		return // headers and credentials are for the session's host only
	}
	for name, values := range s.header {
		if r.Header.Get(name) == "" {
			r.Header[name] = values
		}
	}
}
