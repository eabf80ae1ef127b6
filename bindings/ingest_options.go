package bindings

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/ingest"
	"transect/client/scan"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/sandbox"
)

// ingestOptions reads what is to be ingested.
func ingestOptions(c *module.Call, s *callbacks) (ingest.Options, error) {
	o := ingest.Options{StateDir: c.In.StateDir(), Expected: c.Int("expected"), Logger: c.In.Options().Logger, Now: c.In.Options().Now,
		Progress: &ingest.Progress{}}
	if c.In.Restricted() {
		o.Source.Open, o.Folder = c.In.OpenToRead, c.In.Into
	}
	g := &o.Source
	g.Kind, g.MinSize, g.MaxSize, g.FollowLinks = c.String("kind"), int64(c.Int("min_size")), int64(c.Int("max_size")), c.Bool("follow_links")
	for _, name := range []string{"expected", "min_size", "max_size"} {
		if c.Int(name) < 0 {
			return o, fault.Of(&fault.ParameterError{}, "option %s must not be below 0, got %d", name, c.Int(name))
		}
	}
	if g.MaxSize > 0 && g.MinSize > g.MaxSize {
		return o, fault.Of(&fault.ParameterError{}, "no file has at least %d (min_size) and at most %d bytes (max_size)", g.MinSize, g.MaxSize)
	}
	var err error
	if g.Include, err = texts(c, "include"); err != nil {
		return o, err
	}
	if g.Exclude, err = texts(c, "exclude"); err != nil {
		return o, err
	}
	if text := c.String("newer_than"); text != "" {
		if g.NewerThan, err = moment(text); err != nil {
			return o, err
		}
	}
	if err := sourceOf(c, s, &o); err != nil {
		return o, err
	}
	if f := c.Function("filter"); f != nil {
		o.Filter = func(file scan.File) (keep bool, err error) {
			err = s.call(f, func(L *lua.LState) []lua.LValue { return []lua.LValue{fileTable(L, file)} }, func(v lua.LValue) error {
				keep = lua.LVAsBool(v)
				return nil
			})
			return keep, err
		}
	}
	return o, nil
}

// sourceOf reads where the files are.
func sourceOf(c *module.Call, s *callbacks, o *ingest.Options) error {
	g := &o.Source
	if each := c.Function("source"); each != nil {
		if c.Has("paths") {
			return fault.Of(&fault.ParameterError{}, "source and paths exclude each other, where source is a function")
		}
		o.Items = s.items(each, *g)
		return nil
	}
	if source := c.String("source"); source != "" {
		full := c.In.Path(source)
		if err := c.In.Permit(sandbox.Read, full); err != nil {
			return err
		}
		info, err := os.Stat(full)
		isFile := err == nil && !info.IsDir()
		if isFile || errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(source, "*?[{") {
			if c.Has("paths") {
				return fault.Of(&fault.ParameterError{}, "source must be a folder when paths are given with it")
			}
			g.Paths = []string{full}
			return nil
		}
		g.Root = full
	}
	paths, err := texts(c, "paths")
	if err != nil {
		return err
	}
	if c.Has("paths") && len(paths) == 0 {
		o.Items = func(func(scan.Item, error) bool) {}
	}
	for i, p := range paths {
		if g.Root == "" {
			paths[i] = c.In.Path(p)
		}
		full := paths[i]
		if g.Root != "" && !filepath.IsAbs(p) {
			full = filepath.Join(g.Root, p)
		}
		if err := c.In.Permit(sandbox.Read, full); err != nil {
			return err
		}
	}
	g.Paths = paths
	if c.String("source") == "" && !c.Has("paths") && !c.Has("retry_failed") && !c.Has("ingest") {
		return noSource(c.Name)
	}
	return nil
}

// noSource is the error of a call that names no files, with what it can name.
func noSource(function string) error {
	what, hint := "what is to be ingested?", `give source = "folder", a pattern, or an iterator function; paths = { … }; or retry_failed = the report of an earlier run`
	switch function {
	case "ingest.check":
		what, hint = "which files are to be looked at?", `give source = "folder", a pattern, or an iterator function; or paths = { … }`
	case "ingest.verify":
		what = "which files are to be compared with what the platform holds?"
		hint = `give source = "folder" or paths = { … }, and the project or mission they went to; or ingest = the id of an earlier run, or its report`
	}
	return fault.Hinted(fault.Of(&fault.ParameterError{}, "source is missing: %s", what), "%s", hint)
}

// sourceName is how a message calls what was to be ingested.
func sourceName(c *module.Call) string {
	switch {
	case c.Function("source") != nil:
		return "what the iterator gave"
	case c.String("source") != "":
		return c.String("source")
	case c.Has("retry_failed"):
		return "what failed in " + c.String("retry_failed")
	}
	return "the files given"
}

// targetOf reads where the datasets belong.
func targetOf(c *module.Call, o *ingest.Options) error {
	for name, to := range map[string]*string{"project": &o.Project, "mission": &o.Mission, "company": &o.Company, "flight": &o.Flight} {
		switch v := c.Go(name).(type) {
		case nil:
		case string:
			*to = v
		case interface{ ResourceID() string }:
			*to = v.ResourceID()
		default:
			return fault.Of(&fault.ParameterError{}, "option %s wants a resource or its id", name)
		}
	}
	return nil
}

