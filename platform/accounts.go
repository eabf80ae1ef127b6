package platform

import (
	"errors"
	"maps"
	"time"

	"transect/platform/store"
)

// Who uses the platform, and the clients that act for them.
var (
	companies    = &resource{name: "company", plural: "companies"}
	users        = &resource{name: "user", plural: "users"}
	oauthClients = &resource{name: "client", plural: "oauth_clients"}
)

// What allows a user what others may not do.
const (
	profileAdmin = "admin"
	roleManager  = "manager"
)

// oauthSecrets holds the hash of each client's secret under the client's
// identifier, out of the reach of searches.
const oauthSecrets = "oauth_secrets"

func serveAccounts() {
	oauthClients.refs = []ref{{"company", companies, leave}}
	oauthClients.ignored = []string{"client_id", "client_secret", "secret", "user"}
	oauthClients.complete = completeOAuthClient
	serve("companies", companies, nil)
	serve("users", users, map[string]endpoint{"describe-user": do(describeUser)})
	serve("oauth_clients", oauthClients, map[string]endpoint{
		"create-client": do(createOAuthClient, "*"),
		"delete-client": do(deleteOAuthClient),
	})
}

// describeUser answers with a user; with the caller when none is named.
func describeUser(r *Request) (any, error) {
	if r.text("user") == "" {
		r.body["user"] = r.caller.user
	}
	return users.describe(r)
}

// needManager refuses callers who are neither administrators nor managers of
// their company.
func (r *Request) needManager(company string) error {
	user, err := r.get(users, r.caller.user)
	if err != nil {
		return err
	}
	if store.Text(user, "profile") == profileAdmin ||
		store.Text(user, "companyRole") == roleManager && store.Text(user, "company") == company {
		return nil
	}
	return forbidden("an administrator's profile, or the role of a manager of company %s, is required", company)
}

func completeOAuthClient(r *Request, given, doc store.Doc) error {
	doc["user"], doc["expiration_date"] = r.caller.user, nil
	if given["expiration_date"] != nil {
		doc["expiration_date"] = given["expiration_date"]
		setDates(doc, "expiration_date")
		if end := store.Text(doc, "expiration_date"); end <= date(r.now()) {
			return wrong("expiration_date", "%s is over already", end)
		}
	}
	return owned(r, given, doc)
}

// createOAuthClient makes a pair of id and secret that tokens are issued for.
// Only this answer has the secret.
func createOAuthClient(r *Request) (any, error) {
	if r.text("client_type") == "" {
		return nil, wrong("client_type", "is required")
	}
	doc, err := oauthClients.build(r, r.body)
	if err != nil {
		return nil, err
	}
	if err := r.create(oauthClients, doc); err != nil {
		return nil, err
	}
	secret := randomToken()
	answer := maps.Clone(doc)
	answer["client_id"], answer["client_secret"] = doc["_id"], secret
	return answer, r.tx.Insert(oauthSecrets, store.Doc{"_id": doc["_id"], "hash": hashed(secret)})
}

// deleteOAuthClient ends a client and the tokens issued for it.
func deleteOAuthClient(r *Request) (any, error) {
	id := r.text("client")
	doc, err := r.get(oauthClients, id)
	if err != nil {
		return nil, err
	}
	if err := r.tx.Remove(oauthSecrets, id); err != nil {
		return nil, err
	}
	if err := r.tx.Exec("DELETE FROM tokens WHERE client = ?", id); err != nil {
		return nil, err
	}
	return doc, r.softDelete(oauthClients, doc)
}

// clientUser finds the user for whom a client acts, and when the client ends;
// a zero time is never. It fails with 401 for a wrong pair.
func (r *Request) clientUser(id, secret string) (user string, ends time.Time, err error) {
	known := r.p.secrets
	if same(id, known.ClientID) && same(secret, known.ClientSecret) {
		return known.UserID, ends, nil
	}
	wrong := unauthorized("InvalidClient", "client id or secret is wrong")
	stored, err := r.tx.Get(oauthSecrets, id)
	if errors.Is(err, store.ErrNotFound) {
		return "", ends, wrong
	}
	if err != nil {
		return "", ends, err
	}
	if !same(store.Text(stored, "hash"), hashed(secret)) {
		return "", ends, wrong
	}
	doc, err := r.get(oauthClients, id)
	if err != nil {
		return "", ends, err
	}
	if end := store.Text(doc, "expiration_date"); end != "" {
		if ends, err = time.Parse(time.RFC3339, end); err != nil {
			return "", ends, err
		}
		if !r.now().Before(ends) {
			return "", ends, unauthorized("ExpiredClient", "the client has expired on %s", end)
		}
	}
	return store.Text(doc, "user"), ends, nil
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
	serve("share_tokens", shareTokens, map[string]endpoint{
		"revoke-share-token":  do(revokeShareToken),
		"search-share-tokens": do(searchShareTokens),
	})
}

func completeShareToken(r *Request, given, doc store.Doc) error {
	if len(textsOf(store.Lookup(given, "scope.datasets"))) == 0 {
		return wrong("scope.datasets", "must name at least one dataset")
	}
	if err := r.needManager(store.Text(doc, "company")); err != nil {
		return err
	}
	duration, err := integer(given, "duration", 0, 1, maxDuration)
	doc["token"], doc["expiration_date"] = randomToken(), nil
	if duration > 0 {
		doc["expiration_date"] = date(r.now().Add(time.Duration(duration) * time.Second))
	}
	return err
}

func revokeShareToken(r *Request) (any, error) {
	token, err := r.first(shareTokens, store.Doc{"token": r.text("token")})
	if err != nil {
		return nil, err
	}
	if token == nil {
		// The token itself is a secret and stays out of the answer.
		return nil, fail(404, "ResourceNotFound", "the share token does not exist")
	}
	if err := r.needManager(store.Text(token, "company")); err != nil {
		return nil, err
	}
	return nil, r.softDelete(shareTokens, token)
}

func searchShareTokens(r *Request) (any, error) {
	if err := r.needManager(r.p.secrets.Company); err != nil {
		return nil, err
	}
	return shareTokens.search(r)
}
