package ingest

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/client"
	"transect/client/calendar"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/ingest"
	"transect/client/lookup"
	"transect/client/scan"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// sourceOptions are the files to ingest; check, run and verify share them.
type sourceOptions struct {
	Source      any            `arg:"source" type:"string|function" doc:"folder, pattern such as flight/**/*.jpg, or file; or an iterator function that returns paths"`
	Paths       []string       `arg:"paths" doc:"list of files, folders and patterns, instead of source; relative ones start at source when that is a folder"`
	Kind        string         `arg:"kind" choices:"image|raster|vector|mesh|pcl|file" doc:"type of dataset for all files; detected from their contents when absent"`
	Include     schema.Strings `arg:"include" doc:"pattern, or list of patterns, of names to include"`
	Exclude     schema.Strings `arg:"exclude" doc:"pattern, or list of patterns, of names to leave out"`
	MinSize     int64          `arg:"min_size" min:"0" doc:"minimum size of a file in bytes"`
	MaxSize     int64          `arg:"max_size" min:"0" doc:"maximum size of a file in bytes"`
	NewerThan   string         `arg:"newer_than" doc:"only files changed after this time: 2026-05-31 or RFC 3339"`
	FollowLinks bool           `arg:"follow_links" default:"false" doc:"follow symbolic links"`
	Filter      *lua.LFunction `arg:"filter" type:"function" doc:"called with each file {name, path, size, modified}; false leaves it out"`
	Expected    int            `arg:"expected" min:"0" doc:"expected number of images; the check reports any other number"`
}

// targetOptions select the target of the datasets.
type targetOptions struct {
	Project schema.ID `arg:"project" doc:"project the datasets belong to; the mission's when absent"`
	Mission schema.ID `arg:"mission" doc:"mission they belong to"`
	Company schema.ID `arg:"company" doc:"company they belong to, where there is no project"`
}

// target returns the target of the files. Names in place of ids are looked up here, once for all files.
func (t targetOptions) target(c *module.Call, connection *client.Client) (target ingest.Target, err error) {
	names := lookup.NewNames(connection, c.In.Options().Logger)
	err = c.Blocking(func(ctx context.Context) (err error) {
		if target.Project, err = names.ID(ctx, "project", string(t.Project)); err != nil {
			return err
		}
		target.Mission, err = names.ID(ctx, "mission", string(t.Mission))
		return err
	})
	target.Company = string(t.Company)
	return target, err
}

type runOptions struct {
	sourceOptions
	targetOptions
	Flight      schema.ID      `arg:"flight" doc:"flight of the images"`
	Name        any            `arg:"name" type:"string|function" doc:"name of each dataset: text with {name} (within the source), {base} or {stem}, or a function of the file; {name} when absent"`
	Properties  schema.Object  `arg:"properties" doc:"properties of each dataset"`
	Categories  []string       `arg:"categories" doc:"categories of each dataset"`
	Published   *bool          `arg:"published" doc:"true when they are ready for delivery"`
	Hidden      *bool          `arg:"hidden" doc:"true keeps them from end users"`
	Extra       schema.Object  `arg:"extra" doc:"further keys of each dataset, sent as they are"`
	OnFile      *lua.LFunction `arg:"on_file" type:"function" doc:"called with each file {name, path, size, verdict, kind, dataset, component, md5, cause, hint} once it has a verdict"`
	Check       any            `arg:"check" type:"boolean|string" default:"true" doc:"true reports problems found in headers and ends of the files in result.preflight, \"deep\" decodes all pictures and rasters too, \"strict\" checks all files first and sends none when one is bad, \"strict deep\" does both, false does not check"`
	Replace     bool           `arg:"replace" default:"false" doc:"a changed file replaces its earlier state: that dataset is deleted once the new one is complete, and can be restored"`
	DryRun      bool           `arg:"dry_run" default:"false" doc:"only report what would be done; nothing is sent"`
	Verify      bool           `arg:"verify" default:"false" doc:"compare size and checksum on the platform with the local files at the end"`
	Damaged     string         `arg:"damaged" choices:"skip|send" default:"skip" doc:"what to do with files that the check finds damaged or incomplete; they count as bad either way"`
	Duplicates  string         `arg:"duplicates" choices:"skip|send" default:"skip" doc:"what to do with files whose content is sent, or on the platform, under another name"`
	Wait        bool           `arg:"wait" default:"true" doc:"wait until the platform has read every file, as long as it makes progress; one it cannot read is refused"`
	Report      string         `arg:"report" doc:"file for the verdict on each file, .json or .csv; path_encoded in it is the percent-encoded path of a file whose name is not UTF-8"`
	RetryFailed string         `arg:"retry_failed" doc:"report of an earlier run: take the files that failed in it, instead of source; relative paths in it start at the current folder"`
	Workers     *int           `arg:"workers" min:"1" doc:"maximum number of files sent at a time; adapted to the connection below that"`
	Batch       int            `arg:"batch" min:"1" default:"200" doc:"maximum number of datasets created by one request, up to 500"`
	Progress    bool           `arg:"progress" default:"true" doc:"show progress on the error stream"`
}

