package mustache

import (
	"encoding/json"
	"html"
	"net/url"
)

// Escapes lists the contexts to escape values for.
var Escapes = []string{"none", "html", "json", "url"}

// Escape escapes a text for a context: between the tags and in quoted attributes of HTML, in quoted strings
// of JSON, in URLs.
func Escape(text, escape string) string {
	switch escape {
	case "html":
		return html.EscapeString(text)
	case "json":
		quoted, err := json.Marshal(text)
		if err != nil {
			return text // cannot fail for texts
		}
		return string(quoted[1 : len(quoted)-1])
	case "url":
		return url.QueryEscape(text)
	}
	return text
}
