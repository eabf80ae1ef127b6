package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/ingest"
	"transect/client/schema"
)

// A part is one write of a call.
type part struct {
	arguments map[string]any // as they may be shown
	subject   string         // id of the existing record that it changes or deletes
	result    int            // index of its record in the response
}

// parts splits a call into its writes: one for each record that it creates or deletes.
func parts(call *declare.Call) []part {
	shown := arguments(call)
	for _, p := range call.Spec.Params {
		switch list := call.Args.Values[p.Name].(type) {
		case []any:
			if call.Spec.Effect == declare.Create && p.Type.Elem() == "object" && call.Spec.Shape == declare.ShapeResources {
				return split(shown, p.Name, list, func(any) string { return "" })
			}
		case []string:
			if call.Spec.Effect == declare.Delete {
				return split(shown, p.Name, list, func(id string) string { return id })
			}
		}
	}
	return []part{{arguments: shown, subject: subject(call)}}
}

// split makes a part of each element of an argument.
func split[T any](arguments map[string]any, name string, list []T, subject func(T) string) []part {
	all := make([]part, len(list))
	for i, element := range list {
		one := maps.Clone(arguments)
		one[name] = element
		all[i] = part{arguments: one, subject: subject(element), result: i}
	}
	return all
}

// subject returns the id of the record that a call changes or deletes.
func subject(call *declare.Call) string {
	s := call.Spec
	if s.Effect == declare.Create || len(s.Params) == 0 {
		return ""
	}
	return call.Args.Text(s.Params[0].Name)
}

// arguments returns the arguments of a call, with secrets redacted.
func arguments(call *declare.Call) map[string]any {
	shown := map[string]any{}
	maps.Copy(shown, call.Args.Extra)
	for _, p := range call.Spec.Params {
		if v, given := call.Args.Values[p.Name]; given && !p.How {
			shown[p.Name] = v
			if p.Secret {
				shown[p.Name] = "[redacted]"
			}
		}
	}
	return shown
}

// ids maps ids to the write that created them: planned ids in a plan, the platform's ids when it is carried
// out. Both map to the same origin.
type ids struct {
	file    func(path string) string // identifies a file
	mu      sync.Mutex
	origin  map[string]origin
	present map[string]bool // dates that were the present time
}

type origin struct {
	text  string // key of the write, and place in its result
	write int    // its number
}

func (s *ids) add(id, text string, write int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.origin == nil {
		s.origin = map[string]origin{}
	}
	s.origin[id] = origin{text, write}
}

func (s *ids) find(id string) (origin, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.origin[id]
	return o, ok
}

// related identifies a record that was created implicitly with others, such as the estimations of a trial, by
// its manager and the created records that it refers to. write is one that created them; 0 for none.
func (s *ids) related(things string, record []byte) (text string, write int) {
	var parts []string
	gjson.ParseBytes(record).ForEach(func(key, v gjson.Result) bool {
		if o, ok := s.find(v.Str); ok && key.Str != "_id" {
			parts, write = append(parts, key.Str+"="+o.text), max(write, o.write)
		}
		return true
	})
	slices.Sort(parts)
	return things + " " + strings.Join(parts, " "), write
}

// key identifies a write by its content. Ids created by other writes are replaced by their origin; uses lists
// those writes.
func (s *ids) key(platform string, call *declare.Call, p part) (key string, uses []int, err error) {
	text, err := declare.Encode(p.arguments)
	if err != nil {
		return "", nil, err
	}
	return s.keyOf(platform, call.Spec.FullName(), text)
}

// keyOf returns the key of a write, with arguments as a plan stores them.
func (s *ids) keyOf(platform, operation string, arguments []byte) (key string, uses []int, err error) {
	var values map[string]any
	if err := json.Unmarshal(arguments, &values); err != nil {
		return "", nil, err
	}
	if file, ok := values["file_path"].(string); ok {
		values["file_path"] = s.file(file)
	}
	text, err := json.Marshal([]any{platform, operation, s.normal(values, &uses)})
	sum := sha256.Sum256(text)
	slices.Sort(uses)
	return hex.EncodeToString(sum[:12]), slices.Compact(uses), err
}

// ofOneRun are the fields of the ingest property that differ from run to run while its
// file is the same.
var ofOneRun = []string{"run", "part_of", "modified"}

// normal replaces ids in a value by their origin, and leaves out what differs from run
// to run by itself: the number of an ingest.
func (s *ids) normal(v any, uses *[]int) any {
	switch v := v.(type) {
	case map[string]any:
		values := make(map[string]any, len(v))
		for key, inner := range v {
			if key == ingest.PropertyName {
				if of, ok := inner.(map[string]any); ok {
					maps.DeleteFunc(of, func(key string, _ any) bool { return slices.Contains(ofOneRun, key) })
				}
			}
			values[s.replaced(key, uses)] = s.normal(inner, uses)
		}
		return values
	case []any:
		for i := range v {
			v[i] = s.normal(v[i], uses)
		}
	case string:
		return s.replaced(v, uses)
	}
	return v
}

var identifier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`plan-[a-z_]+-\d{6,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{24}`)
})

const shortestID = 12 // a date with a time is longer

// present is how close to now a time must be to count as the present.
const present = 10 * time.Second

// isPresent reports whether a text is the present time, or was it when the plan was made: what a script writes for
// a date that it does not have.
func (s *ids) isPresent(text string) bool {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(t).Abs() < present {
		if s.present == nil {
			s.present = map[string]bool{}
		}
		s.present[text] = true
	}
	return s.present[text]
}

// replaced returns a text with the ids in it replaced.
func (s *ids) replaced(text string, uses *[]int) string {
	if o, ok := s.find(text); ok {
		*uses = append(*uses, o.write)
		return o.text
	}
	if len(text) < shortestID || !strings.ContainsAny(text, "0123456789") {
		return text
	}
	if s.isPresent(text) {
		return "now"
	}
	return identifier().ReplaceAllStringFunc(text, func(id string) string {
		o, found := s.find(id)
		if !found {
			return id
		}
		*uses = append(*uses, o.write)
		return o.text
	})
}

// planned visits the planned ids in a record, with their paths.
func planned(record []byte, visit func(path, id string)) {
	var within func(path string, v gjson.Result)
	within = func(path string, v gjson.Result) {
		switch {
		case v.IsObject(), v.IsArray():
			n := 0
			v.ForEach(func(key, inner gjson.Result) bool {
				name := gjson.Escape(key.String())
				if v.IsArray() {
					name = fmt.Sprint(n)
				}
				n++
				within(strings.TrimPrefix(path+"."+name, "."), inner)
				return true
			})
		case v.Type == gjson.String && schema.IsPlannedID(v.Str):
			visit(path, v.Str)
		}
	}
	within("", gjson.ParseBytes(record))
}

// records returns the records of a response.
func records(v declare.Value) [][]byte {
	if list := v.Records(); list != nil || v.Go == nil {
		return list
	}
	if one, ok := v.Go.(interface{ JSON() []byte }); ok {
		return [][]byte{one.JSON()}
	}
	return nil
}
