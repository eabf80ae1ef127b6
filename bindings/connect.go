package bindings

import (
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// settingsTable describes the argument of sdk.connect.
func settingsTable() schema.Param {
	return schema.TableOf[client.Settings]("settings", "connection settings")
}

// settings reads the table given to sdk.connect. Unknown keys are merged into
// the configuration, as the interface demands, unless they look misspelt.
func settings(L *lua.LState) (*client.Settings, error) {
	s := &client.Settings{}
	v, err := toGo(L, L.Get(1))
	if err != nil || v == nil {
		return s, fault.In("sdk.connect", err)
	}
	param := settingsTable()
	checked, err := param.Check(v)
	if err != nil {
		return nil, fault.In("sdk.connect", err)
	}
	values := checked.(map[string]any)
	s.Given = slices.Collect(maps.Keys(values))
	if connection, ok := values["connection"].(map[string]any); ok {
		fields := schema.Find(param.Fields, "connection").Fields
		for key := range connection { // a typo must not switch off the check of certificates
			if schema.Find(fields, key) == nil {
				return nil, fault.In("sdk.connect", schema.Unknown("key of connection:", key, fields))
			}
		}
	}
	if err := schema.Fill(param.Fields, s, values, nil); err != nil {
		return nil, fault.In("sdk.connect", err)
	}
	for key, v := range values {
		if schema.Find(param.Fields, key) == nil {
			if s.Extra == nil {
				s.Extra = map[string]any{}
			}
			s.Extra[key] = v
		}
	}
	in := vm.Of(L)
	s.ConfigPath, s.CACert = in.Path(s.ConfigPath), in.Path(s.CACert)
	return s, nil
}

// Declaration describes the module sdk, without its managers, for documentation.
func Declaration() *module.Module {
	settings := settingsTable()
	settings.Type = "" // shown by its keys
	return &module.Module{
		Name: "sdk",
		Doc: "The connection to the platform: sdk.projects and so on, one attribute per manager. It connects at the first " +
			"operation.",
		Fields: []module.Field{{Name: "url", Doc: "address of the platform"},
			{Name: "Icons",
				Doc: "icons of point annotations by name: Icons.ANNOTATE (the default), Icons.CONVEYOR and so on; " +
					"annotation.icon has these values"}},
		Funcs: []module.Func{
			{
				Name: "managers", Doc: "Lists the names of the managers.", Returns: "a list of names",
			},
			{
				Name: "connect",
				Doc: "Opens another connection. Settings that are absent come from the command line, unless another platform " +
					"is named.",
				Params:  []module.Param{settings},
				Returns: "the connection: a table like sdk",
			},
			{
				Name: "Resource",
				Doc: "Makes a record, which is accepted wherever an id is. Its properties are read as attributes. Without " +
					"an id it is a KeyError.",
				Params: []module.Param{
					{Name: "id", Type: "any", Doc: "identifier; or a table with id or _id and the properties"},
					{Name: "properties", Type: "table", Doc: "properties by name", Optional: true},
					{Name: "_Resource__remove_undefined", Type: "boolean",
						Doc: "true drops properties that are json.null; also a key of the table. Left out it is true in revision 3 of " +
							"the interface, false in newer ones", Optional: true},
				},
				Returns: "the record",
			},
		},
	}
}
