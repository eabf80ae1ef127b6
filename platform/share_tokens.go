package platform

import (
	"time"

	"transect/platform/store"
)

var shareTokens = kind{name: "share_token", plural: "share_tokens", firstPage: 1, limit: 50, unsorted: true}

// maxDuration of a share token, in seconds: 100 years.
const maxDuration = 100 * 365 * 24 * 3600

func shareTokenRoutes() []route {
	return []route{
		write("dxauth/create-share-token", createShareToken),
		write("dxauth/revoke-share-token", revokeShareToken),
		read("dxauth/search-share-tokens", searchShareTokens),
	}
}

// createShareToken gives access to the tiles of datasets of one company, for
// so many seconds or for good.
func createShareToken(r *Request) (any, error) {
	a := r.args()
	company, scope := a.id("company"), a.object("scope")
	duration := a.integer("duration", 0, 1, maxDuration)
	inner := within(scope, "scope")
	var ids []string
	if a.err == nil {
		ids = inner.ids("datasets", maxDescribed)
		if len(ids) == 0 {
			inner.wrong("datasets", "must name at least one dataset")
		}
		a.err = inner.err
	}
	if a.err != nil {
		return nil, a.err
	}
	if err := r.needManager(company); err != nil {
		return nil, err
	}
	docs, err := r.getAll(datasets, ids)
	if err != nil {
		return nil, err
	}
	for _, dataset := range docs {
		if dataset["company"] != any(company) {
			return nil, invalid("scope.datasets: dataset %s is not of company %s", dataset["_id"], company)
		}
	}
	doc, err := r.extras("duration", "token", "expiration_date")
	if err != nil {
		return nil, err
	}
	doc["token"] = randomToken()
	doc["expiration_date"] = nil
	if a.has("duration") {
		doc["expiration_date"] = date(r.now().Add(time.Duration(duration) * time.Second))
	}
	return doc, r.create(shareTokens, doc)
}

func revokeShareToken(r *Request) (any, error) {
	a := r.args()
	token := a.text("token")
	if a.err != nil {
		return nil, a.err
	}
	found, err := r.tx.All(shareTokens.plural, store.Doc{"token": token})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		// The token itself is a secret and stays out of the answer.
		return nil, fail(404, "ResourceNotFound", "there is no such share token")
	}
	if err := r.needManager(store.Text(found[0], "company")); err != nil {
		return nil, err
	}
	return nil, r.softDelete(shareTokens, found[0])
}

func searchShareTokens(r *Request) (any, error) {
	if err := r.needManager(r.p.secrets.Company); err != nil {
		return nil, err
	}
	return shareTokens.search(r)
}
