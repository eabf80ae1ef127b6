package platform

import (
	"time"

	"transect/platform/store"
)

// Share tokens give access to the tiles of datasets of one company, for a
// number of seconds or for good.
var shareTokens = &resource{name: "share_token", plural: "share_tokens"}

// maxDuration of a share token, in seconds: 100 years.
const maxDuration = 100 * 365 * 24 * 3600

func init() {
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
	a := &args{doc: given}
	duration := a.integer("duration", 0, 1, maxDuration)
	doc["token"], doc["expiration_date"] = randomToken(), nil
	if duration > 0 {
		doc["expiration_date"] = date(r.now().Add(time.Duration(duration) * time.Second))
	}
	return a.err
}

func revokeShareToken(r *Request) (any, error) {
	token, err := r.first(shareTokens, store.Doc{"token": r.text("token")})
	if err != nil {
		return nil, err
	}
	if token == nil {
		// The token itself is a secret and stays out of the answer.
		return nil, fail(404, "ResourceNotFound", "there is no such share token")
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
