package vector

import (
	"encoding/json"
	"math"
	"strings"
	"time"
)

// Limits of the attributes of a feature.
const (
	maxColumns = 256
	maxText    = 64 << 10 // bytes of a value
)

// attributeList collects the attributes of a feature as a JSON object, in order.
type attributeList struct {
	b     []byte
	names map[string]bool
}

// add adds a value: a text, number, time or boolean. It skips meaningless values: blank texts, invalid
// numbers, and duplicate names.
func (l *attributeList) add(name string, value any) {
	switch v := value.(type) {
	case nil:
		return
	case string:
		v = strings.TrimSpace(strings.ToValidUTF8(v, "�"))
		if len(v) > maxText {
			v = strings.ToValidUTF8(v[:maxText], "")
		}
		if v == "" {
			return
		}
		value = v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
	case time.Time:
		value = v.UTC().Format(time.RFC3339)
	case []byte:
		return
	}
	if name = strings.ToValidUTF8(strings.TrimSpace(name), "�"); name == "" || l.names[name] ||
		len(l.names) >= maxColumns {
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		return
	}
	key, _ := json.Marshal(name) // a string can always be encoded
	if l.names == nil {
		l.names = map[string]bool{}
	} else {
		l.b = append(l.b, ',')
	}
	l.names[name] = true
	l.b = append(append(append(l.b, key...), ':'), text...)
}

// object returns the object, nil without attributes.
func (l *attributeList) object() json.RawMessage {
	if len(l.b) == 0 {
		return nil
	}
	return append(append([]byte{'{'}, l.b...), '}')
}