type checkOptions struct {
	sourceOptions
	Deep bool `arg:"deep" default:"false" doc:"decode all pictures and rasters, which finds damage that no header shows"`
}

type fitsOptions struct {
	sourceOptions
	Damaged    string `arg:"damaged" choices:"skip|send" default:"skip" doc:"as for ingest.run"`
	Duplicates string `arg:"duplicates" choices:"skip|send" default:"skip" doc:"as for ingest.run"`
}

type verifyOptions struct {
	sourceOptions
	targetOptions
	Ingest *string        `arg:"ingest" doc:"id of an earlier run on this machine, or its report; instead of source"`
	OnFile *lua.LFunction `arg:"on_file" type:"function" doc:"called with each verdict {name, path, size, verdict, dataset, cause}"`
}

// filesGiven reports whether the options name files.
func (in sourceOptions) filesGiven() bool {
	return in.Source != nil && in.Source != "" || in.Paths != nil
}

// read returns the options that select the files.
func (in sourceOptions) read(c *module.Call, s *bindings.Callbacks) (o ingest.Options, err error) {
	o = ingest.Options{PartOf: c.In.Options().Run, StateDir: c.In.StateDir(), Expected: in.Expected,
		Logger: c.In.Options().Logger, Now: c.In.Options().Now,
		Progress: &ingest.Progress{}}
	if c.In.Guarded() {
		o.Source.Tree = files.Tree{View: c.In}
		o.Folder = func(folder, name string) (*os.Root, error) { return c.In.Into(c.Context(), folder, name) }
	}
	o.Source.Kind, o.Source.FollowLinks, o.Source.Include, o.Source.Exclude = in.Kind, in.FollowLinks, in.Include,
		in.Exclude
	if o.Source.MinSize, o.Source.MaxSize = in.MinSize, in.MaxSize; in.MaxSize > 0 && in.MinSize > in.MaxSize {
		return o, fault.Of(&fault.ParameterError{}, "no file has at least %d (min_size) and at most %d bytes (max_size)",
			in.MinSize, in.MaxSize)
	}
	if in.NewerThan != "" {
		if o.Source.NewerThan, err = calendar.Moment(in.NewerThan, o.Now(), calendar.Past); err != nil {
			return o, fault.Of(&fault.ParameterError{}, "option newer_than: %q is not a time: %w", in.NewerThan, err)
		}
	}
	if in.Filter != nil {
		o.Filter = func(file scan.File) (keep bool, err error) {
			err = s.Call(in.Filter, func(L *lua.LState) lua.LValue { return fileTable(L, file) }, func(v lua.LValue) error {
				keep = lua.LVAsBool(v)
				return nil
			})
			return keep, err
		}
	}
	return o, in.locate(c, s, &o)
}

