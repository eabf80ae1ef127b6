package bindings

import (
	"context"

	"transect/client"
	"transect/client/fault"
	"transect/client/ingest"
	"transect/runtime/meter"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// The options that say what to ingest; check, run and verify share them.
var sourceOptions = []module.Param{
	{Name: "source", Type: "string|function", Doc: "folder, pattern such as flight/**/*.jpg, or file; or an iterator function that gives paths", Optional: true},
	{Name: "paths", Type: "table", Doc: "list of files, folders and patterns, instead of source; relative ones lie in source when that is a folder", Optional: true},
	{Name: "kind", Type: "string", Doc: "type of dataset for all files; found out from their contents when absent", Optional: true,
		Choices: []string{"image", "raster", "vector", "mesh", "pcl", "file"}},
	{Name: "include", Type: "string|table", Doc: "pattern, or list of patterns, of names to take", Optional: true},
	{Name: "exclude", Type: "string|table", Doc: "pattern, or list of patterns, of names to leave out", Optional: true},
	{Name: "min_size", Type: "integer", Doc: "least bytes of a file", Optional: true},
	{Name: "max_size", Type: "integer", Doc: "most bytes of a file", Optional: true},
	{Name: "newer_than", Type: "string", Doc: "only files changed after that moment: 2026-05-31 or RFC 3339", Optional: true},
	{Name: "follow_links", Type: "boolean", Doc: "read what symbolic links point at", Default: false},
	{Name: "filter", Type: "function", Doc: "called with each file {name, path, size, modified}; false leaves it out", Optional: true},
	{Name: "expected", Type: "integer", Doc: "how many images there should be; the check tells when there are not", Optional: true},
}

// The options that say where the datasets belong.
var targetOptions = []module.Param{
	{Name: "project", Type: "any", Doc: "project the datasets belong to; that of the mission when absent", Optional: true},
	{Name: "mission", Type: "any", Doc: "mission they belong to", Optional: true},
	{Name: "company", Type: "any", Doc: "company they belong to, where there is no project", Optional: true},
}

var runOptions = []module.Param{
	{Name: "flight", Type: "any", Doc: "flight of the images", Optional: true},
	{Name: "name", Type: "string|function", Doc: "name of each dataset: text with {name} (within the source), {base} or {stem}, or a function of the file; {name} when absent", Optional: true},
	{Name: "properties", Type: "table", Doc: "properties of each dataset", Optional: true},
	{Name: "categories", Type: "table", Doc: "categories of each dataset", Optional: true},
	{Name: "published", Type: "boolean", Doc: "true when they are ready for delivery", Optional: true},
	{Name: "hidden", Type: "boolean", Doc: "true keeps them from end users", Optional: true},
	{Name: "extra", Type: "table", Doc: "further keys of each dataset, sent as they are", Optional: true},
	{Name: "on_file", Type: "function", Doc: "called with each outcome as it comes", Optional: true},
	{Name: "check", Type: "boolean|string", Doc: `true tells in result.preflight what is wrong with the files, "strict" looks at all first and sends none when one is, false does not look`, Default: true},
	{Name: "replace", Type: "boolean", Doc: "a changed file takes the place of its earlier state: that dataset is deleted once the new one is complete, and can be restored", Default: false},
	{Name: "dry_run", Type: "boolean", Doc: "only find out what would be done; nothing is sent", Default: false},
	{Name: "verify", Type: "boolean", Doc: "compare size and checksum on the platform with the local files in the end", Default: false},
	{Name: "wait", Type: "boolean", Doc: "wait until the platform has read every file; one it cannot read has failed", Default: false},
	{Name: "report", Type: "string", Doc: "file for the outcomes, .json or .csv; path_encoded in it is the percent-encoded path of a file whose name is no UTF-8", Optional: true},
	{Name: "retry_failed", Type: "string", Doc: "report of an earlier run: take the files that failed in it, instead of source; relative paths in it begin in the current folder", Optional: true},
	{Name: "workers", Type: "integer", Doc: "most files sent at a time; the connection decides below that", Optional: true},
	{Name: "batch", Type: "integer", Doc: "most datasets created by one request, up to 500", Default: 200},
	{Name: "progress", Type: "boolean", Doc: "show how far it has come, on the error stream", Default: true},
}

const ingestDoc = `Brings many files onto the platform: a folder, a pattern, a list or an iterator of them. Files become datasets, created in bulk and
filled side by side; files that belong together, such as a shapefile, become one.

It can be killed and run again at any moment, and run twice at once: what is there is found and skipped, what was begun is completed, nothing is
doubled. Should a request that was given up reach the platform late and leave an empty double of a dataset, the next run deletes it. Each dataset carries the key of its file in properties.transect: kind, name, size and samples of the content. The same card at another
place gives the same keys; a file that is no image is known by its name within source, and by its bytes where source now begins at a folder above
or below. A file that changed since is a new file: it gets a dataset of its own, and the earlier one stays, unless replace says
otherwise. Images made by other means are recognised by name and acquisition date.

A file that fails does not stop the others: it is an outcome, and result.failed counts it. script.fail_items(result.failed, result.total) ends the run with exit
code 3. What concerns all files does stop it: credentials refused, platform unreachable, its disk full. Running again goes on from there.

Files go straight to the platform's storage. With USE_LEGACY_UPLOADER=yes in the environment they go through the platform, which is not recommended.`

// ingestModule is the module ingest. Connection is opened by b when needed.
func ingestModule(b *Binding) *module.Module {
	return &module.Module{
		Name: "ingest",
		Doc:  ingestDoc,
		Funcs: []module.Func{
			{
				Name: "run", Doc: "Ingests files. It returns when everything is sent, with what became of it.",
				Params: []module.Param{{Name: "options", Fields: join(sourceOptions, targetOptions, runOptions)}},
				Returns: "a table: id of the run, total, created, resumed, skipped, failed (numbers of datasets), bytes sent, seconds; failures, the first 100 failed outcomes; " +
					"preflight, the report of the check; files(), an iterator over all outcomes {name, path, size, outcome, kind, dataset, component, md5, cause, hint}",
				Call: func(c *module.Call) (any, error) { return runIngest(c, b) },
			},
			{
				Name: "check", Doc: "Looks at the files as a run would, and sends nothing. It needs no platform.",
				Params:  []module.Param{{Name: "options", Fields: sourceOptions}},
				Returns: "the report: items, files, bytes, images, by_kind, skipped, first, last, footprint, area, problems {code, severity, name, message, hint}, counts, errors, warnings",
				Call:    checkIngest,
			},
			{
				Name: "verify", Doc: "Compares local files, size and checksum, with what the platform holds: those of a source with a target, or those of an earlier run. Nothing is changed.",
				Params: []module.Param{{Name: "options", Fields: join(sourceOptions, targetOptions, []module.Param{
					{Name: "ingest", Type: "string", Doc: "id of an earlier run on this machine, or its report; instead of source", Optional: true},
					{Name: "on_file", Type: "function", Doc: "called with each verdict {name, path, size, verdict, dataset, cause} as it comes", Optional: true},
				})}},
				Returns: "a table: same, different, missing, extra (numbers), ok when all are the same; findings, the first 100 verdicts that are not \"same\"",
				Call:    func(c *module.Call) (any, error) { return verifyIngest(c, b) },
			},
		},
	}
}

func join(lists ...[]module.Param) []module.Param {
	var all []module.Param
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func runIngest(c *module.Call, b *Binding) (any, error) {
	s := newCallbacks(c.L, "ingest")
	o, err := ingestOptions(c, s)
	if err != nil {
		return nil, err
	}
	if err := runOptionsOf(c, s, &o); err != nil {
		return nil, err
	}
	o.Stop = vm.StopRequested(c.L)
	connection := b.command(c.L)
	var show *meter.Meter
	if c.Bool("progress") {
		show = meter.Start(c.In, meter.Options{Label: "ingest", Read: func() meter.Reading { return reading(o.Progress, connection) }})
	}
	var result *ingest.Result
	err = s.serve(func(ctx context.Context) (err error) {
		result, err = ingest.Run(ctx, connection, o)
		if show != nil {
			show.Finish()
		}
		return err
	})
	if result != nil {
		n := result.Counts
		c.In.CountItems(n.Created+n.Resumed+n.Skipped, n.Failed)
	}
	if err != nil {
		if result != nil && (result.Counts.Created+result.Counts.Resumed > 0 || result.Counts.Bytes > 0) {
			n := result.Counts
			c.In.Options().Logger.Warn("the ingest stopped before its end; what it did stays, run again to go on", "ingest", result.ID,
				"created", n.Created, "resumed", n.Resumed, "skipped", n.Skipped, "failed", n.Failed, "bytes", n.Bytes)
		}
		if vm.Stopping(c.L) {
			vm.Checkpoint(c.L)
		}
		return nil, err
	}
	if result.Counts == (ingest.Counts{}) {
		c.In.Options().Logger.Warn("there was nothing to ingest", "source", sourceName(c))
	}
	return resultTable(c, result, o.DryRun), nil
}

// reading is how far an ingest has come.
func reading(p *ingest.Progress, c *client.Client) meter.Reading {
	stats := c.TransferStats()
	r := meter.Reading{Files: p.DoneFiles.Load(), Bytes: p.DoneBytes.Load(), Failed: p.Failed.Load(), Transferred: p.Transferred.Load(),
		Retries: stats.Retries(), Limiter: stats.Limiter(), RetryAfter: c.RetryAfter()}
	if p.Complete.Load() {
		r.TotalFiles, r.TotalBytes = p.Files.Load(), p.Bytes.Load()
	} else {
		r.FoundFiles = p.Files.Load()
	}
	return r
}

func checkIngest(c *module.Call) (any, error) {
	s := newCallbacks(c.L, "ingest")
	o, err := ingestOptions(c, s)
	if err != nil {
		return nil, err
	}
	var report any
	err = s.serve(func(ctx context.Context) (err error) {
		r, err := ingest.Preflight(ctx, o)
		if err == nil {
			report, err = plainJSON(r)
		}
		return err
	})
	return report, err
}

func verifyIngest(c *module.Call, b *Binding) (any, error) {
	s := newCallbacks(c.L, "ingest")
	tell := s.verdicts(c.Function("on_file"))
	var v *ingest.Verification
	if c.Has("ingest") {
		if c.Has("source") || c.Has("paths") {
			return nil, fault.Of(&fault.ParameterError{}, "option ingest takes the files from an earlier run; leave source and paths out")
		}
		earlier, err := earlierOutcomes(c)
		if err != nil {
			return nil, err
		}
		defer earlier.Close()
		connection := b.command(c.L)
		err = s.serve(func(ctx context.Context) (err error) {
			v, err = ingest.VerifyOutcomes(ctx, connection, earlier, c.In.OpenToRead, tell)
			return err
		})
		if err != nil {
			return nil, err
		}
		return verificationTable(v), nil
	}
	o, err := ingestOptions(c, s)
	if err == nil {
		err = targetOf(c, &o)
	}
	if err != nil {
		return nil, err
	}
	connection := b.command(c.L)
	err = s.serve(func(ctx context.Context) (err error) {
		v, err = ingest.Verify(ctx, connection, o, tell)
		return err
	})
	if err != nil {
		return nil, err
	}
	return verificationTable(v), nil
}
