package unattended

import (
	"slices"
	"strings"

	"transect/client/transport"
	"transect/runtime"
	"transect/runtime/vm"
)

const redacted = "[redacted]"

// minSecret is the length from which a value is redacted wherever it occurs: shorter ones would match
// ordinary words.
const minSecret = 4

// redactor removes the secrets of a run from text about it.
type redactor struct{ replacer *strings.Replacer }

// newRedactor returns a redactor for the secrets of the connection and the notification URLs: with one of
// those anyone can send in the name of the run.
func newRedactor(p *runtime.Process, job *runtime.Job, options Options) *redactor {
	secrets := append(runtime.Secrets(p, job), options.Ping, p.Getenv("TRANSECT_SMTP_PASSWORD"))
	if strings.Contains(options.OnFailure, "://") {
		secrets = append(secrets, options.OnFailure)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			pairs = append(pairs, s, redacted)
		}
	}
	return &redactor{strings.NewReplacer(pairs...)}
}

// secrets removes the secrets of the run.
func (r *redactor) secrets(text string) string { return r.replacer.Replace(text) }

// all also removes text that looks like a secret.
func (r *redactor) all(text string) string { return transport.Redact(r.secrets(text)) }

// Arguments returns the arguments of a job as the history has them.
func Arguments(p *runtime.Process, job *runtime.Job, options Options) []string {
	return newRedactor(p, job, options).arguments(job.Args)
}

// arguments returns the arguments of a script without secrets, including values that follow the name of one:
// --password x.
func (r *redactor) arguments(args []string) []string {
	shown := make([]string, len(args))
	hide := false
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		flag := strings.HasPrefix(arg, "-")
		switch {
		case hide && !flag:
			shown[i] = redacted
		case joined && value != "" && vm.IsSecretName(name):
			shown[i] = name + "=" + redacted
		default:
			shown[i] = r.all(arg)
		}
		hide = flag && !joined && vm.IsSecretName(name)
	}
	return shown
}

// PlatformName names the platform and the user of a connection as the settings do, without secrets: the same settings
// have the same name.
func PlatformName(p *runtime.Process, flags runtime.Connection) string {
	c, err := runtime.ResolveConnection(p, flags)
	switch {
	case err != nil:
		return ""
	case c.Local && c.LocalDir == "":
		return "local"
	case c.Local:
		return "local " + p.AbsPath(c.LocalDir)
	}
	var words []string
	if c.Config != "" {
		c.Config = p.AbsPath(c.Config)
	}
	for _, word := range []string{c.URL, c.User, c.ClientID, c.Config, c.Profile} {
		if word != "" {
			words = append(words, transport.Redact(word))
		}
	}
	return strings.Join(words, " ")
}
