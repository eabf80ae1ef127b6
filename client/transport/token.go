package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"transect/client/fault"
)

const (
	tokenRoute = "/dxauth/oauth/token"

	// A token is renewed this long before it expires, or at nine tenths of a short life, so that no request
	// is sent with a token about to expire.
	renewalMargin = time.Minute
)

// check refuses credentials that cannot work.
func (c Credentials) check() error {
	switch {
	case c.AccessToken != "" || c.renewable():
		return nil
	case c.User != "":
		return fault.Hinted(fault.Of(&fault.MissingCredentialsError{}, "user %s has no password", c.User),
			"give it with --password-file or TRANSECT_PASSWORD")
	case c.ClientID != "":
		return fault.Hinted(fault.Of(&fault.MissingCredentialsError{}, "client %s has no secret", c.ClientID),
			"give it with --client-secret-file or TRANSECT_CLIENT_SECRET")
	}
	return fault.Hinted(fault.Of(&fault.MissingCredentialsError{}, "there are no credentials"),
		"give user and password, a client id and secret, or an access token")
}

// renewable reports whether a token can be requested.
func (c Credentials) renewable() bool {
	if c.User != "" {
		return c.Password != ""
	}
	return c.ClientID != "" && c.ClientSecret != ""
}

// who returns the name of the credentials in messages.
func (c Credentials) who() string {
	switch {
	case c.User != "":
		return "user " + c.User
	case c.ClientID != "":
		return "client " + c.ClientID
	}
	return "the holder of this access token"
}

// tokens caches the connection's token and renews it once for all callers. oauth2.ReuseTokenSource cannot: it keeps
// a token that the platform refuses before its time, and who waits for it cannot be stopped.
type tokens struct {
	fetch      func(context.Context) (*oauth2.Token, error)
	renewable  bool
	requesting chan struct{} // full while a token is requested

	mu       sync.Mutex
	current  *oauth2.Token
	renewAt  time.Time // zero: not before it is refused
	failures int       // token requests that failed
	err      error     // of the last one
}

var errNotRenewable = errors.New("no credentials to renew the token with")

func (s *tokens) start(c Credentials, fetch func(context.Context) (*oauth2.Token, error)) {
	s.fetch, s.renewable, s.requesting = fetch, c.renewable(), make(chan struct{}, 1)
	if c.AccessToken != "" {
		s.current = &oauth2.Token{AccessToken: c.AccessToken, TokenType: "Bearer"}
	}
}

// cached returns the token if it is valid and not the refused one, or nil, and how many token requests have
// failed so far.
func (s *tokens) cached(refused *oauth2.Token) (*oauth2.Token, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current == refused || !s.renewAt.IsZero() && !time.Now().Before(s.renewAt) {
		return nil, s.failures
	}
	return s.current, s.failures
}

