package platform

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"transect/platform/store"
)

// caller is the user and client of a request.
type caller struct {
	user, client    string
	hash            string // of the access token
	issued, expires time.Time
}

// tokenRoutes are the routes that issue, describe and revoke access tokens.
func tokenRoutes() []route {
	grant := fields{"grant_type": oneOf("password", "client_credentials")}
	token := fields{"token": anyText}
	optional := []string{"token"}
	return []route{
		{method: "POST", path: "dxauth/oauth/token", args: grant, keys: []string{"*"}, open: true, writes: true, handle: obtainToken},
		{method: "POST", path: "dxauth/describe-token", args: token, optional: optional, handle: describeToken},
		{method: "POST", path: "dxauth/oauth2/revoke", args: token, optional: optional, writes: true, handle: revokeToken},
	}
}

// obtainToken issues an access token for either grant.
func obtainToken(r *Request) (any, error) {
	client, secret, ok := r.http.BasicAuth()
	if !ok {
		return nil, unauthorized("InvalidClient", "a Basic Authorization header with a client id and secret is required")
	}
	known := r.p.secrets
	account, ends := known.UserID, time.Time{}
	if r.text("grant_type") == "password" {
		// Any client is accepted: programs have one of their own built in.
		if !same(r.text("username"), known.User) || !same(r.text("password"), known.Password) {
			return nil, unauthorized("InvalidGrant", "user or password is wrong")
		}
	} else {
		var err error
		if account, ends, err = r.clientUser(client, secret); err != nil {
			return nil, err
		}
	}
	token := randomToken()
	now, life := r.now(), r.p.options.TokenLife
	if !ends.IsZero() {
		life = min(life, ends.Sub(now)) // no token outlives its client
	}
	if err := r.tx.Exec("DELETE FROM tokens WHERE expires < ?", now.UnixMilli()); err != nil {
		return nil, err
	}
	err := r.tx.Exec("INSERT INTO tokens (hash, user, client, issued, expires) VALUES (?, ?, ?, ?, ?)",
		hashed(token), account, client, now.UnixMilli(), now.Add(life).UnixMilli())
	return store.Doc{
		"access_token":  token,
		"token_type":    "Bearer",
		"expires_in":    int64(life / time.Second),
		"refresh_token": randomToken(), // clients expect one; no grant accepts it
	}, err
}

// authenticate sets the caller of the request by its access token.
func (r *Request) authenticate() (err error) {
	kind, token, _ := strings.Cut(r.http.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") || token == "" {
		return unauthorized("MissingToken", "an access token is required: Authorization: Bearer TOKEN")
	}
	r.caller, err = r.lookUp(token)
	return err
}

// lookUp returns the caller of a valid token, or fails with 401.
func (r *Request) lookUp(token string) (caller, error) {
	c := caller{hash: hashed(token)}
	var issued, expires int64
	err := r.tx.QueryRow("SELECT user, client, issued, expires FROM tokens WHERE hash = ?", c.hash).
		Scan(&c.user, &c.client, &issued, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return c, unauthorized("InvalidToken", "the access token is unknown or was revoked")
	}
	c.issued, c.expires = time.UnixMilli(issued), time.UnixMilli(expires)
	if err == nil && !r.now().Before(c.expires) {
		return c, unauthorized("ExpiredToken", "the access token has expired")
	}
	return c, err
}

// describeToken answers with the user and expiry of a token, by default that of
// the request.
func describeToken(r *Request) (any, error) {
	c := r.caller
	if token := r.text("token"); token != "" {
		var err error
		if c, err = r.lookUp(token); err != nil {
			var f *failure
			if errors.As(err, &f) {
				return nil, fail(404, f.Code, "%s", f.Message)
			}
			return nil, err
		}
	}
	return store.Doc{
		"token_type":      "Bearer",
		"user":            c.user,
		"client":          c.client,
		"company":         r.p.secrets.Company,
		"creation_date":   date(c.issued),
		"expiration_date": date(c.expires),
		"expires_in":      int64(c.expires.Sub(r.now()) / time.Second),
	}, nil
}

// revokeToken revokes a token, by default that of the request. An unknown token
// is no error.
func revokeToken(r *Request) (any, error) {
	hash := r.caller.hash
	if token := r.text("token"); token != "" {
		hash = hashed(token)
	}
	return nil, r.tx.Exec("DELETE FROM tokens WHERE hash = ?", hash)
}

// same compares in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func randomToken() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}
