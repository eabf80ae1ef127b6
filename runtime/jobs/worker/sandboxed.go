package worker

import (
	"slices"
	"strings"

	"transect/client/fault"
	"transect/runtime/jobs"
)

// harmless are the flags of transect run with which a script reaches no more than its
// manifest says. Others name files of the worker, or widen the manifest.
var harmless = []string{"bwlimit", "client-id", "connections", "deny", "dry-run", "grace", "local", "log-format",
	"max-instructions", "max-memory", "max-outage",
	"profile", "quiet", "rate", "revision", "sandbox", "settle", "stall-timeout", "timeout", "trace", "url", "user",
	"verbose"}

// sandboxed refuses, for a worker with --sandbox, what has no manifest or goes round it.
func sandboxed(spec jobs.Spec, manifest bool) error {
	if !manifest {
		return fault.Hinted(fault.Of(&fault.UsageError{},
			"the script has no manifest, and this worker runs only scripts with one (--sandbox)"),
			"write one with: transect run --learn %s, and submit again", spec.Script)
	}
	refuse := func(what string) error {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is not allowed by this worker (--sandbox)", what),
			"submit the job without it; a login is that of a profile that the worker has (--profile)")
	}
	for _, flag := range spec.Run {
		whole, value, _ := strings.Cut(flag, "=")
		name, ok := strings.CutPrefix(whole, "--")
		if !ok || !slices.Contains(harmless, name) || name == "sandbox" && value != "true" {
			return refuse(whole)
		}
	}
	for _, variable := range spec.Env {
		whole, _, _ := strings.Cut(variable, "=")
		name, ok := strings.CutPrefix(whole, "TRANSECT_")
		if !ok || !slices.Contains(harmless, strings.ToLower(strings.ReplaceAll(name, "_", "-"))) {
			return refuse("the variable " + whole)
		}
	}
	return nil
}
