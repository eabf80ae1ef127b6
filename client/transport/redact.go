package transport

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const redacted = "[redacted]"

// shortestSecret is the length from which a known value is replaced wherever it occurs. Replacing shorter
// ones would affect ordinary words.
const shortestSecret = 4

// Names of secrets in JSON members, form fields or query parameters; a prefix such as "aws_" is allowed.
const secretNames = `password|passwd|passphrase|client_?secret|secret(?:_?(?:access_?)?key)?|private_?key|` +
	`access_?key|api_?key|account_?key|(?:access|refresh|id|session|security|share|sas)?[_-]?token|authorization|` +
	`x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|` +
	`signature|sig|credential|awsaccesskeyid|googleaccessid`

// Elements of storages' error responses that hold parts of a signature, or its input.
const signatureNames = `SignatureProvided|StringToSign|StringToSignBytes|CanonicalRequest|CanonicalRequestBytes|` +
	`AWSAccessKeyId|AuthenticationErrorDetail|X_?Amz_?Credential|Token(?:-0)?|HeadersNotSigned|QueryParameter(?:Name|Value)`

// pattern finds secrets in texts that contain one of the characters in with. It is compiled on first use:
// that takes longer than most texts do.
type pattern struct {
	with    string
	find    func() *regexp.Regexp
	replace string
}

func newPattern(with, find, replace string) pattern {
	return pattern{with, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + find) }), replace}
}

const space = "\t\n\f\r " // \s

var patterns = []pattern{
	// "name": "value" in JSON.
	newPattern(`"`, `("[\w.-]*(?:`+secretNames+`)"\s*:\s*)(?:"(?:\\.|[^"\\])*"?|-?\d[\d.eE+-]*)`, `${1}"`+redacted+`"`),
	// The same in JSON that was quoted into a text.
	newPattern(`\`, `(\\"[\w.-]*(?:`+secretNames+`)\\"\s*:\s*\\").*?(\\"|$)`, "${1}"+redacted+"${2}"),
	// A signed address in an answer: whatever its parameters are called.
	newPattern(`"`, `("[\w-]*(?:put|upload|download|signed)_?url"\s*:\s*"[^"?]*\?)[^"]*`, "${1}"+redacted),
	// name=value in an address or a form.
	newPattern(`=`, `((?:^|[?&;\s]|\\u0026)(?:[\w.]*[_-])?(?:`+secretNames+`)=)[^&\s"'<>\\]*`, "${1}"+redacted),
	newPattern(`:=`, `(\bauthorization["']?\s*[:=]\s*["'\[]*)(?:(?:bearer|basic|digest|token)\s+)?[^\s"',\]]+`,
		"${1}"+redacted),
	newPattern(space, `\b(bearer\s+)[\w.~+/=-]+`, "${1}"+redacted),
	// A storage's refusal in XML, perhaps quoted in JSON, explains the signature it expected.
	newPattern(`<\`, `((?:<|\\u003c)(?:`+signatureNames+`)(?:>|\\u003e))[^<]*?(<|\\u003c|$)`, "${1}"+redacted+"${2}"),
	newPattern(`@`, `(://)[^/\s@"'<>]+@`, "${1}"+redacted+"@"),
}

// Redact removes possible secrets from text: passwords, client secrets, tokens, Authorization values and the
// signatures of signed addresses.
func Redact(text string) string {
	for _, p := range patterns {
		if strings.ContainsAny(text, p.with) {
			text = p.find().ReplaceAllString(text, p.replace)
		}
	}
	return text
}

// redactor also removes this connection's secrets by value.
type redactor struct {
	mu     sync.RWMutex
	values []string // longest first, so that no rest of a longer one stays
	with   *strings.Replacer
}

// keep registers values as secrets, in all their written forms.
func (r *redactor) keep(values ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range values {
		if len(v) < shortestSecret {
			continue
		}
		quoted, _ := json.Marshal(v) // cannot fail for text
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v), strings.Trim(string(quoted), `"`)} {
			if !slices.Contains(r.values, form) {
				r.values = append(r.values, form)
			}
		}
	}
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(r.values))
	for _, v := range r.values {
		pairs = append(pairs, v, redacted)
	}
	r.with = strings.NewReplacer(pairs...)
}

// keepCredentials registers all secrets in credentials.
func (r *redactor) keepCredentials(c Credentials) {
	r.keep(c.Password, c.ClientSecret, c.AccessToken)
	if c.ClientSecret != "" {
		r.keep(base64.StdEncoding.EncodeToString([]byte(c.ClientID + ":" + c.ClientSecret)))
	}
}

func (r *redactor) text(s string) string {
	r.mu.RLock()
	with := r.with
	r.mu.RUnlock()
	if with != nil {
		s = with.Replace(s)
	}
	return Redact(s)
}

// header copies a header without its secrets.
func (r *redactor) header(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		switch name {
		case "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Amz-Security-Token":
			out[name] = []string{redacted}
			continue
		case "Location":
			out[name] = []string{r.address(h.Get(name))}
			continue
		}
		for _, v := range values {
			out[name] = append(out[name], r.text(v))
		}
	}
	return out
}

// address formats an address that may be signed: it omits all parameters, as their names differ between
// storages.
func (r *redactor) address(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return redacted
	}
	if u.RawQuery != "" {
		u.RawQuery = redacted
	}
	if u.User != nil {
		u.User = url.User(redacted)
	}
	return r.text(u.String())
}
