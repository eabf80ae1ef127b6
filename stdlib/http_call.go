package stdlib

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/web"
)

// response is an answer.
type response struct {
	status  int
	url     string
	headers map[string]any
	body    []byte
	target  string
}

func (r *response) String() string { return fmt.Sprintf("response (status %d)", r.status) }

func (r *response) kind() string {
	if kind, ok := r.headers["content-type"].(string); ok {
		return kind
	}
	return "unknown"
}

type webClients struct{}

// webClient is this interpreter's client that believes the certificates of
// the option ca_cert.
func webClient(c *module.Call) (*web.Client, error) {
	file := c.String("ca_cert")
	if s, ok := c.Self.(*session); ok && file == "" {
		file = s.caCert
	}
	clients := vm.State(c.In, webClients{}, func() map[string]*web.Client { return map[string]*web.Client{} })
	if client := clients[file]; client != nil {
		return client, nil
	}
	var roots *x509.CertPool
	if file != "" {
		path := c.In.Path(file)
		if err := c.In.Permit(sandbox.Read, path); err != nil {
			return nil, err
		}
		var err error
		if roots, err = web.LoadRoots(path, c.In.ReadFile); err != nil {
			return nil, err
		}
	}
	in := c.In
	client := web.New(web.Options{Env: in.HostEnv(), Roots: roots,
		Permit: func(hostport string) error { return in.Permit(sandbox.Net, hostport) }, Sending: in.Sending})
	clients[file] = client
	in.OnClose(client.Close)
	return client, nil
}

func httpCall(c *module.Call, method string) (any, error) {
	client, err := webClient(c)
	if err != nil {
		return nil, err
	}
	r, err := httpRequest(c, method)
	if err != nil {
		return nil, err
	}
	if s, ok := c.Self.(*session); ok {
		s.add(r)
	}
	target, limit, raise := c.String("target"), int64(c.Int("max_body")), c.Bool("raise_for_status")
	path := c.In.Path(target)
	if target != "" {
		if err := c.In.Permit(sandbox.Write, path); err != nil {
			return nil, err
		}
	}
	in := c.In
	var out *response
	err = c.Blocking(func(ctx context.Context) error {
		answer, err := client.Do(ctx, r)
		if err != nil {
			return err
		}
		defer answer.Close()
		out = newResponse(answer)
		if target != "" && (!raise || out.status >= 200 && out.status < 300) {
			out.target = target
			return download(in, answer, path)
		}
		if out.body, err = answer.Read(limit); err != nil {
			return err
		}
		if raise {
			return refusal(answer, out)
		}
		return nil
	})
	if err != nil {
		return nil, namedFile(c.String("target"), err)
	}
	return module.NewObject(c.L, responseType, out), nil
}

func newResponse(a *web.Response) *response {
	at := *a.URL
	at.User, at.RawQuery, at.Fragment = nil, "", ""
	headers := make(map[string]any, len(a.Header))
	for name, values := range a.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return &response{status: a.StatusCode, url: at.String(), headers: headers}
}

// refusal is the error for a status outside 200-299, with the body as data.
func refusal(a *web.Response, r *response) error {
	err := a.Failed(r.body)
	if f, ok := err.(*fault.ResponseError); ok {
		var data any
		if json.Unmarshal(r.body, &data) == nil && data != nil {
			f.Data = data
		}
	}
	return err
}

// download streams a body to a file that appears when it is whole.
func download(in *vm.Interp, a *web.Response, path string) error {
	f, err := in.Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	body := &readErrors{Reader: a.Body}
	if _, err := io.Copy(f, body); err != nil {
		if body.failed != nil {
			return a.Broken(body.failed)
		}
		return err
	}
	return f.Commit()
}

// readErrors records the error of the reading side of a copy.
type readErrors struct {
	io.Reader
	failed error
}

func (t *readErrors) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err != nil && err != io.EOF {
		t.failed = err
	}
	return n, err
}

var token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$") })

