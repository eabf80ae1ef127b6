package platform

import (
	"maps"
	"time"

	"transect/platform/internal/store"
)

// Who uses the platform, and the clients that act for them.
var (
	companies    = &resource{name: "company", plural: "companies"}
	users        = &resource{name: "user", plural: "users"}
	oauthClients = &resource{name: "client", plural: "oauth_clients"}
)

// Profile and company role with extra rights.
const (
	profileAdmin = "admin"
	roleManager  = "manager"
)

// oauthSecrets holds the hash of each client's secret under the client's
// identifier, out of the reach of searches.
var oauthSecrets = &resource{plural: "oauth_secrets"}

func serveAccounts() {
	oauthClients.refs = []ref{{"company", companies, leave}}
	oauthClients.ignored = []string{"client_id", "client_secret", "secret", "user"}
	oauthClients.complete = completeOAuthClient
	oauthClients.make = makeOAuthClient
	serve("companies", companies, nil)
	serve("users", users, map[string]endpoint{"describe-user": do(describeUser)})
	serve("oauth_clients", oauthClients, map[string]endpoint{
		"delete-client": do(deleteOAuthClient),
	})
}

// describeUser returns a user, by default the caller.
func describeUser(r *Request) any {
	if r.text("user") == "" {
		r.body["user"] = r.caller.user
	}
	return users.describe(r)
}

// needManager refuses callers who are neither administrators nor managers of
// their company.
func (r *Request) needManager(company string) {
	user := r.get(users, r.caller.user)
	if store.Text(user, "profile") == profileAdmin ||
		store.Text(user, "companyRole") == roleManager && store.Text(user, "company") == company {
		return
	}
	panic(forbidden("an administrator's profile, or the role of a manager of company %s, is required", company))
}

func completeOAuthClient(r *Request, given, doc store.Doc) {
	doc["user"] = r.caller.user
	if end := store.Text(doc, "expiration_date"); end == "" {
		doc["expiration_date"] = nil
	} else if end <= date(r.now()) {
		panic(wrong("expiration_date", "%s is over already", end))
	}
	owned(r, given, doc)
}

// makeOAuthClient creates an id and a secret that tokens are issued for. Only this response contains the
// secret.
func makeOAuthClient(r *Request, given store.Doc) store.Doc {
	if store.Text(given, "client_type") == "" {
		panic(wrong("client_type", "is required"))
	}
	doc := oauthClients.build(r, given)
	r.create(oauthClients, doc)
	secret := randomToken()
	answer := maps.Clone(doc)
	answer["client_id"], answer["client_secret"] = doc["_id"], secret
	r.insert(oauthSecrets, store.Doc{"_id": doc["_id"], "hash": hashed(secret)})
	return answer
}

// deleteOAuthClient ends a client and the tokens issued for it.
func deleteOAuthClient(r *Request) any {
	id := r.text("client")
	doc := r.get(oauthClients, id)
	if r.find(oauthSecrets, id) != nil { // unknown for a client below an overlay
		r.remove(oauthSecrets, id)
	}
	r.p.issued.Range(func(hash, of any) bool {
		if of.(caller).client == id {
			r.p.issued.Delete(hash)
		}
		return true
	})
	r.exec("DELETE FROM tokens WHERE client = ?", id)
	r.softDelete(oauthClients, doc)
	return doc
}

// clientUser returns the user that a client acts for, and when the client expires (zero: never). It fails with 401
// for a wrong id or secret.
func (r *Request) clientUser(id, secret string) (user string, ends time.Time) {
	own := r.p.secrets
	if same(id, own.ClientID) && same(secret, own.ClientSecret) {
		return own.UserID, ends
	}
	stored := r.find(oauthSecrets, id)
	if stored == nil || !same(store.Text(stored, "hash"), hashed(secret)) {
		panic(unauthorized("InvalidClient", "client id or secret is wrong"))
	}
	doc := r.get(oauthClients, id)
	if end := store.Text(doc, "expiration_date"); end != "" {
		ends = must(time.Parse(time.RFC3339, end))
		if !r.now().Before(ends) {
			panic(unauthorized("ExpiredClient", "the client has expired on %s", end))
		}
	}
	return store.Text(doc, "user"), ends
}

// Share tokens give access to the tiles of datasets of one company, for a
// number of seconds or without end.
var shareTokens = &resource{name: "share_token", plural: "share_tokens"}

// maxDuration of a share token, in seconds: 100 years.
const maxDuration = 100 * 365 * 24 * 3600

func serveShareTokens() {
	shareTokens.refs = []ref{{"scope.datasets", datasets, leave}}
	shareTokens.ignored = []string{"duration", "token", "expiration_date"}
	shareTokens.complete = completeShareToken
	shareTokens.make = makeShareToken
	serve("share_tokens", shareTokens, map[string]endpoint{
		"revoke-share-token":  do(revokeShareToken),
		"search-share-tokens": do(searchShareTokens),
	})
}

func completeShareToken(r *Request, given, doc store.Doc) {
	if len(textsOf(store.Lookup(given, "scope.datasets"))) == 0 {
		panic(wrong("scope.datasets", "must name at least one dataset"))
	}
	r.needManager(store.Text(doc, "company"))
	doc["token"], doc["expiration_date"] = randomToken(), nil
	if duration := r.integer("duration", 0, 1, maxDuration); duration > 0 {
		doc["expiration_date"] = date(r.now().Add(time.Duration(duration) * time.Second))
	}
}

// makeShareToken creates a token. A client inside the process cannot dial the platform's address, so it gets
// the address that serves tiles, or "" when they are not served.
func makeShareToken(r *Request, given store.Doc) store.Doc {
	doc := shareTokens.build(r, given)
	r.create(shareTokens, doc)
	if "http://"+r.http.Host != Address {
		return doc
	}
	answer := maps.Clone(doc)
	answer["tileserver"] = r.p.servedAt()
	return answer
}

func revokeShareToken(r *Request) any {
	token := r.first(shareTokens, store.Doc{"token": r.text("token")})
	if token == nil {
		// The token itself is a secret and stays out of the answer.
		panic(fail(404, "ResourceNotFound", "the share token does not exist"))
	}
	r.needManager(store.Text(token, "company"))
	r.softDelete(shareTokens, token)
	return nil
}

func searchShareTokens(r *Request) any {
	r.needManager(r.p.secrets.Company)
	return shareTokens.search(r)
}
