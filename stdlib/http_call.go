package stdlib

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/client/transport/httpcore"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/web"
)

type webClients struct{}

// webClient returns the interpreter's client that trusts the certificates of the option ca_cert.
func webClient(c *module.Call) *web.Client {
	file := c.String("ca_cert")
	if s, ok := c.Self.(*session); ok && file == "" {
		file = s.caCert
	}
	clients := vm.State(c.In, webClients{}, func() map[string]*web.Client { return map[string]*web.Client{} })
	if client := clients[file]; client != nil {
		return client
	}
	var roots *x509.CertPool
	if file != "" {
		path := c.In.Path(file)
		c.Must(c.In.Permit(sandbox.Read, path))
		var err error
		roots, err = web.LoadRoots(path, c.In.ReadFile)
		c.Must(err)
	}
	in := c.In
	client := web.New(web.Options{Env: in.HostEnv(), Roots: roots,
		Permit: func(hostport string) error { return in.Permit(sandbox.Net, hostport) }, Sending: in.Sending})
	clients[file] = client
	in.OnClose(client.Close)
	return client
}

func httpCall(c *module.Call, method string) (any, error) {
	client, r := webClient(c), httpRequest(c, method)
	target, limit, raise := c.String("target"), int64(c.Int("max_body")), c.Bool("raise_for_status")
	path := c.In.Path(target)
	if target != "" {
		c.Must(c.In.Permit(sandbox.Write, path))
	}
	var out *response
	if !safe(r.Method) && !vm.Happens(c.L, sandbox.Effect{Kind: sandbox.SendRequest,
		What: r.Method + " " + plainURL(r.URL), Answers: true}) {
		left := map[string]any{"status": http.StatusNoContent, "ok": true, "url": plainURL(r.URL),
			"headers": map[string]any{}}
		return module.NewObject(c.L, responseType, &response{fields: left}), nil
	}
	err := c.Blocking(func(ctx context.Context) error {
		answer, err := client.Do(ctx, r)
		if err != nil {
			return err
		}
		defer answer.Close()
		out = newResponse(answer)
		if target != "" && (!raise || answer.Failed(nil) == nil) {
			out.target = target
			return download(ctx, c.In, answer, path)
		}
		body := c.In.NewText(c.Name)
		if err = answer.Copy(body, limit); err != nil {
			return err
		}
		if out.body = body.String(); raise {
			return answer.Failed([]byte(out.body))
		}
		return nil
	})
	if err != nil {
		return nil, namedFile(target, err)
	}
	return module.NewObject(c.L, responseType, out), nil
}

// safe reports whether a method changes nothing on the server.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// plainURL returns an address without the parts that may be secret.
func plainURL(u *url.URL) string {
	at := *u
	at.User, at.RawQuery, at.Fragment = nil, "", ""
	return at.String()
}

func newResponse(a *web.Response) *response {
	headers := make(map[string]any, len(a.Header))
	for name, values := range a.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	ok := a.Failed(nil) == nil
	return &response{kind: a.Header.Get("Content-Type"),
		fields: map[string]any{"status": a.StatusCode, "ok": ok, "url": plainURL(a.URL), "headers": headers}}
}

// download streams a body to a file that appears once complete.
func download(ctx context.Context, in *vm.Interp, a *web.Response, path string) error {
	f, err := in.Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := io.Copy(f, a.Body); err != nil {
		if _, ofFile := errors.AsType[*fs.PathError](err); ofFile {
			return err
		}
		return a.Broken(err)
	}
	return f.Commit()
}

var token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$") })

// httpRequest reads the options of a request.
func httpRequest(c *module.Call, method string) *httpcore.Request {
	if !token().MatchString(method) {
		c.Raise(fault.Of(&fault.ParameterError{}, "option method: %q is not a method of HTTP", method))
	}
	r := &httpcore.Request{Method: strings.ToUpper(method), URL: address(c), Header: http.Header{},
		Stall: c.Seconds("timeout"), Redirects: c.Int("redirects")}
	if r.Redirects < 1 {
		r.Redirects = -1
	}
	httpBody(c, r)
	httpHeaders(c, r.Header)
	if s, ok := c.Self.(*session); ok {
		s.add(r)
	}
	return r
}

// address returns the argument url with the option query.
func address(c *module.Call) *url.URL {
	given := c.String("url")
	if s, ok := c.Self.(*session); ok {
		given = s.address(given)
	}
	u, err := web.Parse(given)
	c.Must(err)
	if fields := namedValues(c, "query", false); len(fields) > 0 {
		query := u.Query()
		for _, f := range fields {
			query.Add(f.name, f.value)
		}
		u.RawQuery = query.Encode()
	}
	return u
}

// httpHeaders reads the options auth and headers.
func httpHeaders(c *module.Call, h http.Header) {
	if auth := c.Table("auth"); auth != nil {
		given := textFields(c, "option auth", auth, "user", "password", "bearer")
		_, user := given["user"]
		bearer, isBearer := given["bearer"]
		switch {
		case user == isBearer:
			c.Raise(fault.Of(&fault.ParameterError{}, "option auth must be { user = …, password = … } or { bearer = … }"))
		case isBearer:
			h.Set("Authorization", "Bearer "+bearer)
		default:
			h.Set("Authorization", web.Basic(given["user"], given["password"]))
		}
	}
	fields := namedValues(c, "headers", false)
	for _, f := range fields {
		if !token().MatchString(f.name) || strings.ContainsAny(f.value, "\r\n\x00") {
			c.Raise(fault.Of(&fault.ParameterError{}, "option headers: %q cannot be sent", f.name))
		}
		h.Del(f.name) // the script's headers override derived ones
	}
	for _, f := range fields {
		h.Add(f.name, f.value)
	}
}

// textFields reads a table of known fields, each one line of text. Its errors do not show values, which may
// be secret.
func textFields(c *module.Call, what string, t *lua.LTable, names ...string) map[string]string {
	given := map[string]string{}
	t.ForEach(func(k, v lua.LValue) {
		name := k.String()
		if !slices.Contains(names, name) {
			c.Raise(fault.Of(&fault.ParameterError{}, "%s has no %s%s", what, name, suggest.Suffix(name, names)))
		}
		if _, text := v.(lua.LString); !text || strings.ContainsAny(v.String(), "\r\n") {
			c.Raise(fault.Of(&fault.ParameterError{}, "%s: %s must be a string of one line", what, name))
		}
		given[name] = v.String()
	})
	return given
}
