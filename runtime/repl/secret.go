package repl

import (
	"regexp"
	"sync"

	"transect/client/transport"
)

var (
	// harmless are names that sound like secrets and hold none.
	harmless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:share_tokens|credentials\s*\.\s*(?:search\w*|describe\w*|delete)|container_credentials_name)\b|next_?page_?token`)
	})

	// telling are the names of secrets: of arguments, variables, headers.
	telling = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)passw|passphrase|passcode|\bpass\b|\bpwd?\b|secret|token|credential|(?:api|access|account|private)_?key|authorization|bearer|signature`)
	})

	literal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"]|'[^']|\[=*\[.`) })
)

// secret tells whether a text may hold a secret. It errs on that side: what is
// not remembered costs a little typing, what is remembered is read by others.
func secret(text string) bool {
	if transport.Redact(text) != text {
		return true
	}
	text = harmless().ReplaceAllString(text, "")
	return telling().MatchString(text) && literal().MatchString(text)
}
