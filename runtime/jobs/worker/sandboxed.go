package worker

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/transport/httpcore"
	"transect/runtime/jobs"
	"transect/runtime/sandbox"
)

// harmless lists the flags of transect run that give a script no more access than its manifest. Others name
// files of the worker, or widen the manifest.
var harmless = []string{"bwlimit", "client-id", "connections", "deny", "dry-run", "grace", "local", "log-format",
	"max-instructions", "max-memory", "max-outage",
	"profile", "quiet", "rate", "revision", "sandbox", "settle", "stall-timeout", "timeout", "trace", "url", "user",
	"verbose"}

// widening lists flags that change only what the manifest allows: the policy of a worker limits it.
var widening = []string{"allow", "budget", "no-manifest"}

// sandboxed refuses, for a worker with a policy, flags and variables that bypass it, and with --sandbox
// scripts without a manifest and flags that widen it.
func (o Options) sandboxed(spec jobs.Spec, manifest bool) error {
	mode, allowed := "--policy", slices.Concat(harmless, widening)
	if o.Sandbox {
		mode, allowed = "--sandbox", harmless
		if !manifest {
			return fault.Hinted(fault.Of(&fault.UsageError{},
				"the script has no manifest, and this worker runs only scripts with one (--sandbox)"),
				"write one with: transect run --learn %s, and submit again", spec.Script)
		}
	}
	refuse := func(what string) error {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is not allowed by this worker (%s)", what, mode),
			"submit the job without it; logins come from a profile of the worker (--profile)")
	}
	check := func(what, name, value string) error {
		if !slices.Contains(allowed, name) || o.Sandbox && name == "sandbox" && value != "true" {
			return refuse(what)
		}
		if name == "url" && o.Policy != nil {
			u, err := url.Parse(value)
			if err != nil || sandbox.NewPolicy(*o.Policy, "", false).Permit(sandbox.Net, httpcore.HostPort(u)) != nil {
				return refuse(what + "=" + value)
			}
		}
		return nil
	}
	for _, flag := range spec.Run {
		whole, value, _ := strings.Cut(flag, "=")
		name, ok := strings.CutPrefix(whole, "--")
		if !ok {
			return refuse(whole)
		}
		if err := check(whole, name, value); err != nil {
			return err
		}
	}
	for _, variable := range spec.Env {
		whole, value, _ := strings.Cut(variable, "=")
		name, ok := strings.CutPrefix(whole, "TRANSECT_")
		if !ok {
			return refuse("the variable " + whole)
		}
		if err := check("the variable "+whole, strings.ToLower(strings.ReplaceAll(name, "_", "-")), value); err != nil {
			return err
		}
	}
	return nil
}

// sharesFolder reports whether a job may run in a folder of this machine named by its submitter. With a
// policy this needs permission to read and write it.
func (o Options) sharesFolder(folder string) bool {
	if o.Policy == nil {
		return true
	}
	policy := sandbox.NewPolicy(*o.Policy, "", false)
	real := sandbox.Canonical(folder)
	return policy.Permit(sandbox.Read, real) == nil && policy.Permit(sandbox.Write, real) == nil
}

// policy returns the permissions of a job: in addition to the worker's policy, access to the job's folder and
// read access to the unpacked script.
func (o Options) policy(w *work) *sandbox.Rules {
	folders := sandbox.List{sandbox.Read: {w.folder}, sandbox.Write: {w.folder}}
	if w.temp != "" {
		folders[sandbox.Read] = append(folders[sandbox.Read], w.temp)
	}
	rules := *o.Policy
	if rules.Allow = maps.Clone(rules.Allow); rules.Allow == nil {
		rules.Allow = sandbox.List{}
	}
	for kind, list := range folders {
		if _, limited := rules.Allow[kind]; limited || rules.Sandbox {
			rules.Allow[kind] = slices.Concat(rules.Allow[kind], list)
		}
	}
	return &rules
}

// close returns permissions, nil for all, without reading the files of o.Closed, unless the policy names them.
func (o Options) close(rules *sandbox.Rules) *sandbox.Rules {
	closed := sandbox.Rules{Deny: sandbox.List{}}
	for _, path := range o.Closed {
		path = sandbox.Canonical(path)
		if rules == nil || len(rules.Allow[sandbox.Read]) == 0 ||
			sandbox.NewPolicy(*rules, "", false).Permit(sandbox.Read, path) != nil {
			closed.Deny[sandbox.Read] = append(closed.Deny[sandbox.Read], path)
		}
	}
	switch {
	case len(closed.Deny) == 0:
		return rules
	case rules == nil:
		return &closed
	}
	closed = rules.Over(closed)
	closed.File = rules.File
	return &closed
}
