package ledger

import (
	"encoding/hex"
	"strings"
)

// owned holds the identifiers of everything that the writes of a run made or changed.
type owned struct {
	short map[[12]byte]struct{} // ids of 24 hexadecimal digits, possibly a million
	other map[string]struct{}
}

func (o *owned) add(id string) {
	if short, ok := shortened(id); ok {
		o.short[short] = struct{}{}
	} else {
		o.other[id] = struct{}{}
	}
}

func (o *owned) has(id string) bool {
	short, ok := shortened(id)
	if ok {
		_, ok = o.short[short]
	} else {
		_, ok = o.other[id]
	}
	return ok
}

func shortened(id string) (short [12]byte, ok bool) {
	if len(id) != 2*len(short) {
		return short, false
	}
	_, err := hex.Decode(short[:], []byte(id))
	return short, err == nil && id == strings.ToLower(id)
}

// take adds the identifiers in a record.
func (o *owned) take(r record) {
	switch r := r.(type) {
	case *Result:
		for _, id := range r.IDs {
			o.add(id)
		}
	case *keptRecord:
		if strings.HasPrefix(r.Name, doublesPrefix) {
			for _, id := range strings.Fields(string(r.Value)) {
				o.add(id)
			}
		}
	}
}

// Owns reports whether a write of the run made or changed a resource.
func (l *Ledger) Owns(id string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owns(id)
}

func (l *Ledger) owns(id string) (bool, error) {
	if l.owned == nil { // built on demand: few runs need it
		all := &owned{map[[12]byte]struct{}{}, map[string]struct{}{}}
		in := newWindow(l.file, int64(len(header)), l.size, 1<<20)
		for at := int64(len(header)); at < l.size; {
			r, n, err := in.record()
			if err != nil {
				return false, l.unreadable(err)
			}
			all.take(r)
			at += n
		}
		l.owned = all
	}
	return l.owned.has(id), nil
}

// Adopt records that a write made what was found, unless another write of the run owns it by now.
func (r *Row) Adopt(ids []string, answers [][]byte) (adopted bool, err error) {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if taken, err := l.owns(id); err != nil || taken {
			return false, err
		}
	}
	return true, r.resolve(Adopted, ids, answers)
}
