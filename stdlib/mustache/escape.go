package mustache

import (
	"encoding/json"
	"html"
	"net/url"
)

// Escapes are what values can be written for.
var Escapes = []string{"none", "html", "json", "url"}

// Escape is a text as it may stand in another: between the tags and in the
// quotes of HTML, in the quotes of JSON, in an address.
func Escape(text, escape string) string {
	switch escape {
	case "html":
		return html.EscapeString(text)
	case "json":
		quoted, err := json.Marshal(text)
		if err != nil {
			return text // texts always can be written
		}
		return string(quoted[1 : len(quoted)-1])
	case "url":
		return url.QueryEscape(text)
	}
	return text
}
