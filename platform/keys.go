package platform

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"transect/client/declare"
)

// keptKeys is how long the answer to a write with an Idempotency-Key is kept.
const keptKeys = 24 * time.Hour

// once carries out a write, unless its Idempotency-Key says that this was done:
// then the answer is the first one. The same key with another request is refused.
func (rt route) once(r *Request) any {
	key := r.http.Header.Get("Idempotency-Key")
	if key == "" || r.p.options.IgnoreKeys || rt.op == nil || rt.op.Effect == declare.Read || rt.op.Manager == "oauth_clients" { // their secrets are not kept
		return rt.handle(r)
	}
	sum := sha256.Sum256([]byte(r.http.Method + " " + r.http.URL.RequestURI() + "\n" + string(r.raw)))
	request := hex.EncodeToString(sum[:])
	var first, answer string
	switch err := r.QueryRow("SELECT request, answer FROM keys WHERE user = ? AND key = ? AND time > ?",
		r.caller.user, key, r.now().Add(-keptKeys).UnixMilli()).Scan(&first, &answer); {
	case err == nil && first != request:
		panic(fail(http.StatusUnprocessableEntity, "IdempotencyKeyReused", "the Idempotency-Key %q was sent before, with another request", key))
	case err == nil:
		r.p.repeated.Add(1)
		return json.RawMessage(answer)
	case !errors.Is(err, sql.ErrNoRows):
		panic(err)
	}
	result := rt.handle(r)
	text := must(json.Marshal(result))
	if result == nil {
		text = []byte("{}")
	}
	r.exec("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)", r.caller.user, key, request, string(text), r.now().UnixMilli())
	return result
}

// RepeatedKeys is how many writes were answered from the answer to an earlier one
// with the same Idempotency-Key.
func (p *Platform) RepeatedKeys() int64 { return p.repeated.Load() }

// forgetKeys removes the answers that were kept long enough.
func (t tx) forgetKeys(now time.Time) {
	t.exec("DELETE FROM keys WHERE time <= ?", now.Add(-keptKeys).UnixMilli())
}
