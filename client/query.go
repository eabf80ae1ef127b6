package client

import (
	"maps"

	"transect/client/fault"
)

func oneChoice(fields Object) error {
	if fields["include"] != nil && fields["exclude"] != nil {
		return fault.Of(&fault.ParameterError{}, "fields: include and exclude exclude each other; give one of them")
	}
	for key := range fields {
		if key != "include" && key != "exclude" {
			return fault.Of(&fault.ParameterError{}, "fields: unknown key %s, there are include and exclude", key)
		}
	}
	return nil
}

// equals adds the condition that a property has one value, in a copy of the
// caller's filter.
func equals(body map[string]any, property, value string) error {
	if value == "" {
		return nil
	}
	filter, _ := body["filter"].(map[string]any)
	filter = maps.Clone(filter)
	if filter == nil {
		filter = map[string]any{}
	}
	if _, taken := filter[property]; taken {
		return fault.Of(&fault.ParameterError{}, "argument %s and a filter on %s exclude each other", property, property)
	}
	filter[property] = map[string]any{"$eq": value}
	body["filter"] = filter
	return nil
}
