package runtime

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"transect/client"
	"transect/runtime/vm"
)

// Preflight returns an error for a job that cannot work: settings that do not resolve, a script that needs a
// platform when none is named. It sends nothing and changes nothing.
func Preflight(ctx context.Context, p *Process, job Job) error {
	named, err := ResolveConnection(p, job.Connection)
	if err != nil {
		return err
	}
	code, err := PreflightScript(p, job)
	if err != nil || named.Local {
		return err
	}
	anything := named.URL != "" || named.Config != "" || named.Profile != ""
	if !anything && !needsPlatform(string(code)) {
		return nil
	}
	x := newExecution(ctx, p, &job, named)
	defer x.Interp.Close()
	var s client.Settings
	if err := x.connector.fill(&s, named); err != nil {
		return err
	}
	_, err = s.Resolve()
	return err
}

// PreflightScript checks what does not depend on the platform, for a job that another machine will run: script and
// rules. It returns the script.
func PreflightScript(p *Process, job Job) (code []byte, err error) {
	if err := job.Transfers.complete(p); err != nil {
		return nil, err
	}
	if _, err := job.Sandbox.policy(p, job.Script); err != nil {
		return nil, err
	}
	if code, err = p.ScriptCode(job.Script); err != nil {
		return nil, err
	}
	if err := vm.Check(job.Script, bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))); err != nil {
		return nil, vm.SyntaxError(job.Script, code, err)
	}
	return code, nil
}

// needsPlatform reports whether a script uses the platform of the command line:
// it loads a manager and does not connect by itself.
func needsPlatform(code string) bool {
	names := []string{"sdk", "ingest"}
	for _, m := range client.Declarations() {
		names = append(append(names, m.Name), m.Aliases...)
	}
	loads := regexp.MustCompile(`require\s*\(?\s*["'](` + strings.Join(names, "|") + `)["']`)
	return loads.MatchString(code) && !strings.Contains(code, ".connect")
}
