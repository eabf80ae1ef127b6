package platform

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"transect/platform/internal/store"
)

// caller is the user and client of a request.
type caller struct {
	user, client    string
	hash            string // of the access token
	issued, expires time.Time
}

// tokenLife is how long access tokens are valid.
const tokenLife = 4 * time.Hour

// tokenRoutes returns the routes that issue, describe and revoke access tokens.
func tokenRoutes() []route {
	grant := fields{{Name: "grant_type", Type: "string", Choices: []string{"password", "client_credentials"}}}
	token := fields{{Name: "token", Type: "string", Optional: true}}
	return []route{
		{method: "POST", path: "dxauth/oauth/token", args: grant, keys: []string{"*"}, open: true, writes: true,
			handle: obtainToken},
		{method: "POST", path: "dxauth/describe-token", args: token, handle: describeToken},
		{method: "POST", path: "dxauth/oauth2/revoke", args: token, writes: true, handle: revokeToken},
	}
}

// obtainToken issues an access token for either grant.
func obtainToken(r *Request) any {
	client, secret, ok := r.http.BasicAuth()
	if !ok {
		panic(unauthorized("InvalidClient", "a Basic Authorization header with a client id and secret is required"))
	}
	own := r.p.secrets
	account, ends := own.UserID, time.Time{}
	if r.text("grant_type") == "password" {
		// Any client is accepted: programs have one of their own built in.
		if !same(r.text("username"), own.User) || !same(r.text("password"), own.Password) {
			panic(unauthorized("InvalidGrant", "user or password is wrong"))
		}
	} else {
		account, ends = r.clientUser(client, secret)
	}
	token := randomToken()
	now, life := r.now(), tokenLife
	if !ends.IsZero() {
		life = min(life, ends.Sub(now)) // no token outlives its client
	}
	if r.p.options.Alone {
		c := caller{user: account, client: client, hash: hashed(token), issued: now, expires: now.Add(life)}
		r.p.issued.Store(c.hash, c)
	} else {
		r.exec("DELETE FROM tokens WHERE expires < ?", now.UnixMilli())
		r.exec("INSERT INTO tokens (hash, user, client, issued, expires) VALUES (?, ?, ?, ?, ?)",
			hashed(token), account, client, now.UnixMilli(), now.Add(life).UnixMilli())
	}
	return store.Doc{
		"access_token":  token,
		"token_type":    "Bearer",
		"expires_in":    int64(life / time.Second),
		"refresh_token": randomToken(), // clients expect one; no grant accepts it
	}
}

// authenticate sets the caller of the request by its access token.
func (r *Request) authenticate() {
	if r.under != nil { // the platform below checks the token
		r.caller = r.under.caller(r.http.Context())
		return
	}
	kind, token, _ := strings.Cut(r.http.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") || token == "" {
		panic(unauthorized("MissingToken", "an access token is required: Authorization: Bearer TOKEN"))
	}
	r.caller = r.lookUp(token)
}

// lookUp returns the caller of a valid token, or fails with 401.
func (r *Request) lookUp(token string) caller {
	c := caller{hash: hashed(token)}
	var issued, expires int64
	if own, ok := r.p.issued.Load(c.hash); ok {
		c = own.(caller)
		issued, expires = c.issued.UnixMilli(), c.expires.UnixMilli()
	} else if !found(r.QueryRow("SELECT user, client, issued, expires FROM tokens WHERE hash = ?", c.hash).
		Scan(&c.user, &c.client, &issued, &expires)) {
		panic(unauthorized("InvalidToken", "the access token is unknown or was revoked"))
	}
	c.issued, c.expires = time.UnixMilli(issued), time.UnixMilli(expires)
	if !r.now().Before(c.expires) {
		panic(unauthorized("ExpiredToken", "the access token has expired"))
	}
	return c
}

// describeToken returns the user and expiry of a token, by default the request's.
func describeToken(r *Request) any {
	c := r.caller
	if token := r.text("token"); token != "" {
		err := recovered(func() { c = r.lookUp(token) })
		if f, ok := err.(*failure); ok {
			f.status = http.StatusNotFound
		}
		check(err)
	}
	return store.Doc{
		"token_type":      "Bearer",
		"user":            c.user,
		"client":          c.client,
		"company":         r.p.secrets.Company,
		"creation_date":   date(c.issued),
		"expiration_date": date(c.expires),
		"expires_in":      int64(c.expires.Sub(r.now()) / time.Second),
	}
}

// revokeToken revokes a token, by default the request's. An unknown token is not an error.
func revokeToken(r *Request) any {
	hash := r.caller.hash
	if token := r.text("token"); token != "" {
		hash = hashed(token)
	}
	r.p.issued.Delete(hash)
	r.exec("DELETE FROM tokens WHERE hash = ?", hash)
	return nil
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