// locate reads the options for the location of the files.
func (in sourceOptions) locate(c *module.Call, s *bindings.Callbacks, o *ingest.Options) error {
	if each, ok := in.Source.(*lua.LFunction); ok {
		if in.Paths != nil {
			return fault.Of(&fault.ParameterError{}, "source and paths cannot be combined when source is a function")
		}
		o.Items = items(s, each, o.Source)
		return nil
	}
	if source, _ := in.Source.(string); source != "" {
		full := c.In.Path(source)
		c.Must(c.In.Permit(sandbox.Read, full))
		info, err := c.In.Stat(full)
		isFile := err == nil && !info.IsDir()
		if isFile || errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(source, "*?[{") {
			if in.Paths != nil {
				return fault.Of(&fault.ParameterError{}, "source must be a folder when paths are given with it")
			}
			o.Source.Paths = []string{full}
			return nil
		}
		o.Source.Root = full
	}
	if in.Paths != nil && len(in.Paths) == 0 {
		o.Items = func(func(scan.Item, error) bool) {}
	}
	for _, p := range in.Paths {
		full := p
		if o.Source.Root == "" {
			p = c.In.Path(p)
			full = p
		} else if !filepath.IsAbs(p) {
			full = filepath.Join(o.Source.Root, p)
		}
		c.Must(c.In.Permit(sandbox.Read, full))
		o.Source.Paths = append(o.Source.Paths, p)
	}
	return nil
}

// noSource returns the error of a call without files, with the possible options.
func noSource(function string) error {
	what, hint := "the files to ingest",
		`give source = "folder", a pattern, or an iterator function; paths = { … }; or retry_failed = the report of an earlier run`
	switch function {
	case "ingest.check":
		what, hint = "the files to check",
			`give source = "folder", a pattern, or an iterator function; or paths = { … }`
	case "ingest.verify":
		what = "the files to compare with the platform"
		hint = `give source = "folder" or paths = { … }, and the project or mission they went to; or ingest = the id of an earlier run, or its report`
	}
	return fault.Hinted(fault.Of(&fault.ParameterError{}, "source is missing: %s", what), "%s", hint)
}

// read returns the options of a run.
func (in runOptions) read(c *module.Call, s *bindings.Callbacks, connection *client.Client) (o ingest.Options,
	err error) {
	if !in.filesGiven() && in.RetryFailed == "" {
		return o, noSource(c.Name)
	}
	if o, err = in.sourceOptions.read(c, s); err != nil {
		return o, err
	}
	if o.Target, err = in.target(c, connection); err != nil {
		return o, err
	}
	o.Flight = string(in.Flight)
	o.Replace, o.DryRun, o.Verify, o.Wait, o.Batch = in.Replace, in.DryRun, in.Verify, in.Wait, in.Batch
	o.Damaged, o.Duplicates = ingest.Treatment(in.Damaged), ingest.Treatment(in.Duplicates)
	o.Published, o.Hidden, o.Categories, o.Properties, o.Extra = in.Published, in.Hidden, in.Categories, in.Properties,
		in.Extra
	if in.Workers != nil {
		o.Workers = *in.Workers
	}
	switch in.Check {
	case true:
	case false:
		o.Check = ingest.CheckOff
	case "deep":
		o.Deep = true
	case "strict", "strict deep":
		o.Check, o.Deep = ingest.CheckStrict, in.Check != "strict"
	default:
		return o, fault.Of(&fault.ParameterError{},
			`option check must be true, false, "deep", "strict" or "strict deep", got %q`, in.Check)
	}
	if in.Report != "" {
		o.Report = c.In.Path(in.Report)
		c.Must(c.In.Permit(sandbox.Write, o.Report))
	}
	o.OnOutcome = forEach(s, in.OnFile, outcomeTable)
	if o.Name, err = naming(in.Name, s); err != nil {
		return o, err
	}
	return o, in.retry(c, &o)
}

