// Package ingest is the Lua module ingest: many files into many datasets.
package ingest

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"

	"github.com/tidwall/gjson"

	"transect/bindings"
	"transect/client"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/ingest"
	"transect/client/recovery"
	"transect/client/schema"
	"transect/client/verdict"
	"transect/runtime/meter"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// Examples are the examples of the functions; see package examples.
//
//go:embed examples/*.lua
var Examples embed.FS

const ingestDoc = `Brings many files onto the platform: a folder, a pattern, a list or an iterator of them.
Files become datasets, created in bulk and filled in parallel; files that belong together, such as a
shapefile, become one.

It can be killed and run again at any moment, and run twice at once: what is there is found and skipped, what
was begun is completed, nothing is duplicated. If a request that was given up reaches the platform late and
leaves an empty duplicate of a dataset, the next run deletes it. Each dataset has the key of its file in
properties.transect: kind, name, size and samples of the content. The same card in another folder has the
same keys; files other than images are identified by their names within source, and by their bytes when
source is now a folder above or below. A file that changed since is a new file: it gets a dataset of its own,
and the earlier one is kept unless replace is true. Images created by other means are recognised by name and
acquisition date.

A file that fails does not stop the others: it gets a verdict, and result.bad counts those that need
attention: refused, damaged, incomplete, failed. The run then ends with exit code 3, unless the script decides
otherwise, as with script.fail_items(0, result.total). A summary for people is printed on the error stream:
target, number of files by verdict, problems, and the command to try again. Failures that concern all files do
stop it: credentials refused, platform unreachable, its disk full. Running again continues from there.

Files go straight to the platform's storage. With USE_LEGACY_UPLOADER=yes in the environment they go through
the platform, which is not recommended.`

// Module makes the module ingest. Its connection is opened by b when needed.
func Module(b *bindings.Binding) *module.Module {
	return &module.Module{
		Name: "ingest",
		Doc:  ingestDoc,
		Lazy: func() []module.Func { return ingestFuncs(b) },
	}
}

// Declaration describes the module, for documentation.
func Declaration() *module.Module { return Module(new(bindings.Binding)).Declare() }

func ingestFuncs(b *bindings.Binding) []module.Func {
	return []module.Func{
		{
			Name: "run", Doc: "Ingests files. It returns the outcomes when everything is sent.",
			Params: options[runOptions](),
			Returns: "a table: id of the run, uploaded, already_there, refused, damaged, incomplete, duplicate, left_out, " +
				"failed (numbers of files by verdict), bad (refused, damaged, incomplete or failed, and errors of the check " +
				"that are not of one file), total (all but left_out), " +
				"bytes sent, seconds; failures, the first 100 bad files; " +
				"preflight, the report of the check; files(), an iterator over all files {name, path, size, verdict, kind, " +
				"dataset, component, md5, cause, hint}",
			Call: func(c *module.Call) (any, error) { return runIngest(c, b) },
		},
		{
			Name: "check", Doc: "Checks the files as a run would, and sends nothing. It needs no platform.",
			Params: options[checkOptions](),
			Returns: "the report: items, files, bytes, images, checked, deep, decoded (files checked, and of these " +
				"whose pixels were decoded), by_kind, skipped, first, last, footprint, area, problems " +
				"{code, severity, name, message, hint, verdict}, counts, errors, warnings, damaged, incomplete, duplicate, " +
				"left_out, failed (numbers of files by verdict)",
			Call: checkIngest,
		},
		{
			Name: "fits",
			Doc: "Raises a LimitError when the files exceed what the run's budget of bytes leaves: called before a " +
				"project or mission is made for them. ingest.run does so itself, less what is there. Files that a run would " +
				"leave out do not count.",
			Params: options[fitsOptions](),
			Call:   func(c *module.Call) (any, error) { return nil, ingestFits(c, b) },
		},
		{
			Name: "verify",
			Doc: "Compares local files, size and checksum, with what the platform holds: for a source and target, or " +
				"for an earlier run. Nothing is changed.",
			Params: options[verifyOptions](),
			Returns: "a table: already_there, duplicate, left_out, different, missing, refused, damaged, incomplete, failed, " +
				"extra (numbers of files by verdict), bad (different to failed), total (all but left_out and extra), ok when " +
				"none is bad or extra; findings, the first 100 that are bad or extra",
			Call: func(c *module.Call) (any, error) { return verifyIngest(c, b) },
		},
	}
}

// options describes the only parameter of a function by a struct.
func options[T any]() []module.Param {
	return []module.Param{{Name: "options", Fields: schema.TableOf[T]("options", "").Fields}}
}

// givenName returns the name of a resource given as an option, "" for an id.
func givenName(c *module.Call, option string) string {
	r, _ := bindings.RecordOf(c.Value(option))
	return gjson.GetBytes(r.JSON, "name").String()
}

