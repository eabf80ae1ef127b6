package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/human"
	"transect/runtime"
	"transect/runtime/reference"
)

// call calls an operation that reads.
func (s *server) call(ctx context.Context, c *call, in callInput) (string, result, error) {
	entry, err := reference.New().FindOperation(in.Operation)
	if err != nil {
		return "", result{}, taught(err)
	}
	files := slices.ContainsFunc(entry.Parameters, func(p reference.Parameter) bool { return p.Type == "path" })
	if entry.Effect != "read" || files {
		return "", result{}, fmt.Errorf("%s writes, here or on the platform: write a script that calls it, "+
			"and plan the script", in.Operation)
	}
	if err := s.Permit(entry.Spec); err != nil {
		return "", result{}, taught(err)
	}
	arguments := []byte("{}")
	if in.Arguments != nil {
		if arguments, err = json.Marshal(in.Arguments); err != nil {
			return "", result{}, err
		}
	}
	words := append(append([]string{"api"}, s.Connect...), "--", in.Operation, "-")
	p, out := s.prepare(c.asker, words...)
	warnings := &bounded{}
	p.cmd.Stderr = warnings
	stream := entry.Spec.Shape == declare.ShapeIterator
	if !stream {
		out.most = maxRead
	}
	if err := s.complete(ctx, p, out, string(arguments)); err != nil {
		return "", result{}, err
	}
	r := result{State: "done", ExitCode: p.cmd.ProcessState.ExitCode(), Note: warnings.String()}
	text, cut := out.whole()
	if r.failed() && !cut {
		return out.String() + r.Note, result{State: r.State, ExitCode: r.ExitCode}, nil
	}
	left := ""
	switch {
	case stream && cut:
		r.ExitCode = runtime.ExitOK // it was stopped for being long
		left = fmt.Sprintf("the first %s, more follow", human.Count(strings.Count(text, "\n"), "record"))
	case cut:
		return "", result{}, fmt.Errorf("the answer is larger than %s: %s", human.Size(maxRead), forLess(entry))
	default:
		text, left = shorten(text, maxAnswer)
	}
	if left != "" {
		r.Note += fmt.Sprintf("cut after %s: %s; %s\n", human.Size(int64(len(text))), left, forLess(entry))
	}
	return visibleJSON(text), r, nil
}

// forLess says how an operation answers less, or the rest.
func forLess(entry *reference.Entry) string {
	has := func(name string) bool {
		return slices.ContainsFunc(entry.Parameters, func(p reference.Parameter) bool { return p.Name == name })
	}
	switch {
	case has("page"):
		return "for the rest give a smaller limit, and page 1, 2 and so on; for less give filter or fields"
	case has("fields"):
		return "for less give fields"
	}
	return "for all of it call the operation in a script, and plan that"
}

// shorten returns the beginning of a JSON text as JSON: the first elements of a list, alone or in an object,
// and an object without its largest values; and what it holds.
func shorten(text string, most int) (short, holds string) {
	if len(text) <= most {
		return text, ""
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) == nil {
		n, short := 0, []byte("[")
		for n < len(list) && len(short)+len(list[n])+len(",]") <= most {
			short = append(append(short, list[n]...), ',')
			n++
		}
		return strings.TrimSuffix(string(short), ",") + "]", fmt.Sprintf("the first %d of %d, %d left out", n,
			len(list), len(list)-n)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		return "null", "a value of " + human.Size(int64(len(text))) + " left out"
	}
	var left []string
	for size := len(text); size > most && len(object) > 0; {
		key := slices.MaxFunc(slices.Sorted(maps.Keys(object)), func(a, b string) int {
			return cmp.Compare(len(object[a]), len(object[b]))
		})
		value := object[key]
		part, what := shorten(string(value), max(0, most-size+len(value)))
		if strings.HasPrefix(part, "[") && len(part) < len(value) {
			object[key], what = json.RawMessage(part), "of "+key+" "+what
		} else {
			delete(object, key)
			what, size = key+" left out", size-len(key)
		}
		left = append(left, what)
		size -= len(value) - len(object[key])
	}
	encoded, err := declare.Encode(object)
	if err != nil {
		return "null", err.Error()
	}
	return string(encoded), human.Line(human.Shorten(strings.Join(left, ", "), 500))
}

// visibleJSON is like human.Visible, and keeps JSON valid.
func visibleJSON(text string) string {
	return human.Visible(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x7f", `\u007f`))
}
