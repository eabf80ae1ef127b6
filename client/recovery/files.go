package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"transect/client/declare"
	"transect/client/ledger"
	"transect/client/schema"
)

// remember records what the composed operation of a parent finds.
func (p *parent) remember(name string, find func() (string, error)) (string, error) {
	v, err := p.ledger.Keep(fmt.Sprintf("%d %s", p.row.Seq, name), func() ([]byte, error) {
		text, err := find()
		return []byte(text), err
	})
	return string(v), err
}

// downloaded is a file that a run has fetched.
type downloaded struct {
	Path    string    `json:"path"`
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
}

func (d downloaded) unchanged() bool {
	info, err := os.Stat(d.Path)
	return err == nil && info.Size() == d.Size && info.ModTime().Equal(d.Changed)
}

// downloads reports whether a call downloads a file that must not exist yet.
func downloads(call *declare.Call) bool {
	replace, ok := call.Args.Values["overwrite"].(bool)
	return call.Spec.Transfers() && call.Spec.Effect == declare.Read && ok && !replace
}

// download reuses the file that an earlier start of the run has downloaded, while it is unchanged:
// downloading it again would be refused, as it exists.
func (r *Recovery) download(ctx context.Context, call *declare.Call, next declare.Handler,
	l *ledger.Ledger) (declare.Value, error) {
	a := &attempt{Recovery: r, spec: call.Spec, call: call, ledger: l}
	print, err := a.fingerprint(ctx)
	if err != nil {
		return declare.Value{}, err
	}
	name := "download " + print.String()
	if _, now := r.fetched.LoadOrStore(print, true); !now {
		var file downloaded
		if text := l.Kept(name); json.Unmarshal(text, &file) == nil && file.unchanged() {
			r.Stats.Taken.Add(1)
			return declare.Value{Shape: call.Spec.Shape, Go: schema.Path(file.Path)}, nil
		}
	}
	v, err := next(ctx, call)
	path, ok := v.Go.(schema.Path)
	if err != nil || !ok {
		return v, err
	}
	info, err := os.Stat(string(path))
	if err != nil {
		return v, nil // already taken
	}
	text, err := json.Marshal(downloaded{string(path), info.Size(), info.ModTime()})
	if err != nil {
		return v, err
	}
	return v, l.Put(name, text)
}
