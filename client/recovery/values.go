package recovery

import (
	"github.com/tidwall/gjson"

	"transect/client/declare"
)

// targets are the identifiers of what a call changes or deletes.
func targets(call *declare.Call) []string {
	s := call.Spec
	if s.Effect == declare.Create || len(s.Params) == 0 {
		return nil
	}
	switch id := call.Args.Values[s.Params[0].Name].(type) {
	case string:
		if s.Params[0].Type == "id" || s.Params[0].Type == "id|[]id" {
			return []string{id}
		}
	case []string:
		return id
	}
	return nil
}

// records are the records of a value.
func records(v declare.Value) [][]byte {
	if v.JSON != nil {
		return [][]byte{v.JSON}
	}
	return v.Items
}

// ids are the identifiers of what a value holds.
func ids(v declare.Value) (list []string) {
	for _, record := range records(v) {
		for _, key := range []string{"_id", "mission._id"} { // a survey is answered with its mission and its flight
			if id := gjson.GetBytes(record, key); id.Type == gjson.String {
				list = append(list, id.Str)
			}
		}
	}
	return list
}
