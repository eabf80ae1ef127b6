package bindings

import "transect/runtime/module"

// connectDocs says what the keys of sdk.connect mean; a test wants one for each.
var connectDocs = map[string]module.Param{
	"url":           {Type: "string", Doc: "address of the platform"},
	"user":          {Type: "string", Doc: "user to log in as"},
	"password":      {Type: "string", Doc: "the user's password"},
	"client_id":     {Type: "string", Doc: "OAuth client to log in as"},
	"client_secret": {Type: "string", Doc: "the client's secret"},
	"secret":        {Type: "string", Doc: "client_secret as revision 3 spells it"},
	"access_token":  {Type: "string", Doc: "access token, instead of a login"},
	"domain":        {Type: "string", Doc: "domain of the login"},
	"scope":         {Type: "string", Doc: "what the token is asked for"},
	"proxy_url":     {Type: "string", Doc: "proxy for every request"},
	"ca_cert":       {Type: "string", Doc: "PEM file of further trusted certificates"},
	"config_path":   {Type: "string", Doc: "configuration file with any of these settings"},
	"file_path":     {Type: "string", Doc: "older name of config_path"},
	"profile":       {Type: "string", Doc: "entry of the configuration file's profiles"},
	"force_prompt":  {Type: "boolean", Doc: "true asks for address and login on the terminal"},
	"service":       {Type: "string|table", Doc: "names of the program, for the platform's logs"},
	"connection":    {Type: "table", Doc: "max_retries, disable_ssl_certificate"},
	"revision":      {Type: "integer", Doc: "revision of the interface to speak: 1 is the newest, 2 and 3 are older"},
	"timeout":       {Type: "number", Doc: "seconds one request may take"},
}

// Declaration describes the module sdk, beside its managers, for
// documentation. The module itself finds managers when they are asked for.
func Declaration() *module.Module {
	settings := make([]module.Param, len(connectKeys))
	for i, key := range connectKeys {
		p := connectDocs[key]
		p.Name, p.Optional = key, true
		settings[i] = p
	}
	return &module.Module{
		Name:   "sdk",
		Doc:    "The connection to the platform: sdk.projects and so on, one attribute a manager. It connects when an operation is asked for first.",
		Fields: []module.Field{{Name: "url", Doc: "address of the platform"}},
		Funcs: []module.Func{
			{
				Name: "managers", Doc: "Lists the names of the managers.", Returns: "a list of names",
				Example: `local names = require("sdk").managers()
assert(names[1] == "projects")`,
			},
			{
				Name: "connect", Doc: "Opens a connection of its own, beside the command line's. What is not given comes from the command line, unless another platform is named.",
				Params:  []module.Param{{Name: "settings", Fields: settings}},
				Returns: "the connection: a table like sdk",
				Example: `local sdk = require("sdk")
local other = sdk.connect{ timeout = 30 }
assert(other.url == sdk.url and #other.projects.search{} == 0)`,
			},
		},
	}
}
