package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

var credentials = kind{name: "credentials", plural: "credentials", firstPage: 0, limit: 50}

// secretShape says which keys credentials of a type have.
type secretShape struct {
	required []string
	shown    []string // those that are neither password, secret nor key
}

var secretShapes = map[string]secretShape{
	"docker": {[]string{"login", "password"}, []string{"login", "registry"}},
	"aws":    {[]string{"aws_access_key_id", "aws_secret_access_key"}, []string{"aws_region"}},
	"s3":     {[]string{"aws_access_key_id", "aws_secret_access_key"}, []string{"aws_region"}},
	"azure-blob": {[]string{"azure_client_id", "azure_tenant_id", "azure_client_secret"},
		[]string{"azure_client_id", "azure_tenant_id"}},
	"google-cloud-storage": {},
	"oauth":                {[]string{"client_id", "client_secret", "token_url"}, []string{"client_id", "token_url"}},
}

func credentialRoutes() []route {
	const root = "credentials-service/"
	return []route{
		write(root+"create-credentials", createCredentials),
		write(root+"delete-credentials", credentials.one(deleteCredentials)),
		read(root+"search-credentials", credentials.search),
		write(root+"set-credentials", changeCredentials(setSecrets)),
		write(root+"set-labels", changeCredentials(setLabels)),
	}
}

func createCredentials(r *Request) (any, error) {
	a := r.args()
	name, company := a.text("name"), a.id("company")
	doc, err := r.extras()
	if err != nil {
		return nil, err
	}
	setSecrets(a, doc)
	doc["labels"] = store.Doc{}
	if a.has("labels") {
		setLabels(a, doc)
	}
	if a.err != nil {
		return nil, a.err
	}
	if _, err := r.need(companies, company, "company"); err != nil {
		return nil, err
	}
	if err := r.needFree(credentials, company, name, ""); err != nil {
		return nil, err
	}
	return doc, r.create(credentials, doc)
}

// changeCredentials is the handler of a change to the credentials that a
// company has under a name.
func changeCredentials(change func(*args, store.Doc)) handler {
	return func(r *Request) (any, error) {
		a := r.args()
		name, company := a.text("name"), a.id("company")
		if a.err != nil {
			return nil, a.err
		}
		doc, err := r.needCredentials(company, name, "name")
		if err != nil {
			return nil, err
		}
		change(a, doc)
		if a.err != nil {
			return nil, a.err
		}
		return doc, r.save(credentials, doc)
	}
}

// setSecrets checks credentials and keeps what may be shown of them. The rest
// is not kept anywhere: nothing here signs in elsewhere with it.
func setSecrets(a *args, doc store.Doc) {
	inner := within(a.object("credentials"), "credentials")
	if a.err != nil {
		return
	}
	kind := inner.oneOf("type", slices.Sorted(maps.Keys(secretShapes))...)
	shape := secretShapes[kind]
	for _, key := range shape.required {
		inner.text(key)
	}
	shown := store.Doc{"type": kind}
	for _, key := range shape.shown {
		if inner.has(key) {
			shown[key] = inner.text(key)
		}
	}
	a.err = inner.err
	doc["credentials"], doc["type"] = shown, kind
}

func setLabels(a *args, doc store.Doc) {
	labels := a.object("labels")
	inner := within(labels, "labels")
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if inner.need(key) {
			inner.optText(key)
		}
	}
	if a.err == nil {
		a.err = inner.err
	}
	doc["labels"] = labels
}

// needCredentials returns those that a company has under a name.
func (r *Request) needCredentials(company, name, key string) (store.Doc, error) {
	if _, err := r.need(companies, company, "company"); err != nil {
		return nil, err
	}
	doc, err := r.named(credentials, company, name)
	if err == nil && doc == nil {
		f := notFound(credentials.name, name)
		f.Message = key + ": company " + company + " has no credentials " + name
		err = f
	}
	return doc, err
}

// deleteCredentials deletes credentials that no analytic uses: what analytics
// name is always there.
func deleteCredentials(r *Request, id string) error {
	doc, err := r.get(credentials, id)
	if err != nil {
		return err
	}
	name, company := store.Text(doc, "name"), store.Text(doc, "company")
	users, err := r.tx.All(analytics.plural, store.Doc{"company": company, "algorithm.docker_credentials_name": name})
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return conflict("credentials %s fetch the image of analytic %s %s", name, users[0]["name"], users[0]["version"])
	}
	assigned, err := r.tx.All(analyticCredentials.plural, store.Doc{"company": company})
	if err != nil {
		return err
	}
	for _, a := range assigned {
		given, _ := a["credentials"].(map[string]any)
		for field, value := range given {
			if value == any(name) {
				return conflict("credentials %s are assigned to analytic %s as %s; unassign them first", name, a["name"], field)
			}
		}
	}
	return r.softDelete(credentials, doc)
}
