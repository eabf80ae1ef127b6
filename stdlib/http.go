package stdlib

import (
	"cmp"
	"fmt"
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

var (
	httpURL     = module.Param{Name: "url", Type: "string", Doc: "the URL, with http:// or https://"}
	httpOptions = []module.Param{
		{Name: "headers", Type: "table", Doc: "names and values to send", Optional: true},
		{Name: "query", Type: "table", Doc: "names and values added to the URL; a list repeats the name", Optional: true},
		{Name: "json", Type: "any", Doc: "a value to send as JSON"},
		{Name: "form", Type: "table",
			Doc: "names and values to send as a form; a list repeats the name, { file = path } sends a file of any size (name " +
				"and type say what to call it)", Optional: true},
		{Name: "body", Type: "string", Doc: "a string to send as it is", Optional: true},
		{Name: "file", Type: "string", Doc: "a file to send as it is, of any size", Optional: true},
		authOption,
		secondsParam(module.Param{Name: "timeout", Doc: "longest time without a moving byte, in seconds; then a TimeoutError",
			Default: 60}),
		{Name: "target", Type: "string",
			Doc: "a file to write the answer's body to, of any size; it appears once it is complete", Optional: true},
		{Name: "max_body", Type: "integer", Doc: "the longest body to keep in memory, in bytes", Default: 64 << 20,
			Min: new(0.0)},
		{Name: "redirects", Type: "integer", Doc: "how many redirects to follow", Default: 10},
		{Name: "raise_for_status", Type: "boolean", Doc: "raise a ResponseError for a status outside 200-299", Default: true},
		rootsOption,
	}
	authOption = module.Param{Name: "auth", Type: "table", Doc: "{ user = …, password = … } or { bearer = token }",
		Optional: true}
	rootsOption = module.Param{Name: "ca_cert", Type: "string",
		Doc: "a PEM file of certificates to trust besides the system's", Optional: true}
)

// httpFuncs declares a function for each HTTP method.
func httpFuncs(url module.Param) []module.Func {
	var list []module.Func
	for _, m := range [][2]string{
		{"get", "Fetches a URL."}, {"head", "Fetches the headers of an answer only."}, {"post", "Sends data to a URL."},
		{"put", "Stores data at a URL."}, {"patch", "Changes what is at a URL."}, {"delete", "Removes what is at a URL."},
	} {
		list = append(list, module.Func{Name: m[0], Doc: m[1],
			Params: []module.Param{url, {Name: "options", Fields: httpOptions}}, Returns: "a response",
			Call: func(c *module.Call) (any, error) { return httpCall(c, m[0]) }})
	}
	return list
}

var httpModule = &module.Module{
	Name: "http",
	Doc: "Calls web services other than the platform. Certificates are verified, the proxies of the environment used " +
		"(HTTPS_PROXY, HTTP_PROXY, NO_PROXY); " +
		"credentials do not follow a redirect to another host. A host that cannot be reached raises a ConnectionError, one " +
		"that does not respond a TimeoutError. Requests are not repeated: see retry.",
	Types: []*module.Type{responseType, sessionType},
	Lazy:  allHTTPFuncs,
}

func allHTTPFuncs() []module.Func {
	return append(httpFuncs(httpURL),
		sessionFunc,
		module.Func{
			Name: "request", Doc: "Sends any request.",
			Params: []module.Param{{Name: "options", Fields: append([]module.Param{
				httpURL, {Name: "method", Type: "string", Doc: "such as GET or POST", Default: "GET"}}, httpOptions...)}},
			Returns: "a response",
			Call:    func(c *module.Call) (any, error) { return httpCall(c, c.String("method")) },
		})
}

var responseType = &module.Type{
	Name: "response",
	Doc: "The answer to a request: status, ok (status 200-299), url (of the last redirect, without query), " +
		"headers (by lower-case name).",
	Get:  func(self any, name string) any { return self.(*response).fields[name] },
	Text: func(self any) string { return fmt.Sprintf("response (status %v)", self.(*response).fields["status"]) },
	Methods: []module.Func{
		{
			Name: "text", Doc: "The body. One that went to a file is a RuntimeError.", Returns: "its bytes",
			Call: func(c *module.Call) (any, error) { return c.Self.(*response).text() },
		},
		{
			Name: "json", Doc: "The body parsed as JSON; a ValueError when it is not.", Returns: "the value",
			Call: func(c *module.Call) (any, error) {
				r := c.Self.(*response)
				body, err := r.text()
				c.Must(err)
				v, err := decodeJSON(c, body, false)
				if f, ok := err.(*fault.ValueError); ok {
					err = fault.Hinted(f, "the answer is of type %s", cmp.Or(r.kind, "unknown"))
				}
				return v, err
			},
		},
	},
}

// response is an HTTP response.
type response struct {
	fields map[string]any
	kind   string // of the body
	body   string
	target string // the file the body went to, if any
}

func (r *response) text() (string, error) {
	if r.target != "" {
		return "", fault.Of(&fault.RuntimeError{}, "the body went to the file %s", r.target)
	}
	return r.body, nil
}

// session holds the common settings of requests to one service.
type session struct {
	base   *url.URL
	jar    *cookiejar.Jar
	header http.Header
	caCert string
}

var sessionFunc = module.Func{
	Name: "session",
	Doc: "Starts a session with one service: it keeps the cookies that answers set, and sends the same headers and " +
		"credentials each time, only to the host of its URL.",
	Params: []module.Param{{Name: "url", Type: "string", Doc: "the base URL of its requests"},
		{Name: "options", Fields: []module.Param{
			{Name: "headers", Type: "table", Doc: "names and values to send each time",
				Optional: true}, authOption, rootsOption}}},
	Returns: "a session",
	Call: func(c *module.Call) (any, error) {
		base, err := web.Parse(c.String("url"))
		c.Must(err)
		s := &session{base: base, header: http.Header{}, caCert: c.String("ca_cert")}
		s.jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
		httpHeaders(c, s.header)
		return module.NewObject(c.L, sessionType, s), nil
	},
}

var sessionType = &module.Type{
	Name: "session",
	Doc:  "Requests to one service that share cookies, headers and credentials.",
	Text: func(self any) string { return "session with " + self.(*session).base.Host },
	Methods: append(httpFuncs(module.Param{Name: "url", Type: "string",
		Doc: "the path below the session's URL, or a whole URL"}), module.Func{
		Name: "cookies", Doc: "The cookies that are sent to a URL.",
		Params: []module.Param{{Name: "url", Type: "string", Doc: "a path below the session's URL, or a whole URL",
			Default: ""}},
		Returns: "a table of values by name",
		Call: func(c *module.Call) (any, error) {
			s := c.Self.(*session)
			at, err := web.Parse(s.address(c.String("url")))
			c.Must(err)
			values := map[string]any{}
			for _, cookie := range s.jar.Cookies(at) {
				values[cookie.Name] = cookie.Value
			}
			return values, nil
		},
	}),
}

// address resolves a path against the session's address.
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

// add adds the session's settings to a request without overriding it.
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
