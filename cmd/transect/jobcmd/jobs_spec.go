package jobcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/cmd/transect/cli"
	"transect/runtime"
	"transect/runtime/jobrun"
	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/setting"
	"transect/runtime/sandbox"
	"transect/runtime/scriptargs"
	"transect/runtime/unattended"
	"transect/runtime/vm"
	"transect/scripts"
)

// jobFlags are the flags that describe a job: its settings, and the options of a run
// that travel with it.
type jobFlags struct {
	settings setting.Settings
	on       string
	include  []string
	job      runtime.Job
	cmd      *cobra.Command
}

// jobFlags adds the flags to a command that makes jobs.
func (a commands) jobFlags(cmd *cobra.Command) *jobFlags {
	f := &jobFlags{cmd: cmd, settings: setting.Defaults()}
	flags := cmd.Flags()
	flags.SortFlags = false
	cli.AddOptions(flags, settingOptions(f.settings.List())...)
	cli.AddOptions(flags,
		cli.Option{Name: "on", Kind: "HOST", Doc: "run the job on the worker of this name, where its files are",
			Parse: cli.ToString(&f.on)},
		cli.Option{Name: "include", Kind: "PATH",
			Doc:   "another file or folder next to the script to send with it, may be repeated",
			Parse: func(path string) error { f.include = append(f.include, path); return nil }})
	cmd.MarkFlagsMutuallyExclusive("queue", "on")
	a.AddRunOptions(flags, &f.job, &unattended.Options{}, cli.OnJob)
	flags.SetInterspersed(false)
	return f
}

// settingOptions returns the flags of job settings.
func settingOptions(list []*setting.Setting) (options []cli.Option) {
	for _, d := range list {
		options = append(options, cli.Option{Name: d.Name, Env: d.Env, Kind: d.Kind, Value: d.Default, Doc: d.Doc,
			Parse: d.Set})
	}
	return options
}

// jobSpec builds the job of a command line; words are the script and its arguments. The script is packed with
// what it requires; the bundle is nil for built-in scripts.
func (a commands) jobSpec(ctx context.Context, f *jobFlags, words []string) (jobs.Spec, *bundle.Bundle, error) {
	var none jobs.Spec
	if len(words) == 0 {
		return none, nil, fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: survey.lua")
	}
	if words[0] == "-" {
		return none, nil, fault.Hinted(fault.Of(&fault.UsageError{}, "a job cannot read its script from standard input"),
			"name a file")
	}
	flags := f.cmd.Flags()
	spec := jobs.Spec{Script: words[0], Args: words[1:], Run: cli.Carried(flags),
		Env: a.Environment(cli.CarriedVariables(flags)), User: a.UserName()}
	if err := a.Complete(flags, &f.job); err != nil {
		return none, nil, err
	}
	if spec.Settings = f.settings; f.on != "" {
		spec.Queue = f.on
	}
	f.job.Script, f.job.Args = words[0], words[1:]
	all := slices.Concat(spec.Env, spec.Run, words, []string{"--on-failure=" + spec.OnFailure, "--ping=" + spec.Ping})
	if err := a.noSecret(all); err != nil {
		return none, nil, err
	}
	isFlag := func(name string) bool { return flags.Lookup(name) != nil }
	if err := scriptargs.MisplacedFlag(a.Process, words[0], words[1:], f.cmd.CommandPath(), isFlag); err != nil {
		return none, nil, err
	}
	if _, err := runtime.PreflightScript(a.Process, f.job); err != nil {
		return none, nil, err
	}
	if err := scriptargs.Check(a.Process, f.job); err != nil {
		return none, nil, err
	}
	folder, err := filepath.Abs(a.Process.Dir)
	if err != nil {
		return none, nil, fault.Of(&fault.ConfigError{}, "cannot find the current folder: %w", err)
	}
	spec.Folder = folder
	if scripts.IsRef(words[0]) {
		return spec, nil, nil
	}
	packed, err := bundle.Make(a.bundleSource(words[0], f))
	if err != nil {
		return none, nil, err
	}
	spec.Bundle = packed.Hash
	if len(f.include) == 0 && !a.Output.Quiet {
		for _, at := range packed.Computed {
			fmt.Fprintf(a.Process.Stderr,
				"%s: the name of this module is computed at run time; it is packed with the job only if --include PATH names its "+
					"file or folder\n", at)
		}
	}
	return spec, packed, nil
}

