package client

import (
	"maps"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
)

func TestCredentialsOnTheWire(t *testing.T) {
	const service = "POST /credentials-service/"
	call := func(call string, args map[string]any, want string) wireCase {
		return wireCase{call: call, args: args, want: []string{service + want}}
	}
	cloud := map[string]any{"type": "aws", "cloud_access_key_id": "k", "cloud_secret_access_key": "s", "cloud_region": "r"}
	testWire(t, []wireCase{
		call("credentials.create", map[string]any{"name": "n", "company": "c", "credentials": cloud, "labels": map[string]any{}},
			`create-credentials {"name":"n","company":"c","credentials":{"type":"aws","aws_access_key_id":"k","aws_secret_access_key":"s","aws_region":"r"}}`),
		call("credentials.create", map[string]any{"name": "n", "company": "c", "labels": map[string]any{"type": "docker"},
			"credentials": map[string]any{"type": "docker", "login": "l", "password": "p", "registry": "r"}},
			`create-credentials {"name":"n","company":"c","labels":{"type":"docker"},"credentials":{"type":"docker","login":"l","password":"p","registry":"r"}}`),
		call("credentials.set_credentials", map[string]any{"name": "n", "company": "c",
			"credentials": map[string]any{"type": "azure-blob", "blob_client_id": "i", "azure_tenant_id": "t", "blob_client_secret": "s"}},
			`set-credentials {"name":"n","company":"c","credentials":{"type":"azure-blob","azure_client_id":"i","azure_tenant_id":"t","azure_client_secret":"s"}}`),
		call("credentials.set_labels", map[string]any{"name": "n", "company": "c", "labels": map[string]any{"bucket": "b"}},
			`set-labels {"name":"n","company":"c","labels":{"bucket":"b"}}`),
		call("credentials.delete", map[string]any{"credential": "x"}, `delete-credentials {"credentials":"x"}`),
		call("credentials.search", map[string]any{"name": "n"}, `search-credentials {"filter":{"name":{"$eq":"n"}}}`),
		call("credentials.search", map[string]any{"name": []any{"n"}, "filter": map[string]any{"company": map[string]any{"$eq": "c"}}},
			`search-credentials {"filter":{"name":{"$in":["n"]},"company":{"$eq":"c"}}}`),
	})
	if len(cloud) != 4 || cloud["cloud_region"] != "r" {
		t.Errorf("the caller's own table was changed: %v", cloud)
	}
	c, _ := record(t, map[string]string{"": `{}`})
	if v, err := invoke(t, c, "credentials.set_labels", map[string]any{"name": "n", "company": "c", "labels": map[string]any{}}); err != nil || string(v.JSON) != "{}" {
		t.Errorf("an empty answer gives %s, %v", v.JSON, err)
	}
}

