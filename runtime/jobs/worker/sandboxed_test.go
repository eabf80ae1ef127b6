package worker

import (
	"strings"
	"testing"

	"transect/runtime/jobs"
	"transect/runtime/sandbox"
)

// A submitter cannot give a script more than its manifest does.
func TestSandboxed(t *testing.T) {
	t.Parallel()
	careful := Options{Sandbox: true, Policy: &sandbox.Rules{Sandbox: true}}
	for _, spec := range []jobs.Spec{
		{Run: []string{"--profile=company", "--deny=net", "--sandbox=true", "--dry-run=true"}, Env: []string{"TRANSECT_PROFILE=x", "TRANSECT_MAX_MEMORY=1GiB"}},
		{},
	} {
		if err := careful.sandboxed(spec, true); err != nil {
			t.Error(err)
		}
		if err := careful.sandboxed(spec, false); err == nil || !strings.Contains(err.Error(), "no manifest") {
			t.Error(err)
		}
	}
	for _, flag := range []string{"--allow=run", "--allow", "--no-manifest=true", "--learn=true", "--budget=deletes=1000", "--sandbox=false", "--sandbox", "--report=/home/me/.profile", "--path=/etc",
		"--password-file=/etc/shadow", "--", "-v", "other.lua", "", "--config=x", "--profile x"} {
		if err := careful.sandboxed(jobs.Spec{Run: []string{"--local=true", flag}}, true); err == nil || !strings.Contains(err.Error(), "is not allowed by this worker") {
			t.Errorf("%q: %v", flag, err)
		}
	}
	for _, variable := range []string{"LD_PRELOAD=/tmp/x.so", "PATH=/tmp", "TRANSECT_PATH=/etc", "TRANSECT_STATE_DIR=/tmp", "TRANSECT_METRICS=/tmp/x", "TRANSECT_JOB_LINK=1,2", "x"} {
		if err := careful.sandboxed(jobs.Spec{Env: []string{variable}}, true); err == nil || !strings.Contains(err.Error(), "is not allowed by this worker") {
			t.Errorf("%q: %v", variable, err)
		}
	}
}

// A file with a password is closed to scripts, unless the policy names it.
func TestClosed(t *testing.T) {
	t.Parallel()
	o := Options{Closed: []string{"/home/me/.pgpass"}}
	for _, c := range []struct {
		rules *sandbox.Rules
		opens bool
	}{
		{nil, false},
		{&sandbox.Rules{Deny: sandbox.List{sandbox.Net: {"*"}}}, false},
		{&sandbox.Rules{Allow: sandbox.List{sandbox.Read: {"/data"}}}, false},
		{&sandbox.Rules{Allow: sandbox.List{sandbox.Read: {"/home/me/.pgpass"}}}, true},
	} {
		closed := o.close(c.rules)
		err := sandbox.NewPolicy(*closed, "", false).Permit(sandbox.Read, "/home/me/.pgpass")
		if (err == nil) != c.opens {
			t.Errorf("%+v: %v", c.rules, err)
		}
		if c.rules == nil && sandbox.NewPolicy(*closed, "", false).Permit(sandbox.Read, "/home/me/other") != nil {
			t.Error("other files are closed as well")
		}
	}
	if (Options{}).close(nil) != nil {
		t.Error("without such a file nothing is limited")
	}
}
