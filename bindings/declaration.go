package bindings

import "transect/runtime/vm"

// connectDocs says what the keys of sdk.connect mean.
var connectDocs = []vm.Param{
	{Name: "url", Type: "string", Doc: "address of the platform"},
	{Name: "user", Type: "string", Doc: "user to log in as"},
	{Name: "password", Type: "string", Doc: "the user's password"},
	{Name: "client_id", Type: "string", Doc: "OAuth client to log in as"},
	{Name: "client_secret", Type: "string", Doc: "the client's secret"},
	{Name: "secret", Type: "string", Doc: "older name of client_secret"},
	{Name: "access_token", Type: "string", Doc: "access token, instead of a login"},
	{Name: "domain", Type: "string", Doc: "domain of the login"},
	{Name: "scope", Type: "string", Doc: "what the token is asked for"},
	{Name: "proxy_url", Type: "string", Doc: "proxy for every request"},
	{Name: "ca_cert", Type: "string", Doc: "PEM file of further trusted certificates"},
	{Name: "config_path", Type: "string", Doc: "configuration file with any of these settings"},
	{Name: "file_path", Type: "string", Doc: "older name of config_path"},
	{Name: "profile", Type: "string", Doc: "entry of the configuration file's profiles"},
	{Name: "force_prompt", Type: "boolean", Doc: "true asks for address and login on the terminal"},
	{Name: "service", Type: "string|table", Doc: "names of the program, for the platform's logs"},
	{Name: "connection", Type: "table", Doc: "max_retries, disable_ssl_certificate"},
	{Name: "timeout", Type: "number", Doc: "seconds one request may take"},
}

// Declaration describes the module sdk, beside its managers, for
// documentation. The module itself finds managers when they are asked for.
func Declaration() *vm.Module {
	settings := make([]vm.Param, len(connectDocs))
	for i, p := range connectDocs {
		p.Optional = true
		settings[i] = p
	}
	return &vm.Module{
		Name:   "sdk",
		Doc:    "The connection to the platform: sdk.projects and so on, one attribute a manager. It connects when an operation is asked for first.",
		Fields: []vm.Field{{Name: "url", Doc: "address of the platform"}},
		Funcs: []vm.Func{
			{
				Name: "managers", Doc: "Lists the names of the managers.", Returns: "a list of names",
				Example: `local names = require("sdk").managers()
assert(names[1] == "projects")`,
			},
			{
				Name: "connect", Doc: "Opens a connection of its own, beside the command line's. What is not given comes from the command line, unless another platform is named.",
				Params:  []vm.Param{{Name: "settings", Fields: settings}},
				Returns: "the connection: a table like sdk",
				Example: `local sdk = require("sdk")
local other = sdk.connect{ timeout = 30 }
assert(other.url == sdk.url and #other.projects.search{} == 0)`,
			},
		},
	}
}