// get returns a valid token that is not the refused one. Callers that wait while another one requests a token
// share the result.
func (s *tokens) get(ctx context.Context, refused *oauth2.Token) (*oauth2.Token, error) {
	token, failures := s.cached(refused)
	switch {
	case token != nil:
		return token, nil
	case !s.renewable:
		return nil, errNotRenewable
	}
	select {
	case s.requesting <- struct{}{}:
		defer func() { <-s.requesting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	token, now := s.cached(refused)
	if token != nil {
		return token, nil
	}
	if now != failures {
		return nil, ownCopy(s.err)
	}
	token, err := s.fetch(cancellable{ctx})
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.current, s.renewAt = token, time.Time{}
		if !token.Expiry.IsZero() {
			life := time.Until(token.Expiry)
			s.renewAt = token.Expiry.Add(-min(renewalMargin, life/10))
		}
	case ctx.Err() == nil:
		s.failures++
		s.err = ownCopy(err)
	}
	return token, err
}

// cancellable is a context without values: a waiting token request does not release its caller's transfer
// connection, which other callers waiting for the token would take.
type cancellable struct{ context.Context }

func (cancellable) Value(any) any { return nil }

// tokenFor returns the token for a call; a different one than refused, if given.
func (t *Transport) tokenFor(ctx context.Context, c call, refused *oauth2.Token) (*oauth2.Token, error) {
	if c.clientPair {
		return nil, nil
	}
	token, err := t.tokens.get(ctx, refused)
	switch {
	case err == nil:
		return token, nil
	case errors.Is(err, errNotRenewable):
		return nil, fault.In(c.Operation, fault.Hinted(
			fault.Of(&fault.TokenRenewalError{}, "%s does not accept the access token", t.base.Host),
			"it has expired or was revoked: give a new one (--access-token-file, TRANSECT_ACCESS_TOKEN), or credentials that "+
				"can renew it"))
	case ctx.Err() != nil:
		return nil, t.interrupted(ctx, c.Operation)
	}
	return nil, fault.In(c.Operation, err)
}

// ownCopy copies an error for each waiter: each completes it with its own operation.
func ownCopy(err error) error {
	f := fault.Find(err)
	if f == nil {
		return err
	}
	own := reflect.New(reflect.TypeOf(f).Elem())
	own.Elem().Set(reflect.ValueOf(f).Elem())
	return own.Interface().(error)
}

// fetchToken requests a token with the connection's credentials.
func (t *Transport) fetchToken(ctx context.Context) (token *oauth2.Token, err error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: tokenExchange{t}})
	c, scopes, at := t.options.Credentials, strings.Fields(t.options.Credentials.Scope), t.base.String()+tokenRoute
	if c.User != "" {
		config := oauth2.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: scopes,
			Endpoint: oauth2.Endpoint{TokenURL: at, AuthStyle: oauth2.AuthStyleInHeader}}
		token, err = config.PasswordCredentialsToken(ctx, c.User, c.Password)
	} else {
		config := clientcredentials.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: scopes,
			TokenURL: at, AuthStyle: oauth2.AuthStyleInHeader}
		token, err = config.Token(ctx)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return nil, t.refusedCredentials(failed.Err)
	} else if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.TokenRenewalError{}, "%s answered without a token", t.base.Host),
			"is %s the platform's address?", t.base)
	}
	t.secrets.keep(token.AccessToken, token.RefreshToken)
	return token, nil
}

// tokenExchange sends the token requests of oauth2 as the platform takes them: JSON in place of a form, the client's
// id and secret as they are, repeated and limited like all requests.
type tokenExchange struct{ t *Transport }

func (x tokenExchange) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	form := map[string]string{}
	for name := range r.PostForm {
		form[name] = r.PostForm.Get(name)
	}
	body, err := json.Marshal(form)
	if err != nil {
		return nil, err
	}
	a, err := x.t.send(r.Context(), call{clientPair: true,
		Request: Request{Repeatable: true, Method: r.Method, Path: tokenRoute, Body: body}})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: a.StatusCode, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(a.body)), Request: r}, nil
}

// refusedCredentials converts the error of a refused token request to a plain statement.
func (t *Transport) refusedCredentials(err error) error {
	var r *fault.ResponseError
	if !errors.As(err, &r) {
		return err
	}
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
	case http.StatusNotFound:
		f := fault.Hinted(fault.Of(&fault.ConfigError{}, "%s does not issue tokens", t.base.Host),
			"is %s the platform's address? check --url or TRANSECT_URL", t.base)
		f.Cause = r
		return f
	default:
		return err
	}
	c := t.options.Credentials
	hint := "check --client-id and --client-secret-file (TRANSECT_CLIENT_ID, TRANSECT_CLIENT_SECRET)"
	switch {
	case c.User != "" && c.ClientID == "":
		hint = "check --user and --password-file (TRANSECT_USER, TRANSECT_PASSWORD); the platform may also want a client: " +
			"--client-id, --client-secret-file"
	case c.User != "":
		hint = "check --user and --password-file (TRANSECT_USER, TRANSECT_PASSWORD), " + hint[len("check "):]
	}
	hint += "; transect login replaces the saved login"
	message := ""
	if c.Mixed != "" {
		message, hint = ": "+c.Mixed,
			"give both parts of the login in the same place, as arguments or in the configuration file"
	}
	f := fault.Hinted(fault.Of(&fault.TokenRenewalError{}, "%s refused the credentials of %s%s", t.base.Host, c.who(),
		message), "%s", hint)
	f.Cause = r
	return f
}

// Login obtains a token unless there is one, so that bad credentials are detected early:
// *fault.TokenRenewalError when the platform refuses them.
func (t *Transport) Login(ctx context.Context) error {
	_, err := t.tokenFor(ctx, call{}, nil)
	return err
}
