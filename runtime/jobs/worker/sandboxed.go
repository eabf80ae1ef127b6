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

// harmless are the flags of transect run with which a script reaches no more than its
// manifest says. Others name files of the worker, or widen the manifest.
var harmless = []string{"bwlimit", "client-id", "connections", "deny", "dry-run", "grace", "local", "log-format",
	"max-instructions", "max-memory", "max-outage",
	"profile", "quiet", "rate", "revision", "sandbox", "settle", "stall-timeout", "timeout", "trace", "url", "user",
	"verbose"}

// widening are those that change no more than what the manifest allows: the policy of
// a worker bounds it.
var widening = []string{"allow", "budget", "no-manifest"}

// sandboxed refuses, for a worker with a policy, flags and variables that go round it,
// and with --sandbox scripts that have no manifest, and what widens one.
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
			"submit the job without it; a login is that of a profile that the worker has (--profile)")
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

// sharesFolder reports whether a job may run in a folder of this machine that its
// submitter named. With a policy that takes the permission to read and to write it.
func (o Options) sharesFolder(folder string) bool {
	if o.Policy == nil {
		return true
	}
	policy := sandbox.NewPolicy(*o.Policy, "", false)
	real := sandbox.Canonical(folder)
	return policy.Permit(sandbox.Read, real) == nil && policy.Permit(sandbox.Write, real) == nil
}

// policy is what the worker permits a job: in addition to its own policy, the job's
// folder and, for reading, what was unpacked with the script.
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
