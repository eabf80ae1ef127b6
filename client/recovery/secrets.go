package recovery

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/schema"
)

// goneToken is the prefix of placeholders for share tokens that the run has revoked: the ledger holds no
// tokens. The platform's tokens never begin so.
const goneToken = "revoked-"

// noteSecrets records which token, by its keyed hash, belongs to what a call made.
func (a *attempt) noteSecrets(v declare.Value) error {
	if !a.spec.Secret() {
		return nil
	}
	token := gjson.GetBytes(v.JSON, a.spec.Siblings().Secret).String()
	if token == "" {
		return nil
	}
	name, err := a.hash("secret", []byte(token))
	if err != nil {
		return err
	}
	return a.ledger.Put("secret "+name.String(), []byte(gjson.GetBytes(v.JSON, "_id").String()))
}

// withoutSecrets replaces a token of the run by the identifier of its record, which a later start knows even
// when the token is gone.
func (a *attempt) withoutSecrets(body map[string]any) (map[string]any, error) {
	for i := range a.spec.Params {
		p := &a.spec.Params[i]
		text, ok := body[p.Key].(string)
		if !p.Secret || !ok {
			continue
		}
		id, gone := strings.CutPrefix(text, goneToken)
		if !gone {
			name, err := a.hash("secret", []byte(text))
			if err != nil {
				return nil, err
			}
			if id = string(a.ledger.Kept("secret " + name.String())); id == "" {
				continue
			}
		}
		body = maps.Clone(body)
		body[p.Key] = goneToken + id
	}
	return body, nil
}

func hidden(p *schema.Param) bool {
	return p.Secret || slices.ContainsFunc(p.Fields, func(p schema.Param) bool { return hidden(&p) })
}

// signedForm matches an address that grants access to whoever has it, in its JSON form.
var signedForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:[?&;]|\\u0026)(?:X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature|signature|sig|access_token|token)=`)
})

// secretName matches the names of secret arguments among others that are not secret.
var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)secret|password|key|token`) })

// keepable returns the answers that may be recorded: the ones without secrets.
func (a *attempt) keepable(answers [][]byte) [][]byte {
	if a.spec.Secret() {
		return nil
	}
	secrets := a.secrets()
	for _, answer := range answers {
		if bytes.IndexByte(answer, '=') >= 0 && signedForm().Match(answer) {
			return nil
		}
		for _, secret := range secrets {
			if bytes.Contains(answer, secret) {
				return nil
			}
		}
	}
	return answers
}

// secrets returns the secret arguments of the call, in their JSON form.
func (a *attempt) secrets() (list [][]byte) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				if _, text := inner.(string); !text || secretName().MatchString(key) {
					walk(inner)
				}
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case string:
			list = append(list, []byte(encoded(v)))
		}
	}
	for i := range a.spec.Params {
		if p := &a.spec.Params[i]; hidden(p) {
			walk(a.call.Args.Values[p.Name])
		}
	}
	return list
}