func (a commands) bundleSource(script string, f *jobFlags) bundle.Source {
	source := bundle.Source{Script: a.Process.AbsPath(script)}
	if !f.job.Sandbox.NoManifest {
		source.Manifest = a.Process.AbsPath(sandbox.ManifestOf(script))
	}
	for _, dir := range f.job.Path {
		source.Path = append(source.Path, a.Process.AbsPath(dir))
	}
	for _, path := range f.include {
		source.Include = append(source.Include, a.Process.AbsPath(path))
	}
	return source
}

// Options lets the script of transect run submit jobs.
func (Part) Options(job *runtime.Job) []cli.Option {
	submitting := &jobrun.Settings{}
	*job = job.With(submitting)
	return []cli.Option{addressOption(&submitting.URL)}
}

// Complete says how scripts submit jobs, and connects the script of a job to its worker.
func (Part) Complete(a *cli.App, cmd *cobra.Command, job *runtime.Job) error {
	submitting := runtime.PartOf[*jobrun.Settings](job.Parts)
	submitting.Template = commands{a}.partOfRun(cmd.Flags())
	if err := noPasswordInFlag(cmd, "jobs", submitting.URL); err != nil {
		return err
	}
	return jobrun.FromWorker(a.Process, job)
}

// Archive finds the runs of jobs.
func (Part) Archive(a *cli.App, cmd *cobra.Command) (open func() (cli.Archive, error)) {
	archive := &jobrun.Archive{Process: a.Process}
	AddFlag(cmd, &archive.URL)
	return func() (cli.Archive, error) { return archive, noPasswordInFlag(cmd, "jobs", archive.URL) }
}

// partOfRun builds the jobs that a script of transect run submits, with the run's flags that jobs accept, and
// its variables.
func (a commands) partOfRun(flags *pflag.FlagSet) func(script string, args []string) (jobs.Spec, error) {
	return func(script string, args []string) (spec jobs.Spec, err error) {
		spec = jobs.Spec{Run: cli.Carried(flags), Env: a.Environment(cli.CarriedVariables(flags)), User: a.UserName()}.Part()
		if spec.Folder, err = filepath.Abs(a.Process.Dir); err != nil {
			return spec, fault.Of(&fault.ConfigError{}, "cannot find the current folder: %w", err)
		}
		return spec, a.noSecret(slices.Concat(spec.Env, spec.Run, []string{script}, args))
	}
}

// noSecret refuses what would put a secret into the database of jobs.
func (a commands) noSecret(words []string) error {
	if err := cli.NoPassword("in the database of jobs", words); err != nil {
		return err
	}
	secrets := map[string]string{}
	for _, s := range runtime.Secrets(a.Process, &runtime.Job{}) {
		secrets[s] = "a secret of a login"
	}
	for _, name := range append(a.SecretVariables(), "PGPASSWORD") {
		secrets[a.Process.Getenv(name)] = "the value of " + name
	}
	password, _ := jobs.Login(a.Process.Getenv("TRANSECT_JOBS"))
	secrets[password] = "the password of the jobs database"
	delete(secrets, "")
	whole := map[string]string{} // variables of other programs: their values may be parts of ordinary words
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); vm.IsSecretName(name) && len(value) >= longSecret {
			whole[value] = name
		}
	}
	for i, word := range words {
		name, value, joined := strings.Cut(word, "=")
		if strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-file") && (joined || i+1 < len(words)) &&
			vm.IsSecretName(strings.TrimLeft(name, "-")) {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s would be stored in the jobs database", name),
				"let the script read it where the job runs, from a variable of the worker or from a file")
		}
		for _, text := range []string{word, value} {
			if name := whole[text]; name != "" {
				secrets[text] = "the value of " + name
			}
		}
		for secret, what := range secrets {
			if holdsSecret(word, secret) {
				return fault.Hinted(fault.Of(&fault.UsageError{},
					"an argument contains %s, which would be stored in the jobs database", what),
					"the worker needs a login of its own: transect login there, or a file that --password-file names")
			}
		}
	}
	return nil
}

const longSecret = 8 // bytes that are no ordinary word

// holdsSecret reports whether a word of a command, or its value, is or contains a secret. Short secrets are
// only matched as whole words: they may be ordinary words.
func holdsSecret(word, secret string) bool {
	_, value, _ := strings.Cut(word, "=")
	return word == secret || value == secret || len(secret) >= longSecret && strings.Contains(word, secret)
}
