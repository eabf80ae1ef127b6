package stdlib

import (
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
)

var (
	httpURL     = module.Param{Name: "url", Type: "string", Doc: "the URL, with http:// or https://"}
	httpOptions = []module.Param{
		{Name: "headers", Type: "table", Doc: "names and values to send", Optional: true},
		{Name: "query", Type: "table", Doc: "names and values added to the URL; a list repeats the name", Optional: true},
		{Name: "json", Type: "any", Doc: "a value to send as JSON"},
		{Name: "form", Type: "table", Doc: "names and values to send as a form; a list repeats the name, { file = path } sends a file of any size (name and type say what to call it)", Optional: true},
		{Name: "body", Type: "string", Doc: "a text to send as it is", Optional: true},
		{Name: "file", Type: "string", Doc: "a file to send as it is, of any size", Optional: true},
		{Name: "auth", Type: "table", Doc: "{ user = …, password = … } or { bearer = token }", Optional: true},
		secondsParam(module.Param{Name: "timeout", Doc: "longest time without a moving byte, in seconds; then a TimeoutError", Default: 60}),
		{Name: "target", Type: "string", Doc: "a file to write the answer's body to, of any size; it appears once it is complete", Optional: true},
		{Name: "max_body", Type: "integer", Doc: "the longest body to keep in memory, in bytes", Default: 64 << 20},
		{Name: "redirects", Type: "integer", Doc: "how many redirects to follow", Default: 10},
		{Name: "raise_for_status", Type: "boolean", Doc: "raise a ResponseError for a status outside 200-299", Default: true},
		{Name: "ca_cert", Type: "string", Doc: "a PEM file of certificates to trust beside the system's", Optional: true},
	}
)

// httpFunc declares the function of a method.
func httpFunc(name, method, doc string) module.Func {
	return module.Func{
		Name: name, Doc: doc, Params: []module.Param{httpURL, {Name: "options", Fields: httpOptions}}, Returns: "a response",
		Call: func(c *module.Call) (any, error) { return httpCall(c, method) },
	}
}

var httpModule = &module.Module{
	Name: "http",
	Doc: "Talks to web services other than the platform. Certificates are verified, the proxies of the environment used (HTTPS_PROXY, HTTP_PROXY, NO_PROXY); " +
		"credentials do not follow a redirect to another host. A host that cannot be reached raises a ConnectionError, one that stays silent a TimeoutError. Requests are not repeated: see retry.",
	Types: []*module.Type{responseType, sessionType},
	Funcs: []module.Func{
		httpFunc("get", "GET", "Fetches something."),
		httpFunc("head", "HEAD", "Fetches the headers of an answer only."),
		httpFunc("post", "POST", "Sends something."),
		httpFunc("put", "PUT", "Stores something at a URL."),
		httpFunc("patch", "PATCH", "Changes something."),
		httpFunc("delete", "DELETE", "Removes something."),
		sessionFunc,
		{
			Name: "request", Doc: "Sends any request.",
			Params: []module.Param{{Name: "options", Fields: append([]module.Param{
				httpURL, {Name: "method", Type: "string", Doc: "such as GET or POST", Default: "GET"}}, httpOptions...)}},
			Returns: "a response",
			Call:    func(c *module.Call) (any, error) { return httpCall(c, c.String("method")) },
		},
	},
}

var responseType = &module.Type{
	Name: "response",
	Doc:  "The answer to a request: status, ok (status 200-299), url (where it came from in the end, without query), headers (by lower-case name).",
	Get: func(self any, name string) any {
		r := self.(*response)
		switch name {
		case "status":
			return r.status
		case "ok":
			return r.status >= 200 && r.status < 300
		case "url":
			return r.url
		case "headers":
			return r.headers
		}
		return nil
	},
	Text: func(self any) string { return self.(*response).String() },
	Methods: []module.Func{
		{
			Name: "text", Doc: "The body. One that went to a file is a RuntimeError.", Returns: "its bytes",
			Call: func(c *module.Call) (any, error) {
				r := c.Self.(*response)
				if r.target != "" {
					return nil, fault.Of(&fault.RuntimeError{}, "the body went to the file %s", r.target)
				}
				return r.body, nil
			},
		},
		{
			Name: "json", Doc: "The body read as JSON; a ValueError when it is none.", Returns: "the value",
			Call: func(c *module.Call) (any, error) {
				r := c.Self.(*response)
				if r.target != "" {
					return nil, fault.Of(&fault.RuntimeError{}, "the body went to the file %s", r.target)
				}
				v, err := vm.DecodeJSON(r.body)
				if err != nil {
					return nil, fault.Hinted(jsonError(string(r.body), err).(*fault.ValueError), "the answer is of type %s", r.kind())
				}
				if v == nil {
					v = schema.Null{}
				}
				return v, nil
			},
		},
	},
}
