package runtime

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"

	"transect/client"
	"transect/client/fault"
	"transect/runtime/vm"
	"transect/stdlib"
	"transect/stdlib/argparse"
)

// Preflight refuses a job that cannot work: settings that do not resolve, a
// script that needs a platform when none is named, arguments that the script
// does not declare. It sends nothing and changes nothing.
func Preflight(ctx context.Context, p *Process, job Job) error {
	named, err := resolveConnection(p, job.Connection)
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

// PreflightScript checks what does not depend on the platform, for a job that
// another machine will run: script, arguments, rules. It returns the script.
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
	return code, checkArguments(p, job, code)
}

// checkArguments refuses arguments that the script does not declare. Scripts
// that declare none accept any.
func checkArguments(p *Process, job Job, code []byte) error {
	if err := vm.Check(job.Script, bytes.TrimPrefix(code, []byte("\xef\xbb\xbf"))); err != nil {
		return vm.SyntaxError(job.Script, code, err)
	}
	spec, err := stdlib.DeclaredArgs(job.Script, code)
	if err != nil || spec == nil || spec.HelpAsked(job.Args) {
		return err
	}
	_, err = spec.Parse(job.Args, p.Env)
	return err
}

// MisplacedFlag refuses a flag of the command, such as transect run, that stands after a script which
// has no argument of that name: it would do nothing, and the script would run
// against another platform, or in earnest.
func MisplacedFlag(p *Process, script string, args []string, command string, isFlag func(name string) bool) error {
	if len(args) == 0 || script == "-" {
		return nil
	}
	code, err := p.ScriptCode(script)
	if err != nil {
		return nil // the run reports it
	}
	spec, err := stdlib.DeclaredArgs(script, code)
	if err != nil {
		return nil
	}
	for _, arg := range args {
		name, isLong := strings.CutPrefix(arg, "--")
		if arg == "--" {
			return nil
		}
		name, _, _ = strings.Cut(name, "=")
		if isLong && isFlag(name) && !takesFlag(spec, code, name) {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "--%s stands after the script, which has no such argument", name),
				"flags of %[1]s go before the script: %[1]s --%[2]s … %[3]s", command, name, script)
		}
	}
	return nil
}

// takesFlag reports whether a script may have an argument of a name: it declares
// it, mentions it, or goes through its arguments.
func takesFlag(spec *argparse.Spec, code []byte, name string) bool {
	if spec != nil {
		return spec.Args[strings.ReplaceAll(name, "-", "_")] != nil
	}
	mentioned := regexp.MustCompile(`["']--` + regexp.QuoteMeta(name))
	return mentioned.Match(code) || anyArgument().Match(oneArgument().ReplaceAll(code, nil))
}

var (
	oneArgument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#\s*arg\b|\barg\[\d+\]`) })
	anyArgument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\barg\b|\.\.\.|\.args\b`) })
)

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
