package ingest

import (
	"encoding/json"
	"iter"
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/ingest"
	"transect/client/scan"
	"transect/client/verdict"
	"transect/runtime/module"
	"transect/runtime/vm"
)

func fileTable(L *lua.LState, f scan.File) lua.LValue {
	return vm.ToLua(L, map[string]any{"name": f.Name, "path": f.Path, "size": f.Size, "modified": f.ModTime})
}

func outcomeTable(L *lua.LState, o ingest.Outcome) lua.LValue {
	t := vm.ToLua(L, map[string]any{"name": o.Name, "path": o.Path, "size": o.Size,
		"verdict": string(o.Verdict)}).(*lua.LTable)
	for key, text := range map[string]string{"kind": o.Kind, "dataset": o.Dataset, "component": o.Component,
		"md5": o.MD5, "cause": o.Cause, "hint": o.Hint} {
		if text != "" {
			t.RawSetString(key, lua.LString(text))
		}
	}
	if len(o.Files) > 0 {
		list := L.CreateTable(len(o.Files), 0)
		for _, p := range o.Files {
			part := map[string]any{"component": p.Component, "path": p.Path, "size": p.Size}
			if p.MD5 != "" {
				part["md5"] = p.MD5
			}
			list.Append(vm.ToLua(L, part))
		}
		t.RawSetString("files", list)
	}
	return t
}

func findingTable(L *lua.LState, v ingest.Finding) lua.LValue {
	return vm.ToLua(L, findingMap(v))
}

func findingMap(v ingest.Finding) map[string]any {
	t := map[string]any{"name": v.Name, "verdict": string(v.Verdict)}
	for key, text := range map[string]string{"path": v.Path, "dataset": v.Dataset, "cause": v.Cause} {
		if text != "" {
			t[key] = text
		}
	}
	if v.Path != "" {
		t["size"] = v.Size
	}
	return t
}

func verificationTable(v *ingest.Verification) map[string]any {
	findings := make([]any, len(v.Findings))
	for i, f := range v.Findings {
		findings[i] = findingMap(f)
	}
	t := map[string]any{"different": v.Different, "missing": v.Missing, "extra": v.Extra, "ok": v.OK(),
		"findings": findings}
	for _, name := range verdict.All[1:] { // without uploaded
		t[string(name)] = *v.Of(name)
	}
	bad := v.Bad() + v.Different + v.Missing
	t["bad"], t["total"] = bad, v.AlreadyThere+v.Duplicate+bad
	return t
}

// resultTable builds the result of ingest.run.
func resultTable(c *module.Call, r *ingest.Result, dryRun bool) lua.LValue {
	L, n := c.L, r.Counts
	t := vm.ToLua(L, map[string]any{"id": r.ID, "total": n.Total(), "bad": r.Bad(), "bytes": n.Bytes,
		"seconds": r.Seconds}).(*lua.LTable)
	for _, v := range verdict.All {
		t.RawSetString(string(v), lua.LNumber(*n.Of(v)))
	}
	if dryRun {
		t.RawSetString("dry_run", lua.LTrue)
	}
	failures := L.CreateTable(len(r.Failures), 0)
	for i, o := range r.Failures {
		failures.RawSetInt(i+1, outcomeTable(L, o))
	}
	t.RawSetString("failures", failures)
	if report, err := json.Marshal(r.Preflight); err == nil {
		t.RawSetString("preflight", vm.ToLua(L, json.RawMessage(report)))
	}
	t.RawSetString("files", L.NewFunction(func(L *lua.LState) int {
		next, stop := iter.Pull2(r.Outcomes.All)
		vm.Of(L).OnClose(stop)
		L.Push(L.NewFunction(func(L *lua.LState) int {
			o, err, ok := next()
			switch {
			case err != nil:
				vm.Raise(L, err)
			case !ok:
				L.Push(lua.LNil)
			default:
				L.Push(outcomeTable(L, o))
			}
			return 1
		}))
		return 1
	}))
	vm.Declared(L, t, "the result of ingest.run", func() []string {
		names := []string{"id", "total", "bad", "bytes", "seconds", "dry_run", "failures", "preflight", "files"}
		for _, v := range verdict.All {
			names = append(names, string(v))
		}
		return names
	})
	return t
}

// earlierOutcomes opens the outcomes of an earlier run, by its id or report.
func earlierOutcomes(c *module.Call, name string) (iter.Seq2[ingest.Outcome, error], error) {
	if name == "" {
		return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "option ingest is empty: it must name a run"),
			"give the id of an earlier run (result.id), or its report")
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".csv":
		return ingest.OpenReport(c.In.Path(name), files.Tree{View: c.In}), nil
	}
	return ingest.Earlier(c.In.StateDir(), name)
}
