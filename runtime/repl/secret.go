package repl

import (
	"regexp"
	"sync"

	"transect/client/transport"
)

var (
	// harmless are names that sound like secrets but are not.
	harmless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:share_tokens|credentials\s*\.\s*(?:search\w*|describe\w*|delete)|container_credentials_name)\b|next_?page_?token`)
	})

	// secretNames are names of secrets: of arguments, variables, headers.
	secretNames = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)passw|passphrase|passcode|\bpass\b|\bpwd?\b|secret|token|credential|(?:api|access|account|private)_?key|authorization|bearer|signature`)
	})

	literal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]|'[^']|\[=*\[.`) })
)

// secret reports whether a text may contain a secret. False positives are not
// kept in the history; false negatives could be read by others.
func secret(text string) bool {
	if transport.Redact(text) != text {
		return true
	}
	text = harmless().ReplaceAllString(text, "")
	return secretNames().MatchString(text) && literal().MatchString(text)
}
