// Package scriptargs checks the arguments of a script before it runs, by what script.args declares in it.
package scriptargs

import (
	"regexp"
	"strings"
	"sync"

	"transect/client/fault"
	"transect/runtime"
	"transect/stdlib"
	"transect/stdlib/argparse"
)

// Check returns an error for arguments that the script does not declare. Scripts that declare none accept any.
func Check(p *runtime.Process, job runtime.Job) error {
	code, err := p.ScriptCode(job.Script)
	if err != nil {
		return err
	}
	spec, err := stdlib.DeclaredArgs(job.Script, code)
	if err != nil || spec == nil || spec.HelpAsked(job.Args) {
		return err
	}
	_, err = spec.Parse(job.Args, p.Env)
	return err
}

// MisplacedFlag refuses a flag of the command, such as transect run, after a script that has no argument of
// that name: it would have no effect, and the script would run against another platform, or without
// --dry-run.
func MisplacedFlag(p *runtime.Process, script string, args []string, command string,
	isFlag func(name string) bool) error {
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
			return fault.Hinted(fault.Of(&fault.UsageError{}, "--%s comes after the script, which has no such argument", name),
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
