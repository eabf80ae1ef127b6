package platform

import (
	"errors"
	"time"

	"transect/platform/store"
)

var oauthClients = kind{name: "client", plural: "oauth_clients", firstPage: 1, limit: 50}

// oauthSecrets holds the hash of each client's secret under the client's
// identifier, out of the reach of searches.
const oauthSecrets = "oauth_secrets"

func oauthClientRoutes() []route {
	return []route{
		write("dxauth/create-client", createOAuthClient),
		write("dxauth/delete-client", deleteOAuthClient),
		read("dxauth/search-clients", oauthClients.search),
	}
}

// createOAuthClient makes a pair of id and secret that tokens are given for.
// The answer alone has the secret.
func createOAuthClient(r *Request) (any, error) {
	a := r.args()
	a.text("name")
	a.oneOf("client_type", "sdk")
	var expires any
	if a.has("expiration_date") {
		end := a.date("expiration_date")
		if a.err == nil && end <= date(r.now()) {
			a.wrong("expiration_date", "%s is over already", end)
		}
		expires = end
	}
	company, err := r.owner(a)
	if err != nil {
		return nil, err
	}
	doc, err := r.extras("client_id", "client_secret", "secret", "user")
	if err != nil {
		return nil, err
	}
	doc["company"], doc["user"], doc["expiration_date"] = company, r.caller.user, expires
	if err := r.create(oauthClients, doc); err != nil {
		return nil, err
	}
	secret := randomToken()
	if err := r.tx.Insert(oauthSecrets, store.Doc{"_id": doc["_id"], "hash": hashed(secret)}); err != nil {
		return nil, err
	}
	answer := store.Doc{"client_id": doc["_id"], "client_secret": secret}
	for key, value := range doc {
		answer[key] = value
	}
	return answer, nil
}

// deleteOAuthClient ends a client and the tokens it was given.
func deleteOAuthClient(r *Request) (any, error) {
	a := r.args()
	id := a.id("client")
	if a.err != nil {
		return nil, a.err
	}
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
// a zero time is never. It fails with 401 for a pair that is not good.
func (r *Request) clientUser(id, secret string) (user string, ends time.Time, err error) {
	known := r.p.secrets
	if same(id, known.ClientID) && same(secret, known.ClientSecret) {
		return known.UserID, ends, nil
	}
	wrong := unauthorized("InvalidClient", "client id or secret is wrong")
	kept, err := r.tx.Get(oauthSecrets, id)
	if errors.Is(err, store.ErrNotFound) {
		return "", ends, wrong
	}
	if err != nil {
		return "", ends, err
	}
	if !same(store.Text(kept, "hash"), hashed(secret)) {
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
