package stdlib

import (
	"context"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/engine/table"
	"transect/runtime/jobs/setting"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// Jobs is the queue that a script submits to, see runtime/jobs.
type Jobs struct {
	// Submit queues a job and returns its ID. A further start of the run gets the ID of the job that an earlier
	// one has submitted.
	Submit func(ctx context.Context, r JobRequest) (int64, error)
	// Rehearse returns an ID for a job that is not submitted.
	Rehearse func(ctx context.Context, r JobRequest) (int64, error)
	// Ended returns jobs of the list that have ended, not always all of them.
	Ended func(ctx context.Context, ids []int64) ([]EndedJob, error)
}

// JobRequest is a job to submit.
type JobRequest struct {
	Script string
	Args   []string
	Delay  time.Duration // not before
	setting.Settings
}

// EndedJob is a job that has ended.
type EndedJob struct {
	ID       int64  `json:"id"`
	State    string `json:"state"`
	OK       bool   `json:"ok"` // it is done, without failed items
	ExitCode *int   `json:"exit_code,omitempty"`
	Message  string `json:"message,omitempty"` // of its failure
	Result   []byte `json:"result,omitempty"`  // JSON; nil when it has none
}

type jobsKey struct{}

// UseJobs gives the module jobs a queue.
func UseJobs(o *vm.Options, q *Jobs) { o.Set(jobsKey{}, q) }

// jobFields declares the options of a job that submit and map share: its settings, as declared for the
// command line too, and the ones only for scripts.
func jobFields(more ...module.Param) []module.Param {
	fields := []module.Param{
		{Name: "script", Type: "string",
			Doc: "the script: a file, in the running script's folder if not in the current one, or @NAME of a built-in one"},
		{Name: "on", Type: "string", Doc: "the name of the one worker that runs it, in place of queue", Default: ""},
		secondsParam(module.Param{Name: "delay", Doc: "start it this much later", Default: 0.0}),
	}
	defaults := setting.Defaults()
	for _, d := range defaults.List() {
		if !d.Lua {
			continue
		}
		p := module.Param{Name: luaName(d), Doc: strings.ReplaceAll(d.Doc, "`", "")}
		switch to := d.To.(type) {
		case *string:
			p.Type, p.Default = "string", ""
		case *int:
			p.Type, p.Default, p.Min, p.Max = "integer", *to, new(float64(d.Least)), new(float64(d.Most))
		case *time.Duration:
			p.Default = to.Seconds()
			p = secondsParam(p)
		}
		fields = append(fields, p)
	}
	return append(fields, more...)
}

func luaName(d *setting.Setting) string { return strings.ReplaceAll(d.Name, "-", "_") }

// jobSettings reads the settings of a job from the options of a call.
func jobSettings(c *module.Call) (s setting.Settings) {
	for _, d := range s.List() {
		if !d.Lua {
			continue
		}
		switch to := d.To.(type) {
		case *string:
			*to = c.String(luaName(d))
		case *int:
			*to = c.Int(luaName(d))
		case *time.Duration:
			*to = c.Seconds(luaName(d))
		}
	}
	s.Queue += c.String("on")
	return s
}

var (
	jobArg     = module.Param{Name: "job", Type: "any", Doc: "the ID of a job, or a list of IDs"}
	jobTimeout = module.Param{Name: "options", Fields: []module.Param{
		secondsParam(module.Param{Name: "timeout",
			Doc: "raise a TimeoutError when it has not ended by then; the job continues. 0 waits without limit", Default: 0.0}),
	}}
)

const jobOutcome = "a table: job (its ID), state (done, done with failures, failed, stopped, needs a decision, " +
	"cancelled, removed), ok (true when it is done), " +
	"result (what its script returned), exit_code, message (of its failure)"

var jobsModule = &module.Module{
	Name: "jobs",
	Doc: "Runs scripts on workers: this machine's or, with --jobs URL, several machines' (transect worker). " +
		"What a script returns at its end is the result of its job, up to 1 MiB as JSON. " +
		"A run that is started again submits nothing twice: it gets the jobs of its earlier starts, and retries those that " +
		"failed. " +
		"A job that waits for others frees its worker's slot for them. " +
		"Under a sandbox submitting needs ops=jobs.submit; the script runs under its own manifest.",
	Lazy: jobsFuncs,
}

func jobsFuncs() []module.Func {
	return []module.Func{
		{
			Name: "submit", Doc: "Queues a job and does not wait for it.",
			Params: []module.Param{{Name: "options", Fields: jobFields(
				module.Param{Name: "args", Type: "table", Doc: "the script's arguments: strings, numbers, booleans",
					Optional: true})}},
			Returns: "the job's ID, an integer",
			Call: func(c *module.Call) (any, error) {
				return submitJob(c, jobArguments(c, c.Value("args"))), nil
			},
		},
		{
			Name: "map",
			Doc: "Runs a script for every item, each as a separate job, and waits for all. One that fails does not stop " +
				"the rest.",
			Params: []module.Param{
				{Name: "items", Type: "any", Doc: "a list, or an iterator function"},
				{Name: "options", Fields: jobFields(
					module.Param{Name: "args", Type: "function",
						Doc: "called with the item and its index; returns the script's arguments, one or a list. Left out, the item is " +
							"the argument", Optional: true},
					module.Param{Name: "concurrency", Type: "integer", Doc: "how many jobs wait or run at a time", Default: 8,
						Min: new(1.0), Max: new(10000.0)})},
			},
			Returns: "a list in the items' order, for each " + jobOutcome + ", item",
			Call:    mapJobs,
		},
		{
			Name: "wait", Doc: "Waits until jobs have ended, successfully or not.",
			Params: []module.Param{jobArg, jobTimeout}, Returns: jobOutcome + "; of a list, a list of those in its order",
			Call: func(c *module.Call) (any, error) {
				ids, many := jobIDs(c)
				ended, results := waitForJobs(c, ids), c.L.NewTable()
				for i, id := range ids {
					t := outcomeOf(c, ended[id])
					if !many {
						return t, nil
					}
					results.RawSetInt(i+1, t)
				}
				return results, nil
			},
		},
		{
			Name:    "result",
			Doc:     "Waits for a job and returns what its script returned; raises a RuntimeError when the job failed.",
			Params:  []module.Param{{Name: "job", Type: "integer", Doc: "the ID of a job"}, jobTimeout},
			Returns: "what the script returned, nil for nothing",
			Call: func(c *module.Call) (any, error) {
				id := int64(c.Int("job"))
				job := waitForJobs(c, []int64{id})[id]
				if !job.OK && job.State != "done with failures" {
					return nil, fault.Hinted(fault.Of(&fault.RuntimeError{}, "job %d did not succeed, its state is %s%s", id,
						job.State, because(job.Message)), "transect jobs show %d", id)
				}
				if job.Result == nil {
					return nil, nil
				}
				return vm.DecodeJSON(job.Result, false)
			},
		},
	}
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// jobQueue returns the queue that the script submits to, or raises.
func jobQueue(c *module.Call) *Jobs {
	q := vm.State(c.In, jobsKey{}, func() *Jobs { return nil })
	if q == nil {
		c.Raise(fault.Of(&fault.UnsupportedOperationError{}, "jobs are not available here"))
	}
	return q
}

// submitJob submits a job with the options of the call.
func submitJob(c *module.Call, args []string) (id int64) {
	q := jobQueue(c)
	if c.String("on") != "" && c.String("queue") != "" {
		c.Raise(fault.Of(&fault.ParameterError{}, "the options queue and on cannot be combined"))
	}
	c.Must(c.In.Permit(sandbox.Op, "jobs.submit"))
	r := JobRequest{Script: c.String("script"), Args: args, Delay: c.Seconds("delay"), Settings: jobSettings(c)}
	submit := q.Submit
	if !vm.Happens(c.L, sandbox.Effect{Kind: sandbox.SubmitJob, What: strings.Join(append([]string{r.Script}, args...), " ")}) {
		submit = q.Rehearse
	}
	c.Must(c.Blocking(func(ctx context.Context) (err error) { id, err = submit(ctx, r); return err }))
	return id
}

// jobArguments reads the arguments of a script: a list, or one value.
func jobArguments(c *module.Call, v lua.LValue) (args []string) {
	for i, v := range oneOrList(v) {
		if !module.Accepts("string|number|boolean", v) {
			c.Raise(fault.Of(&fault.ParameterError{},
				"argument %d of the script: must be a string, a number or a boolean, got a %s", i+1, v.Type()))
		}
		args = append(args, v.String())
	}
	return args
}

// oneOrList returns a value as a list: the elements of a table, none for nil.
func oneOrList(v lua.LValue) (list []lua.LValue) {
	t, ok := v.(*lua.LTable)
	if !ok && v != lua.LNil {
		return []lua.LValue{v}
	}
	for i := 1; ok && i <= table.Length(t); i++ {
		list = append(list, table.Element(t, i))
	}
	return list
}

// jobIDs returns the ids in the argument job; many is false for a single one.
func jobIDs(c *module.Call) (ids []int64, many bool) {
	_, many = c.Value("job").(*lua.LTable)
	for _, v := range oneOrList(c.Value("job")) {
		n, ok := v.(lua.LNumber)
		if !ok || lua.LNumber(int64(n)) != n {
			c.Raise(fault.Of(&fault.ParameterError{}, "argument job must be the ID of a job or a list of IDs, got a %s",
				v.Type()))
		}
		ids = append(ids, int64(n))
	}
	return ids, many
}
