package bindings

import (
	"transect/client/declare"
	"transect/client/schema"
	"transect/runtime/vm"
)

// resolvePaths makes relative local paths among the arguments of an operation
// begin in the script's folder, as all its paths do. A download without a target
// folder goes there, too.
func resolvePaths(in *vm.Interp, s *declare.Spec, a *declare.Args) {
	if in.Options().Dir == "" {
		return
	}
	resolveIn(in, s.Params, a.Values)
	if p := s.Param("target_path"); p != nil && (a.Values[p.Name] == nil || a.Values[p.Name] == "") {
		a.Values[p.Name] = in.Path(".")
	}
}

func resolveIn(in *vm.Interp, params []schema.Param, values map[string]any) {
	for name, value := range values {
		switch p := schema.Find(params, name); {
		case p == nil:
		case p.Type == "path" || p.Type == "[]path":
			values[name] = absolute(in, value)
		case p.Fields != nil:
			tables, _ := value.([]any)
			for _, table := range append(tables, value) {
				if keys, ok := table.(map[string]any); ok {
					resolveIn(in, p.Fields, keys)
				}
			}
		}
	}
}

func absolute(in *vm.Interp, value any) any {
	switch v := value.(type) {
	case string:
		return in.Path(v)
	case []any:
		for i := range v {
			v[i] = absolute(in, v[i])
		}
	}
	return value
}
