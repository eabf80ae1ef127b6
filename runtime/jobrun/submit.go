package jobrun

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/link"
	"transect/runtime/runledger"
	"transect/runtime/sandbox"
	"transect/scripts"
	"transect/stdlib"
)

// part submits the jobs of a script to the database, or through the worker that started the process. The database
// is opened at the first use.
type part struct {
	Settings
	process *runtime.Process
	job     *runtime.Job
	link    *link.Child // nil for a run that no worker started
	x       *runtime.Execution

	mu      sync.Mutex
	opened  jobs.Queue
	store   *jobs.Store        // to close
	packed  map[string]*packed // by script
	numbers map[[32]byte]int   // of equal submissions
}

// packed is a script that travels with its jobs.
type packed struct {
	*bundle.Bundle
	sent bool
}

// forScripts implements the module jobs.
func (q *part) forScripts() *stdlib.Jobs {
	last := atomic.Int64{}
	return &stdlib.Jobs{
		Submit:   q.submit,
		Rehearse: func(context.Context, stdlib.JobRequest) (int64, error) { return last.Add(-1), nil },
		Ended: func(ctx context.Context, ids []int64) ([]stdlib.EndedJob, error) {
			if q.job.DryRun || last.Load() < 0 { // those were not submitted
				ended := make([]stdlib.EndedJob, len(ids))
				for i, id := range ids {
					ended[i] = stdlib.EndedJob{ID: id, State: "not submitted", OK: true}
				}
				return ended, nil
			}
			queue, err := q.open(ctx)
			if err != nil {
				return nil, err
			}
			list, err := queue.EndedParts(ctx, ids)
			ended := make([]stdlib.EndedJob, len(list))
			for i, e := range list {
				ended[i] = stdlib.EndedJob{ID: e.ID, State: e.State, OK: e.OK, ExitCode: e.ExitCode, Message: e.Message,
					Result: e.Result}
			}
			return ended, err
		},
	}
}

func (q *part) open(ctx context.Context) (jobs.Queue, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.opened != nil:
	case q.link != nil:
		q.opened = jobs.Linked{Link: q.link}
	default:
		store, err := OpenJobs(ctx, q.process, q.URL)
		if err != nil {
			return nil, err
		}
		q.opened, q.store = store, store
	}
	return q.opened, nil
}

func (q *part) submit(ctx context.Context, r stdlib.JobRequest) (int64, error) {
	part := jobs.Part{In: r.Delay}
	if q.link == nil && q.Template != nil {
		var err error
		if part.Spec, err = q.Template(r.Script, r.Args); err != nil {
			return 0, err
		}
	}
	spec := &part.Spec
	spec.Script, spec.Args, spec.Settings = r.Script, r.Args, r.Settings
	if policy := q.x.Policy(); policy != nil && policy.Sandboxed() && !slices.Contains(spec.Run, "--sandbox=true") {
		spec.Run = append(spec.Run, "--sandbox=true")
	}
	queue, err := q.open(ctx)
	if err != nil {
		return 0, err
	}
	if part.Key, err = q.key(part); err != nil {
		return 0, err
	}
	script, err := q.pack(r.Script)
	if err != nil {
		return 0, err
	}
	if script != nil {
		spec.Bundle, part.Bundle = script.Hash, script.Bundle
		if q.has(script) {
			part.Bundle = nil
		}
	}
	if policy := q.x.Policy(); policy != nil {
		if err := policy.Submit(); err != nil {
			return 0, err
		}
	}
	id, err := queue.SubmitPart(ctx, part)
	if err == nil && script != nil {
		q.mu.Lock()
		script.sent = true
		q.mu.Unlock()
	}
	return id, err
}

func (q *part) has(script *packed) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return script.sent
}

// key identifies a submission within the run, the same in each start, by its content and the number of equal
// ones before. The text of the script is not part of it: a corrected script is the same job.
func (q *part) key(p jobs.Part) (string, error) {
	own := runledger.Of(q.x)
	if own == nil {
		return "", nil
	}
	l, err := own.Open()
	if err != nil {
		return "", err
	}
	p.Spec.Run, p.Spec.Env, p.Spec.Folder = nil, nil, ""
	text, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.numbers[sum]++
	return fmt.Sprintf("%s/%x/%d", l.Ident(), sum[:12], q.numbers[sum]), nil
}

// pack packs a script with its modules, once in a run; nil for one of the binary.
func (q *part) pack(name string) (*packed, error) {
	if scripts.IsRef(name) {
		_, err := q.process.ScriptCode(name)
		return nil, err
	}
	file := q.find(name)
	if err := q.x.Interp.Permit(sandbox.Read, sandbox.Canonical(file)); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if earlier := q.packed[file]; earlier != nil {
		return earlier, nil
	}
	source := bundle.Source{Script: file, Manifest: sandbox.ManifestOf(file)}
	for _, dir := range q.job.Path {
		source.Path = append(source.Path, q.process.AbsPath(dir))
	}
	content, err := bundle.Make(source)
	if err != nil {
		return nil, err
	}
	q.packed[file] = &packed{Bundle: content}
	return q.packed[file], nil
}

// find returns the path of a script, from the current folder or next to the running script, with which it was
// packed.
func (q *part) find(name string) string {
	path := q.process.AbsPath(name)
	if _, err := os.Stat(path); err == nil || filepath.IsAbs(name) || q.job.Script == "" || q.job.Script == "-" ||
		scripts.IsRef(q.job.Script) {
		return path
	}
	sibling := filepath.Join(filepath.Dir(q.process.AbsPath(q.job.Script)), name)
	if _, err := os.Stat(sibling); err == nil {
		return sibling
	}
	return path
}
