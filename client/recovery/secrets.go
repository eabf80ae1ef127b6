package recovery

import (
	"maps"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client/declare"
)

// goneToken begins what stands for a share token that the run has revoked: the
// ledger holds no token. The platform knows none that begins so.
const goneToken = "revoked-"

// noteSecrets notes which token, by its keyed hash, belongs to what a call made.
func (a *attempt) noteSecrets(v declare.Value) error {
	token := gjson.GetBytes(v.JSON, "token").String()
	if !a.call.Spec.Secret() || token == "" {
		return nil
	}
	name, err := a.hash("secret", []byte(token))
	if err != nil {
		return err
	}
	return a.ledg.Put("secret "+name.String(), []byte(gjson.GetBytes(v.JSON, "_id").String()))
}

// withoutSecrets names a token of the run by the identifier of its record, which
// a later start knows also when the token is gone.
func (a *attempt) withoutSecrets(body map[string]any) (map[string]any, error) {
	for i := range a.call.Spec.Params {
		p := &a.call.Spec.Params[i]
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
			if id = string(a.ledg.Kept("secret " + name.String())); id == "" {
				continue
			}
		}
		body = maps.Clone(body)
		body[p.Key] = goneToken + id
	}
	return body, nil
}
