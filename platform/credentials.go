package platform

import (
	"maps"
	"slices"

	"transect/platform/store"
)

// Credentials are what analytics and datastreams sign in elsewhere with. A
// company knows its own by their names.
var credentials = &resource{name: "credentials", plural: "credentials", unique: []string{"company", "name"}}

// secretKeys says which keys credentials of a type have.
type secretKeys struct {
	required []string
	shown    []string // those that are neither password, secret nor key
}

var secretTypes = map[string]secretKeys{
	"docker": {[]string{"login", "password"}, []string{"login", "registry"}},
	"aws":    {[]string{"aws_access_key_id", "aws_secret_access_key"}, []string{"aws_region"}},
	"s3":     {[]string{"aws_access_key_id", "aws_secret_access_key"}, []string{"aws_region"}},
	"azure-blob": {[]string{"azure_client_id", "azure_tenant_id", "azure_client_secret"},
		[]string{"azure_client_id", "azure_tenant_id"}},
	"google-cloud-storage": {},
	"oauth":                {[]string{"client_id", "client_secret", "token_url"}, []string{"client_id", "token_url"}},
}

func serveCredentials() {
	credentials.refs = []ref{{"company", companies, leave}}
	credentials.rules = map[string]rule{"credentials": checkSecrets, "labels": every(anyText)}
	credentials.defaults = store.Doc{"labels": store.Doc{}}
	credentials.complete = hideSecrets
	credentials.deletable = unusedCredentials
	serve("credentials", credentials, map[string]endpoint{
		"set-credentials": do(changeCredentials),
		"set-labels":      do(changeCredentials),
	})
}

// changeCredentials changes those that a company has under a name.
func changeCredentials(r *Request) (any, error) {
	doc, err := r.needCredentials(r.text("company"), r.text("name"), "name")
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"credentials", "labels"} {
		if r.body[key] == nil {
			continue
		}
		if err := credentials.rules[key](key, r.body[key]); err != nil {
			return nil, err
		}
		doc[key] = r.body[key]
	}
	if err := hideSecrets(r, r.body, doc); err != nil {
		return nil, err
	}
	return doc, r.save(credentials, doc)
}

func checkSecrets(key string, v any) error {
	types := oneOf(slices.Sorted(maps.Keys(secretTypes))...)
	if err := object(fields{"type": types}, "type")(key, v); err != nil {
		return err
	}
	keys := secretTypes[store.Text(v.(map[string]any), "type")]
	known := fields{}
	for _, name := range slices.Concat(keys.required, keys.shown) {
		known[name] = word
	}
	return object(known, keys.required...)(key, v)
}

// hideSecrets keeps what may be shown of credentials. The rest is not stored
// anywhere: nothing here signs in elsewhere with it.
func hideSecrets(_ *Request, given, doc store.Doc) error {
	secrets, ok := given["credentials"].(map[string]any)
	if !ok {
		return nil
	}
	kind := store.Text(secrets, "type")
	shown := store.Doc{"type": kind}
	for _, key := range secretTypes[kind].shown {
		if secrets[key] != nil {
			shown[key] = secrets[key]
		}
	}
	doc["credentials"], doc["type"] = shown, kind
	return nil
}

// needCredentials returns those that a company has under a name.
func (r *Request) needCredentials(company, name, key string) (store.Doc, error) {
	if _, err := r.need(companies, company, "company"); err != nil {
		return nil, err
	}
	doc, err := r.first(credentials, store.Doc{"company": company, "name": name})
	if err == nil && doc == nil {
		f := notFound(credentials.name, name)
		f.Message = key + ": company " + company + " has no credentials " + name
		err = f
	}
	return doc, err
}

// unusedCredentials refuses to delete credentials that an analytic uses.
func unusedCredentials(r *Request, doc store.Doc) error {
	name, company := store.Text(doc, "name"), doc["company"]
	user, err := r.first(analytics, store.Doc{"company": company, "algorithm.docker_credentials_name": name})
	if err != nil {
		return err
	}
	if user != nil {
		return conflict("credentials %s fetch the image of analytic %s %s", name, user["name"], user["version"])
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
	return nil
}
