package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/sandbox"
)

// work is the setup of a job's process.
type work struct {
	folder    string         // working directory
	args      []string       // of transect
	temp      string         // removed at the end
	scriptDir string         // folder of the script before it was packed
	policy    *sandbox.Rules // limits the script; nil without one
}

func (w *work) remove() {
	if w.temp != "" {
		_ = os.RemoveAll(w.temp)
	}
}

// localName names the job in the folders of this machine, which may have run jobs of several databases.
func (a *attempt) localName() string {
	return jobs.RunID(a.job.ID) + "-" + strconv.FormatInt(a.job.Created.Unix(), 36)
}

// prepare unpacks the script and chooses the folder.
func (a *attempt) prepare(ctx context.Context) (_ *work, err error) {
	spec, o := a.job.Spec, a.s.w.o
	w := &work{folder: spec.Folder}
	info, err := os.Stat(spec.Folder)
	there := spec.Folder != "" && err == nil && info.IsDir()
	if !there || !o.sharesFolder(spec.Folder) {
		w.folder = a.s.w.folder("folders", a.localName())
		if err := os.MkdirAll(w.folder, 0o700); err != nil {
			return nil, fault.Of(&fault.FileError{}, "cannot make the folder of the job: %w", fault.Reason(err))
		}
		switch {
		case there:
			a.log.say("the policy of this worker does not open the folder %s: the job runs in %s", spec.Folder, w.folder)
		case spec.Folder != "":
			a.log.say("the folder %s is not on this machine: the job runs in %s", spec.Folder, w.folder)
		}
	}
	script := spec.Script
	w.scriptDir = filepath.Dir(script)
	if rel, err := filepath.Rel(spec.Folder, w.scriptDir); err == nil && filepath.IsAbs(script) && filepath.IsLocal(rel) {
		w.scriptDir = rel
	}
	if !filepath.IsAbs(w.scriptDir) {
		w.scriptDir = filepath.Join(w.folder, w.scriptDir)
	}
	w.args = append([]string{"run", "--run", jobs.RunID(a.job.ID)}, spec.Run...)
	manifest := false
	if spec.Bundle != "" {
		content, err := a.bundle(ctx)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(a.s.w.folder("scripts"), 0o700); err != nil {
			return nil, fault.Of(&fault.FileError{}, "cannot unpack the script: %w", fault.Reason(err))
		}
		w.temp = a.s.w.folder("scripts", fmt.Sprintf("%s.%d", a.localName(), a.number))
		_ = os.RemoveAll(w.temp) // left by a killed worker
		unpacked, err := bundle.Unpack(content, spec.Bundle, w.temp)
		if err != nil {
			w.remove()
			return nil, err
		}
		for _, dir := range unpacked.Path {
			w.args = append(w.args, "--path", dir)
		}
		if rel, err := filepath.Rel(w.folder, w.scriptDir); w.folder != spec.Folder && err == nil && filepath.IsLocal(rel) {
			if err := unpacked.Place(w.scriptDir); err != nil { // scripts name them as seen from their folder
				w.remove()
				return nil, fault.Of(&fault.FileError{}, "cannot place the files of the job: %w", fault.Reason(err))
			}
		}
		script = unpacked.Main
		a.unpacked = filepath.Dir(script) + string(filepath.Separator)
		_, missing := os.Stat(strings.TrimSuffix(script, ".lua") + ".allow.json")
		manifest = missing == nil
	}
	if o.Policy != nil {
		if err := o.sandboxed(spec, manifest); err != nil {
			w.remove()
			return nil, err
		}
		w.policy = o.policy(w)
	}
	w.policy = o.close(w.policy)
	if o.Sandbox {
		w.args = append(w.args, "--sandbox=true") // a manifest may limit some kinds of access only
	}
	if spec.Timeout > 0 {
		w.args = append(w.args, "--timeout", spec.Timeout.String())
	}
	w.args = append(append(w.args, "--", script), spec.Args...)
	return w, nil
}

// bundle returns the packed script, which the job before often had as well.
func (a *attempt) bundle(ctx context.Context) ([]byte, error) {
	last := a.s.w.bundle.Load()
	if last == nil || last.hash != a.job.Spec.Bundle {
		last = &packed{hash: a.job.Spec.Bundle}
		if err := a.s.retry(ctx, a.slow, func(ctx context.Context) (err error) {
			last.content, err = a.s.store.Bundle(ctx, last.hash)
			return err
		}); err != nil {
			return nil, err
		}
		a.s.w.bundle.Store(last)
	}
	return last.content, nil
}
