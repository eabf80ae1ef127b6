package platform

import (
	"maps"
	"slices"

	"transect/client/schema"
	"transect/platform/internal/store"
)

// Credentials let analytics and datastreams sign in to other services. Their names are unique in a company.
var credentials = &resource{name: "credentials", plural: "credentials", unique: []string{"company", "name"}}

// secretKeys lists the keys of a type of credentials.
type secretKeys struct {
	required []string
	shown    []string // neither password, secret nor key
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
	credentials.rules = fields{{Name: "labels", Type: "{}string"}, {Name: "credentials", Type: "object", Fields: fields{
		{Name: "type", Type: "string", Choices: slices.Sorted(maps.Keys(secretTypes)), Optional: true}}}}
	credentials.defaults = store.Doc{"labels": store.Doc{}}
	credentials.complete = hideSecrets
	credentials.deletable = unusedCredentials
	serve("credentials", credentials, map[string]endpoint{
		"set-credentials": do(changeCredentials),
		"set-labels":      do(changeCredentials),
	})
}

// changeCredentials changes credentials, found by company and name.
func changeCredentials(r *Request) any {
	doc := r.needCredentials(r.text("company"), r.text("name"), "name")
	check(schema.CheckFields(optional(credentials.rules), "", r.body))
	for _, key := range []string{"credentials", "labels"} {
		if r.body[key] != nil {
			doc[key] = r.body[key]
		}
	}
	hideSecrets(r, r.body, doc)
	r.save(credentials, doc)
	return store.Doc{}
}

// hideSecrets checks credentials by their type and keeps what may be shown. Secrets are not stored: nothing
// here signs in to other services.
func hideSecrets(r *Request, given, doc store.Doc) {
	owned(r, given, doc) // revision 2 names no company
	secrets, ok := given["credentials"].(map[string]any)
	if !ok {
		return
	}
	kind := store.Text(secrets, "type")
	switch {
	case kind != "":
	case r.revision == newest:
		panic(wrong("credentials.type", "is required"))
	default:
		kind = typeOf(secrets)
	}
	var form fields
	for _, name := range secretTypes[kind].required {
		form = append(form, schema.Param{Name: name, Type: "word"})
	}
	for _, name := range secretTypes[kind].shown {
		form = append(form, schema.Param{Name: name, Type: "word", Optional: true})
	}
	check(schema.CheckFields(form, "credentials.", secrets))
	shown := store.Doc{}
	if kind != "" {
		shown["type"] = kind
	}
	for _, key := range secretTypes[kind].shown {
		if secrets[key] != nil {
			shown[key] = secrets[key]
		}
	}
	doc["credentials"] = shown
	if r.revision != 2 { // which says what they are for
		doc["type"] = kind
	}
}

// typeOf returns the type of credentials that do not name it, as those of older revisions: the first one that has
// their keys, or "".
func typeOf(secrets store.Doc) string {
	for _, kind := range slices.Sorted(maps.Keys(secretTypes)) {
		required := secretTypes[kind].required
		if len(required) > 0 && !slices.ContainsFunc(required, func(key string) bool { return secrets[key] == nil }) {
			return kind
		}
	}
	return ""
}

// needCredentials returns a company's credentials by name, or fails.
func (r *Request) needCredentials(company, name, key string) store.Doc {
	r.need(companies, company, "company")
	doc := r.first(credentials, store.Doc{"company": company, "name": name})
	if doc == nil {
		f := notFound(credentials.name, name)
		f.Message = key + ": company " + company + " has no credentials " + name
		panic(f)
	}
	return doc
}

// unusedCredentials refuses to delete credentials that an analytic uses.
func unusedCredentials(r *Request, doc store.Doc) {
	name, company := store.Text(doc, "name"), doc["company"]
	if user := r.first(analytics, store.Doc{"company": company, "algorithm.docker_credentials_name": name}); user != nil {
		panic(conflict("credentials %s fetch the image of analytic %s %s", name, user["name"], user["version"]))
	}
	for _, a := range r.all(analyticCredentials, store.Doc{"company": company}) {
		for field, value := range objectOf(a, "credentials") {
			if value == any(name) {
				panic(conflict("credentials %s are assigned to analytic %s as %s; unassign them first", name, a["name"], field))
			}
		}
	}
}