// httpRequest reads the options.
func httpRequest(c *module.Call, method string) (*web.Request, error) {
	if !token().MatchString(method) {
		return nil, fault.Of(&fault.ParameterError{}, "option method: %q is no method", method)
	}
	r := &web.Request{Method: strings.ToUpper(method), Header: http.Header{}, Redirects: c.Int("redirects"), Timeout: c.Seconds("timeout")}
	var err error
	if r.Redirects < 1 {
		r.Redirects = -1
	}
	if c.Int("max_body") < 0 {
		return nil, fault.Of(&fault.ParameterError{}, "option max_body must not be negative")
	}
	if r.URL, err = address(c); err != nil {
		return nil, err
	}
	if err := httpBody(c, r); err != nil {
		return nil, err
	}
	if err := httpAuth(c, r.Header); err != nil {
		return nil, err
	}
	return r, httpHeaders(c, r)
}

func httpHeaders(c *module.Call, r *web.Request) error {
	fields, err := namedValues(c, "headers", false)
	for _, f := range fields {
		if !token().MatchString(f.name) || strings.ContainsAny(f.value, "\r\n\x00") {
			return fault.Of(&fault.ParameterError{}, "option headers: %q cannot be sent", f.name)
		}
		r.Header.Del(f.name) // what the script says goes before what is derived
	}
	for _, f := range fields {
		r.Header.Add(f.name, f.value)
	}
	return err
}

func address(c *module.Call) (string, error) {
	given := c.String("url")
	if s, ok := c.Self.(*session); ok {
		given = s.address(given)
	}
	u, err := web.Parse(given)
	if err != nil {
		return "", err
	}
	fields, err := namedValues(c, "query", false)
	if err != nil || len(fields) == 0 {
		return u.String(), err
	}
	query := u.Query()
	for _, f := range fields {
		query.Add(f.name, f.value)
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func httpBody(c *module.Call, r *web.Request) error {
	var given []string
	for _, name := range []string{"json", "form", "body", "file"} {
		if c.Has(name) && c.Value(name) != lua.LNil {
			given = append(given, name)
		}
	}
	if len(given) > 1 {
		return fault.Of(&fault.ParameterError{}, "options %s exclude each other", strings.Join(given, " and "))
	}
	if len(given) == 0 {
		return nil
	}
	var data []byte
	switch given[0] {
	case "json":
		text, err := encodeValue(c, "json")
		if err != nil {
			return err
		}
		data = []byte(text)
		r.Header.Set("Content-Type", "application/json")
	case "form":
		return httpForm(c, r)
	case "body":
		data = []byte(c.String("body"))
	case "file":
		return httpFile(c, r)
	}
	sendText(r, data)
	return nil
}

func httpFile(c *module.Call, r *web.Request) error {
	name, path := c.String("file"), c.In.Path(c.String("file"))
	in := c.In
	info, err := in.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fault.Of(&fault.FileError{}, "%s: is no file", name)
	}
	if err != nil {
		return namedFile(c.String("file"), err)
	}
	r.Size = info.Size()
	r.Body = func() (io.ReadCloser, error) {
		f, err := in.Open(path, os.O_RDONLY, 0)
		if err != nil {
			return nil, fault.Of(&fault.FileError{}, "%s: %w", name, fault.Reason(err))
		}
		return f, nil
	}
	return nil
}

func httpAuth(c *module.Call, h http.Header) error {
	t := c.Table("auth")
	if t == nil {
		return nil
	}
	known, given := []string{"user", "password", "bearer"}, map[string]string{}
	var err error
	t.ForEach(func(k, v lua.LValue) {
		name := k.String()
		switch {
		case name != "user" && name != "password" && name != "bearer":
			err = fault.Of(&fault.ParameterError{}, "option auth: unknown field %s%s", name, suggest.Suffix(name, known))
		case v.Type() != lua.LTString || strings.ContainsAny(v.String(), "\r\n"):
			err = fault.Of(&fault.ParameterError{}, "option auth: %s must be a text of one line", name)
		}
		given[name] = v.String()
	})
	_, user := given["user"]
	bearer, isBearer := given["bearer"]
	switch {
	case err != nil:
		return err
	case user == isBearer:
		return fault.Of(&fault.ParameterError{}, "option auth must be { user = …, password = … } or { bearer = … }")
	case isBearer:
		h.Set("Authorization", "Bearer "+bearer)
	default:
		h.Set("Authorization", web.Basic(given["user"], given["password"]))
	}
	return nil
}

// encodeValue writes an argument as JSON.
func encodeValue(c *module.Call, name string) (string, error) {
	text, err := encodeJSON(c.Go(name), 0)
	if err != nil {
		err = fault.Of(&fault.ParameterError{}, "argument %s %w", name, err)
	}
	return text, err
}
