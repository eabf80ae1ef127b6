package recovery

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"transect/client/declare"
	"transect/client/ledger"
)

// printer makes fingerprints.
type printer struct {
	scope string
	key   []byte
}

// fingerprint identifies a call by what it says. Resources are ids, keys are
// sorted and numbers have one form in a request already; of files the name, the
// size and the time of the last change count, not the folder.
func (r printer) fingerprint(call *declare.Call) (ledger.Fingerprint, error) {
	s := call.Spec
	var content any
	if s.Composed {
		all := map[string]any{}
		maps.Copy(all, call.Args.Extra)
		for name, v := range call.Args.Values {
			all[name] = v
			if strings.HasPrefix(name, "file_path") {
				all[name] = fileTraits(v)
			}
		}
		content = all
	} else {
		req, err := call.Request()
		if err != nil {
			return ledger.Fingerprint{}, err
		}
		content = []any{req.Method, req.Path, req.Query.Encode(), req.Body}
	}
	text, err := declare.Encode(content)
	if err != nil {
		return ledger.Fingerprint{}, err
	}
	return r.hash(s.FullName(), text), nil
}

// ofStep identifies a step of a composed operation by its place, not by its
// arguments: those may depend on what was read at the time.
func (r printer) ofStep(p *parent, op string) ledger.Fingerprint {
	return r.hash(op, fmt.Appendf(p.print[:], "%d %d", p.row.Seq, p.step(op)))
}

func (r printer) hash(op string, content []byte) (print ledger.Fingerprint) {
	h := hmac.New(sha256.New, r.key)
	fmt.Fprintf(h, "%s\n%s\n", r.scope, op)
	h.Write(content)
	copy(print[:], h.Sum(nil))
	return print
}

func fileTraits(v any) any {
	switch v := v.(type) {
	case string:
		info, err := os.Stat(v)
		if err != nil {
			return filepath.Base(v)
		}
		return []any{filepath.Base(v), info.Size(), info.ModTime().UnixMilli()}
	case []string:
		list := make([]any, len(v))
		for i, path := range v {
			list[i] = fileTraits(path)
		}
		return list
	case []any:
		list := make([]any, len(v))
		for i, path := range v {
			list[i] = fileTraits(path)
		}
		return list
	}
	return v
}
