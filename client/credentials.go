package client

import (
	"cmp"
	"maps"
	"slices"

	"transect/client/fault"
)

// Credentials are secrets a company keeps on the platform, used by their names.
type Credentials struct {
	Create         Op[CreateCredentials, Credential]     `create:"create-credentials" unknown:"key name" doc:"Store credentials of a company under a name."`
	Delete         Op[CredentialRef, None]               `delete:"delete-credentials" doc:"Delete credentials."`
	Search         SearchOp[CredentialQuery, Credential] `read:"search-credentials" page:"0" doc:"Find credentials. Their secrets are not shown."`
	SetCredentials Op[SetCredentials, Object]            `set:"set-credentials" doc:"Replace the secrets stored under a name."`
	SetLabels      Op[SetLabels, Object]                 `set:"set-labels" doc:"Replace the labels of credentials."`
}

// Inputs of the credential operations.
type (
	CreateCredentials struct {
		Name        string `arg:"name,req" doc:"name, unique in the company"`
		Company     ID     `arg:"company,req" doc:"company that owns them"`
		Credentials Object `arg:"credentials,req" secret:"yes" doc:"type and its keys: docker {login, password, registry}, aws or s3 {cloud_access_key_id, cloud_secret_access_key, cloud_region}, azure-blob {blob_client_id, blob_tenant_id, blob_client_secret}, oauth {client_id, client_secret, token_url}"`
		Type        string `arg:"credentials_type,req" wire:"type" choices:"docker|object-storage|stac-catalog" doc:"what they are for; in revision 2 only"`
		Labels      Object `arg:"labels" omit:"falsy" doc:"label to text, such as {type = \"object-storage\", bucket = \"surveys\"}"`
		Extra
	}
	CredentialRef struct {
		Credential ID `arg:"credential,req,pos" wire:"credentials" doc:"credentials"`
		Extra
	}
	CredentialQuery struct {
		Query
		Name Strings `arg:"name" wire:"filter.name.$eq" many:"filter.name.$in" doc:"name, or a list of names, in place of a filter"`
	}
	SetCredentials struct {
		Company     ID     `arg:"company,req,pos" doc:"company that owns them"`
		Name        string `arg:"name,req,pos" doc:"their name"`
		Credentials Object `arg:"credentials,req,pos" secret:"yes" doc:"type and its keys, as for create"`
		Extra
	}
	SetLabels struct {
		Company ID     `arg:"company,req,pos" doc:"company that owns the credentials"`
		Name    string `arg:"name,req,pos" doc:"their name"`
		Labels  Object `arg:"labels,req,pos" doc:"label to text"`
		Extra
	}
)

// secretKeys are the keys of credentials that travel under another name.
var secretKeys = map[string]string{
	"cloud_access_key_id": "aws_access_key_id", "cloud_secret_access_key": "aws_secret_access_key",
	"cloud_region":   "aws_region",
	"blob_client_id": "azure_client_id", "blob_tenant_id": "azure_tenant_id", "blob_client_secret": "azure_client_secret",
}

// bothSpellings refuses a key that is given under both its names: one of the
// two secrets would be lost.
func bothSpellings(credentials Object) error {
	for _, name := range slices.Sorted(maps.Keys(secretKeys)) {
		_, documented := credentials[name]
		if _, wire := credentials[secretKeys[name]]; documented && wire {
			return fault.Of(&fault.ParameterError{}, "argument credentials: %s and %s are the same key; give one of them",
				name, secretKeys[name])
		}
	}
	return nil
}

// spellSecrets renames the credentials of a body to their names on the wire, in a copy.
func spellSecrets(body map[string]any) error {
	given, _ := body["credentials"].(map[string]any)
	spelled := make(map[string]any, len(given))
	for key, v := range given {
		if wire, ok := secretKeys[key]; ok {
			key = wire
		}
		spelled[key] = v
	}
	body["credentials"] = spelled
	return nil
}

func textLabels(labels Object) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if _, text := labels[key].(string); !text {
			return fault.Of(&fault.ParameterError{}, "argument labels: %s must be text, got %v", key, labels[key])
		}
	}
	return nil
}

// Validate checks keys and labels.
func (in CreateCredentials) Validate() error {
	return cmp.Or(bothSpellings(in.Credentials), textLabels(in.Labels))
}

// Shape renames keys.
func (CreateCredentials) Shape(body map[string]any) error { return spellSecrets(body) }

// Validate checks the keys.
func (in SetCredentials) Validate() error { return bothSpellings(in.Credentials) }

// Shape renames keys.
func (SetCredentials) Shape(body map[string]any) error { return spellSecrets(body) }

// Validate checks the labels.
func (in SetLabels) Validate() error { return textLabels(in.Labels) }

// Credential describes stored credentials. The platform shows no password,
// secret or key.
type Credential struct {
	Record      `doc:"Metadata of stored credentials, without their passwords, secrets and keys."`
	Name        string            `json:"name" doc:"name, unique in the company"`
	Company     string            `json:"company" type:"id" doc:"company that owns them"`
	Type        string            `json:"type" doc:"what they are for"`
	Labels      map[string]string `json:"labels" doc:"label to text; ask for labels.NAME"`
	Credentials struct {
		Type       string `json:"type" choices:"docker|aws|s3|azure-blob|google-cloud-storage|oauth" doc:"kind"`
		Login      string `json:"login" doc:"user name at a registry"`
		Registry   string `json:"registry" doc:"address of a registry"`
		ClientID   string `json:"client_id" doc:"OAuth client"`
		Region     string `json:"aws_region" alias:"credentials.cloud_region" doc:"region of a cloud key"`
		BlobClient string `json:"azure_client_id" alias:"credentials.blob_client_id" doc:"client of a blob store"`
		BlobTenant string `json:"azure_tenant_id" alias:"credentials.blob_tenant_id" doc:"tenant of a blob store"`
		TokenURL   string `json:"token_url" doc:"address tokens are obtained from"`
	} `json:"credentials" doc:"what is not secret of them"`
	History
}