// retry selects the files that failed in an earlier run.
func (in runOptions) retry(c *module.Call, o *ingest.Options) error {
	if in.RetryFailed == "" {
		return nil
	}
	if in.filesGiven() {
		return fault.Of(&fault.ParameterError{}, "retry_failed takes its files from the report; leave source and paths out")
	}
	c.Must(ingest.Retry(o, c.In.Path(in.RetryFailed), c.In.Path(".")))
	for _, p := range append([]string{o.Source.Root}, o.Source.Paths...) {
		if p == "" {
			continue
		}
		c.Must(c.In.Permit(sandbox.Read, p))
	}
	return nil
}

// sourceName names the source in messages.
func (in runOptions) sourceName() string {
	switch source := in.Source.(type) {
	case *lua.LFunction:
		return "the iterator's files"
	case string:
		return source
	}
	if in.RetryFailed != "" {
		return "failed files of " + in.RetryFailed
	}
	return "the files given"
}

// nameWords are the placeholders of dataset names.
var nameWords = []string{"name", "base", "stem"}

// naming returns the function that names datasets; nil to use file names.
func naming(name any, s *bindings.Callbacks) (func(scan.File) (string, error), error) {
	if f, ok := name.(*lua.LFunction); ok {
		return func(file scan.File) (name string, err error) {
			err = s.Call(f, func(L *lua.LState) lua.LValue { return fileTable(L, file) }, func(v lua.LValue) error {
				text, ok := v.(lua.LString)
				if !ok || text == "" {
					return fault.Of(&fault.ParameterError{}, "the function name must return a string for %s, got %s", file.Name,
						v.Type())
				}
				name = string(text)
				return nil
			})
			return name, err
		}, nil
	}
	pattern, _ := name.(string)
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
			return nil, fault.Of(&fault.ParameterError{},
				"option name: there is no {%s}%s; it can hold {name}, {base} and {stem}",
				word, suggest.Suffix(word, nameWords))
		}
		rest = end
	}
	return func(file scan.File) (string, error) {
		base := path.Base(file.Name)
		return strings.NewReplacer("{name}", file.Name, "{base}", base, "{stem}",
			strings.TrimSuffix(base, path.Ext(base))).Replace(pattern), nil
	}, nil
}

// forEach wraps a Lua function that takes a table as a Go callback; nil for none.
func forEach[T any](s *bindings.Callbacks, f *lua.LFunction, table func(*lua.LState, T) lua.LValue) func(T) error {
	if f == nil {
		return nil
	}
	return func(v T) error {
		return s.Call(f, func(L *lua.LState) lua.LValue { return table(L, v) }, nil)
	}
}

// pathsAtOnce is how many paths are read from an iterator before they are grouped: files of one dataset are
// found within these.
const pathsAtOnce = 1000

// items groups the paths of a Lua iterator.
func items(s *bindings.Callbacks, each *lua.LFunction, source scan.Source) iter.Seq2[scan.Item, error] {
	return func(yield func(scan.Item, error) bool) {
		for more := true; more; {
			var paths []string
			for more && len(paths) < pathsAtOnce {
				err := s.Call(each, nil, func(v lua.LValue) error {
					switch v := v.(type) {
					case *lua.LNilType:
						more = false
						return nil
					case lua.LString:
						path := vm.Of(s.L).Path(string(v))
						paths = append(paths, path)
						return vm.Of(s.L).Permit(sandbox.Read, path)
					}
					return fault.Of(&fault.ParameterError{}, "the iterator source must return paths, got a %s", v.Type())
				})
				if err != nil {
					yield(scan.Item{}, err)
					return
				}
			}
			if len(paths) == 0 {
				return
			}
			source.Paths = paths
			for item, err := range scan.Items(vm.Context(s.L), source) {
				if !yield(item, err) {
					return
				}
			}
		}
	}
}