func runIngest(c *module.Call, b *bindings.Binding) (any, error) {
	s := bindings.NewCallbacks(c.L, "ingest")
	var in runOptions
	c.Fill(&in)
	connection := b.Command(c.L)
	o, err := in.read(c, s, connection)
	c.Must(err)
	o.Stop = vm.StopRequested(c.L)
	o.Started = func(id string) error {
		c.In.AddIngest(id)
		if run := c.In.Options().InRun; run != nil {
			return run.Ingested(id)
		}
		return nil
	}
	dry := o.DryRun || connection.Rehearses()
	var show *meter.Meter
	if in.Progress {
		show = meter.Start(c.In, meter.Options{Label: "ingest", Brief: true,
			Read: func() meter.Reading { return reading(o.Progress, connection) }})
	}
	var result *ingest.Result
	err = s.Serve(func(ctx context.Context) (err error) {
		result, err = ingest.Run(recovery.Outside(ctx), connection, o)
		if show != nil {
			show.Finish()
		}
		return err
	})
	if result != nil {
		countFiles(c.In, result)
		c.In.CountTemporary(result.Temporary)
		result.Project, result.Mission = cmp.Or(result.Project, givenName(c, "project")),
			cmp.Or(result.Mission, givenName(c, "mission"))
		opt := c.In.Options()
		s := summary{Result: result, url: connection.BaseURL(), dryRun: dry || opt.DryRun, stopped: err != nil,
			report: in.Report, command: opt.Command}
		s.print(opt)
		c.In.AddFindings(s.findings())
	}
	if err != nil {
		if vm.Stopping(c.L) {
			vm.Checkpoint(c.L)
		}
		return nil, err
	}
	if result.Counts == (verdict.Counts{}) && o.Filter == nil {
		c.In.Options().Logger.Warn("there was nothing to ingest", "source", in.sourceName())
	}
	return resultTable(c, result, dry), nil
}

// countFiles adds the files of an ingest to the items of the run.
func countFiles(in *vm.Interp, r *ingest.Result) {
	in.CountItems(r.Counts.Total()-r.Counts.Bad(), 0)
	in.FailItems(r.Bad())
	for _, v := range verdict.All {
		in.CountVerdict(string(v), *r.Counts.Of(v))
	}
}

// reading counts the progress of an ingest.
func reading(p *ingest.Progress, c *client.Client) meter.Reading {
	stats := c.TransferStats()
	r := meter.Reading{Files: p.DoneFiles.Load(), Bytes: p.DoneBytes.Load(), Failed: p.Failed.Load(),
		Transferred: p.Transferred.Load(),
		Retries:     stats.Retries(), Limiter: stats.Limiter(), RetryAfter: c.RetryAfter(),
		Unread: p.Unread.Load()}
	if p.Complete.Load() {
		r.TotalFiles, r.TotalBytes = p.Files.Load(), p.Bytes.Load()
	} else {
		r.FoundFiles = p.Files.Load()
	}
	return r
}

func checkIngest(c *module.Call) (any, error) {
	s := bindings.NewCallbacks(c.L, "ingest")
	var in checkOptions
	c.Fill(&in)
	if !in.filesGiven() {
		return nil, noSource(c.Name)
	}
	o, err := in.read(c, s)
	c.Must(err)
	o.Deep = in.Deep
	var report json.RawMessage
	err = s.Serve(func(ctx context.Context) (err error) {
		r, err := ingest.Preflight(ctx, o)
		if err == nil {
			report, err = json.Marshal(r)
		}
		return err
	})
	return report, err
}

func ingestFits(c *module.Call, b *bindings.Binding) error {
	s := bindings.NewCallbacks(c.L, "ingest")
	var in fitsOptions
	c.Fill(&in)
	if !in.filesGiven() {
		return noSource(c.Name)
	}
	o, err := in.read(c, s)
	c.Must(err)
	if o.Items != nil { // an iterator yields its files once
		return nil
	}
	o.Damaged, o.Duplicates = ingest.Treatment(in.Damaged), ingest.Treatment(in.Duplicates)
	connection := b.Command(c.L)
	return s.Serve(func(ctx context.Context) error { return ingest.Fits(ctx, connection, o) })
}

func verifyIngest(c *module.Call, b *bindings.Binding) (any, error) {
	s := bindings.NewCallbacks(c.L, "ingest")
	var in verifyOptions
	c.Fill(&in)
	onFile := forEach(s, in.OnFile, findingTable)
	var verify func(ctx context.Context) (*ingest.Verification, error)
	switch {
	case in.Ingest != nil && in.filesGiven():
		return nil, fault.Of(&fault.ParameterError{},
			"option ingest takes the files from an earlier run; leave source and paths out")
	case in.Ingest != nil:
		earlier, err := earlierOutcomes(c, *in.Ingest)
		c.Must(err)
		connection := b.Command(c.L)
		verify = func(ctx context.Context) (*ingest.Verification, error) {
			return ingest.VerifyOutcomes(ctx, connection, earlier, files.Tree{View: c.In}, onFile)
		}
	case !in.filesGiven():
		return nil, noSource(c.Name)
	default:
		o, err := in.read(c, s)
		c.Must(err)
		connection := b.Command(c.L)
		if o.Target, err = in.target(c, connection); err != nil {
			return nil, err
		}
		verify = func(ctx context.Context) (*ingest.Verification, error) {
			return ingest.Verify(ctx, connection, o, onFile)
		}
	}
	var v *ingest.Verification
	err := s.Serve(func(ctx context.Context) (err error) {
		v, err = verify(ctx)
		return err
	})
	c.Must(err)
	return verificationTable(v), nil
}
