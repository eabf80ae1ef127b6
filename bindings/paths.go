package bindings

import (
	"transect/client/declare"
	"transect/runtime/vm"
)

// placed makes the local paths among the arguments of an operation start where
// those of the script do. A download without a folder goes there, too.
func placed(in *vm.Interp, s *declare.Spec, a *declare.Args) {
	if in.Options().Dir == "" {
		return
	}
	for name, value := range a.Values {
		switch p := s.Param(name); {
		case p == nil:
		case local(p.Type):
			a.Values[name] = absolutes(in, value)
		case p.Type.Elem != nil && p.Type.Elem.Object():
			placeWithin(in, value)
		}
	}
	for i := range s.Params {
		if p := &s.Params[i]; p.Name == "target_path" && (a.Values[p.Name] == nil || a.Values[p.Name] == "") {
			a.Values[p.Name] = in.Path(".")
		}
	}
}

func local(t *declare.Type) bool {
	return t.Name == "path" || t.Elem != nil && local(t.Elem)
}

func absolutes(in *vm.Interp, value any) any {
	switch v := value.(type) {
	case string:
		return in.Path(v)
	case []any:
		for i := range v {
			v[i] = absolutes(in, v[i])
		}
	}
	return value
}

// placeWithin does the same with drafts in a list, which have the arguments of
// another operation each.
func placeWithin(in *vm.Interp, list any) {
	drafts, _ := list.([]any)
	for _, draft := range drafts {
		if fields, ok := draft.(map[string]any); ok && fields["file_paths"] != nil {
			fields["file_paths"] = absolutes(in, fields["file_paths"])
		}
	}
}