func TestCredentialsRefused(t *testing.T) {
	args := func(key string, v any) map[string]any {
		all := map[string]any{"name": "n", "company": "c", "credentials": map[string]any{"type": "docker", "password": "hush-hush"}}
		maps.Copy(all, map[string]any{key: v})
		return all
	}
	cases := []refusedCase{
		{"credentials.create", args("credentials", "hush-hush"), "ParameterError", "argument credentials must be a table with keys"},
		{"credentials.create", args("credentials", map[string]any{"cloud_region": "hush-hush", "aws_region": "hush-hush"}), "ParameterError", "cloud_region and aws_region are the same key"},
		{"credentials.create", args("labels", map[string]any{"type": 3}), "ParameterError", "labels: type must be text"},
		{"credentials.set_labels", map[string]any{"name": "n", "company": "c", "labels": map[string]any{"a": true}}, "ParameterError", "labels: a must be text"},
		{"credentials.search", map[string]any{"name": "n", "filter": map[string]any{"name": map[string]any{"$ne": "m"}}}, "ParameterError", "cannot be combined"},
	}
	testRefused(t, cases)
	for _, test := range cases {
		c, _ := record(t, nil)
		if _, err := invoke(t, c, test.call, test.args); strings.Contains(err.Error()+fault.Find(err).Facts().Hint, "hush-hush") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestOAuthClientsOnTheWire(t *testing.T) {
	testWire(t, []wireCase{
		{call: "oauth_clients.create", args: map[string]any{"name": "n"}, want: []string{`POST /dxauth/create-client {"name":"n","client_type":"sdk"}`}},
		{call: "oauth_clients.create", args: map[string]any{"name": "n", "expiration_date": "2027-01-31"},
			want: []string{`POST /dxauth/create-client {"name":"n","client_type":"sdk","expiration_date":"2027-01-31"}`}},
		{call: "oauth_clients.create", args: map[string]any{"name": "n", "expiration_date": time.Date(2027, 1, 31, 8, 0, 0, 0, time.FixedZone("", 3600))},
			want: []string{`POST /dxauth/create-client {"name":"n","client_type":"sdk","expiration_date":"2027-01-31T07:00:00.000Z"}`}},
		{call: "oauth_clients.delete", args: map[string]any{"client": "o"}, want: []string{`POST /dxauth/delete-client {"client":"o"}`}},
		{call: "oauth_clients.search", args: map[string]any{"limit": 5, "page": 1}, want: []string{`POST /dxauth/search-clients {"filter":{},"limit":5,"page":1}`}},
	})
	testRefused(t, []refusedCase{
		{"oauth_clients.create", map[string]any{"name": "n", "client_type": "web"}, "ParameterError", `must be one of sdk`},
		{"oauth_clients.create", map[string]any{"name": "n", "expiration_date": "soon"}, "ParameterError", "must be a date"},
	})
}

func TestConfigurationSetsOnTheWire(t *testing.T) {
	const service = "POST /analytics-service/"
	call := func(operation string, args map[string]any, want ...string) wireCase {
		for i := range want {
			want[i] = service + want[i]
		}
		return wireCase{call: "analytic_configurations." + operation, args: args, want: want}
	}
	value := map[string]any{"threshold": 3}
	twoSets := map[string]any{"configuration_set": []any{"s1", "s2"}, "extra": map[string]any{"verbose": true}}
	testWire(t, []wireCase{
		call("create", map[string]any{"name": "n", "analytic_name": "a", "value": value},
			`create-analytic-configuration {"name":"n","analytic_name":"a","versions":[{"value":{"threshold":3},"analytic_version_range":"*"}]}`),
		call("create", map[string]any{"name": "n", "analytic_name": "a", "value": value, "analytic_version_range": "1.x", "description": "", "extra": map[string]any{"versions": []any{"own"}}},
			`create-analytic-configuration {"name":"n","analytic_name":"a","description":"","versions":["own"]}`),
		call("update", map[string]any{"configuration_set": "s", "description": ""}, `update-analytic-configuration {"analytic_configuration":"s","description":""}`),
		call("update", map[string]any{"configuration_set": "s", "value": value, "analytic_version_range": "2.x"},
			`update-analytic-configuration {"analytic_configuration":"s","versions":[{"value":{"threshold":3},"analytic_version_range":"2.x"}]}`),
		call("update", map[string]any{"configuration_set": "s", "name": "n", "versions": []any{map[string]any{"analytic_version_range": "1.x", "value": value}}},
			`update-analytic-configuration {"analytic_configuration":"s","name":"n","versions":[{"analytic_version_range":"1.x","value":{"threshold":3}}]}`),
		call("describe", map[string]any{"configuration_set": "s"}, `describe-analytic-configuration {"analytic_configuration":"s"}`),
		call("describe", twoSets, `describe-analytic-configuration {"analytic_configuration":"s1","verbose":true}`, `describe-analytic-configuration {"analytic_configuration":"s2","verbose":true}`),
		call("delete", twoSets, `delete-analytic-configuration {"analytic_configuration":"s1","verbose":true}`, `delete-analytic-configuration {"analytic_configuration":"s2","verbose":true}`),
		call("assign_to_company", map[string]any{"configuration_set": "s", "company": "c"}, `assign-analytic-configuration-to-company {"analytic_configuration":"s","company":"c"}`),
		call("unassign_from_company", map[string]any{"configuration_set": "s", "company": "c"}, `unassign-analytic-configuration-from-company {"analytic_configuration":"s","company":"c"}`),
		call("search", nil, `search-analytic-configurations {"filter":{},"limit":100}`),
	})
	update := func(key string, v any, text string) refusedCase {
		return refusedCase{"analytic_configurations.update", map[string]any{"configuration_set": "s", key: v}, "QueryError", text}
	}
	testRefused(t, []refusedCase{
		update("value", value, "analytic_version_range is missing"),
		update("analytic_version_range", "1.x", "value is missing"),
		update("versions", []any{map[string]any{"value": value}}, "versions[1]: analytic_version_range is missing"),
		{"analytic_configurations.update", map[string]any{"configuration_set": "s"}, "QueryError", "nothing to change"},
		{"analytic_configurations.update", map[string]any{"configuration_set": "s", "versions": []any{}, "value": value, "analytic_version_range": "*"}, "QueryError", "versions cannot be combined with value"},
	})
}
