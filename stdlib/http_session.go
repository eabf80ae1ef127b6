package stdlib

import (
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/stdlib/web"
)

// session is what several requests to one service have in common.
type session struct {
	base    *url.URL
	jar     *cookiejar.Jar
	headers []field
	auth    string // the header
	caCert  string
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
		r := &web.Request{Header: map[string][]string{}}
		s := &session{base: base, caCert: c.String("ca_cert")}
		if s.jar, err = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}); err != nil {
			return nil, err
		}
		if err := httpHeaders(c, r); err != nil {
			return nil, err
		}
		if s.headers, err = namedValues(c, "headers", false); err != nil {
			return nil, err
		}
		if err := httpAuth(c, r.Header); err != nil {
			return nil, err
		}
		s.auth = r.Header.Get("Authorization")
		return module.NewObject(c.L, sessionType, s), nil
	},
}

var sessionPath = module.Param{Name: "url", Type: "string", Doc: "the bytes to append to the session's address, or a whole one"}

// sessionFuncs are the methods of a session, one for each of HTTP's.
func sessionFuncs() []module.Func {
	var list []module.Func
	for _, m := range []struct{ name, method, doc string }{
		{"get", "GET", "Fetches something."},
		{"head", "HEAD", "Fetches the headers of an answer only."},
		{"post", "POST", "Sends something."},
		{"put", "PUT", "Stores something at a URL."},
		{"patch", "PATCH", "Changes something."},
		{"delete", "DELETE", "Removes something."},
	} {
		list = append(list, module.Func{Name: m.name, Doc: m.doc, Params: []module.Param{sessionPath, {Name: "options", Fields: httpOptions}}, Returns: "a response",
			Call: func(c *module.Call) (any, error) { return httpCall(c, m.method) }})
	}
	return list
}

var sessionType = &module.Type{
	Name: "session",
	Doc:  "Requests to one service that share cookies, headers and credentials.",
	Text: func(self any) string { return "session with " + self.(*session).base.Host },
	Methods: append(sessionFuncs(), module.Func{
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
func (s *session) add(r *web.Request) {
	r.Cookies = s.jar
	at, err := url.Parse(r.URL)
	if err != nil || at.Host != s.base.Host || at.Scheme != s.base.Scheme {
		return // headers and credentials are for the session's host only
	}
	for _, h := range s.headers {
		if r.Header.Get(h.name) == "" {
			r.Header.Set(h.name, h.value)
		}
	}
	if s.auth != "" && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", s.auth)
	}
}
