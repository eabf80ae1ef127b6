package runtime

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// Preflight refuses a job that cannot work: settings that do not resolve, a
// script that needs a platform when none is named, arguments that the script
// does not declare. It sends nothing and changes nothing.
func Preflight(ctx context.Context, p *Process, job Job) error {
	named, err := resolveConnection(p, job.Connection)
	if err != nil {
		return err
	}
	if err := job.Transfers.complete(p); err != nil {
		return err
	}
	if _, err := job.Sandbox.policy(p, job.Script); err != nil {
		return err
	}
	if err := checkArguments(ctx, p, job); err != nil || named.Local {
		return err
	}
	code, err := p.scriptCode(job.Script)
	if err != nil {
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

// argumentsTimeout is how long a script may take to its call of script.args.
const argumentsTimeout = 5 * time.Second

// checkArguments runs the script up to script.args, without permission to
// write, to connect or to run anything. Scripts that do not declare their
// arguments accept any.
func checkArguments(ctx context.Context, p *Process, job Job) error {
	silent := *p
	silent.Stdin, silent.Stdout, silent.Stderr, silent.Signals = strings.NewReader(""), io.Discard, io.Discard, nil
	silent.IsTerminal = func(any) bool { return false }
	all := []string{"*"}
	job.Sandbox = Sandbox{NoManifest: true, Rules: sandbox.Rules{Sandbox: true, Allow: sandbox.List{sandbox.Read: all, sandbox.Env: all}}}
	job.Limits = vm.Limits{Memory: 256 << 20}
	job.Timeout, job.Hooks, job.argsOnly = argumentsTimeout, Hooks{}, true
	err := Run(ctx, &silent, job)
	if _, wrong := errors.AsType[*fault.UsageError](err); wrong || is[*fault.SyntaxError](err) {
		return err
	}
	return ctx.Err()
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