// runOptionsOf reads how a run is to be done.
func runOptionsOf(c *module.Call, s *callbacks, o *ingest.Options) error {
	if err := targetOf(c, o); err != nil {
		return err
	}
	o.Replace, o.DryRun, o.Verify, o.Wait = c.Bool("replace"), c.Bool("dry_run"), c.Bool("verify"), c.Bool("wait")
	o.Workers, o.Batch = c.Int("workers"), c.Int("batch")
	if c.Has("workers") && o.Workers < 1 || o.Batch < 1 {
		return fault.Of(&fault.ParameterError{}, "workers and batch must be 1 at least")
	}
	for name, to := range map[string]**bool{"published": &o.Published, "hidden": &o.Hidden} {
		if c.Has(name) {
			set := c.Bool(name)
			*to = &set
		}
	}
	var err error
	if o.Categories, err = texts(c, "categories"); err != nil {
		return err
	}
	if o.Properties, err = object(c, "properties"); err != nil {
		return err
	}
	if o.Extra, err = object(c, "extra"); err != nil {
		return err
	}
	switch v := c.Value("check").(type) {
	case lua.LString:
		if o.Check = ingest.Check(v); o.Check != ingest.CheckStrict {
			return fault.Of(&fault.ParameterError{}, `option check must be true, false or "strict", got %q`, string(v))
		}
	case lua.LBool:
		if o.Check = ingest.CheckOff; v {
			o.Check = ingest.CheckWarn
		}
	}
	if report := c.String("report"); report != "" {
		o.Report = c.In.Path(report)
		if err := c.In.Permit(sandbox.Write, o.Report); err != nil {
			return err
		}
	}
	o.OnOutcome = s.outcomes(c.Function("on_file"))
	if o.Name, err = naming(c, s); err != nil {
		return err
	}
	return retryOf(c, o)
}

// retryOf takes the files that failed in an earlier run.
func retryOf(c *module.Call, o *ingest.Options) error {
	report := c.String("retry_failed")
	if report == "" {
		return nil
	}
	if c.Has("source") || c.Has("paths") {
		return fault.Of(&fault.ParameterError{}, "retry_failed takes its files from the report; leave source and paths out")
	}
	if err := ingest.Retry(o, c.In.Path(report), c.In.Path(".")); err != nil {
		return err
	}
	for _, p := range append([]string{o.Source.Root}, o.Source.Paths...) {
		if p == "" {
			continue
		}
		if err := c.In.Permit(sandbox.Read, p); err != nil {
			return err
		}
	}
	return nil
}

// nameWords are what a name can be made of.
var nameWords = []string{"name", "base", "stem"}

// naming is how datasets are named; nil for the names of their files.
func naming(c *module.Call, s *callbacks) (func(scan.File) (string, error), error) {
	if f := c.Function("name"); f != nil {
		return func(file scan.File) (name string, err error) {
			err = s.call(f, func(L *lua.LState) []lua.LValue { return []lua.LValue{fileTable(L, file)} }, func(v lua.LValue) error {
				text, ok := v.(lua.LString)
				if !ok || text == "" {
					return fault.Of(&fault.ParameterError{}, "the function name must return a text for %s, got %s", file.Name, v.Type())
				}
				name = string(text)
				return nil
			})
			return name, err
		}, nil
	}
	pattern := c.String("name")
	if pattern == "" {
		return nil, nil
	}
	for rest := pattern; ; {
		_, after, found := strings.Cut(rest, "{")
		word, end, closed := strings.Cut(after, "}")
		if !found || !closed {
			break
		}
		if !slices.Contains(nameWords, word) {
			return nil, fault.Of(&fault.ParameterError{}, "option name: there is no {%s}%s; it can hold {name}, {base} and {stem}",
				word, suggest.Suffix(word, nameWords))
		}
		rest = end
	}
	return func(file scan.File) (string, error) {
		base := path.Base(file.Name)
		return strings.NewReplacer("{name}", file.Name, "{base}", base, "{stem}", strings.TrimSuffix(base, path.Ext(base))).Replace(pattern), nil
	}, nil
}

// texts reads a list of texts, or one.
func texts(c *module.Call, name string) ([]string, error) {
	switch v := c.Go(name).(type) {
	case nil, schema.Empty:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil, fault.Of(&fault.ParameterError{}, "option %s must be a list of texts; item %d is none", name, i+1)
			}
			list[i] = text
		}
		return list, nil
	}
	return nil, fault.Of(&fault.ParameterError{}, "option %s must be a list of texts", name)
}

// object reads a table with keys.
func object(c *module.Call, name string) (map[string]any, error) {
	switch v := c.Go(name).(type) {
	case nil, schema.Empty:
		return nil, nil
	case map[string]any:
		return v, nil
	}
	return nil, fault.Of(&fault.ParameterError{}, "option %s must be a table with keys", name)
}

func moment(text string) (time.Time, error) {
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fault.Of(&fault.ParameterError{}, "option newer_than: %q is no date; write 2026-05-31 or 2026-05-31T10:30:00Z", text)
}
