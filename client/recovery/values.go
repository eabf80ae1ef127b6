package recovery

import (
	"github.com/tidwall/gjson"

	"transect/client/declare"
)

// targets returns the identifiers of what a call changes or deletes.
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

// resultIDs returns the identifiers of what an operation has made, from its result.
func resultIDs(s *declare.Spec, v declare.Value) (list []string) {
	for _, record := range v.Records() {
		if id := gjson.GetBytes(record, s.MadeID); s.MadeID != "" && id.Type == gjson.String {
			list = append(list, id.Str)
		}
	}
	return list
}
