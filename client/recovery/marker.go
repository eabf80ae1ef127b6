package recovery

import (
	"fmt"
	"maps"
	"slices"
)

// marker returns the value that the write's datasets carry in their properties.
func (a *attempt) marker() string { return fmt.Sprintf("%s/%d", a.ledger.Ident(), a.row.Seq) }

func element(marker string, n, of int) string {
	if of == 1 {
		return marker
	}
	return fmt.Sprintf("%s.%d", marker, n+1)
}

// mark puts the marker into the body of a request, or into each element of the list under a key.
func mark(body map[string]any, key, marker string) {
	list, bulk := body[key].([]any)
	if !bulk {
		markOne(body, marker)
		return
	}
	list = slices.Clone(list)
	for n, one := range list {
		if fields, ok := one.(map[string]any); ok {
			fields = maps.Clone(fields)
			markOne(fields, element(marker, n, len(list)))
			list[n] = fields
		}
	}
	body[key] = list
}

func markOne(body map[string]any, marker string) {
	properties, _ := body["properties"].(map[string]any)
	marked := map[string]any{}
	for k, v := range properties {
		marked[k] = v
	}
	own, _ := marked["transect"].(map[string]any)
	transect := map[string]any{"write": marker}
	for k, v := range own {
		if k != "write" {
			transect[k] = v
		}
	}
	marked["transect"] = transect
	body["properties"] = marked
}
