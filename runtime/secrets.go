package runtime

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"

	"sync"
	"transect/client/transport"
)

const redacted = "[redacted]"

// secrets are those a run was started with, to be kept out of what is written
// about it.
type secrets struct {
	values []string
	with   *strings.Replacer
}

// shortestSecret is the length from which a value is replaced wherever it
// stands: shorter ones would eat ordinary words.
const shortestSecret = 4

// secretsOf finds the secrets of a job's connection, and the addresses it
// tells: who knows those can speak for the run.
func secretsOf(w *World, job *Job) *secrets {
	s := &secrets{}
	s.add(job.Attend.Ping, w.lookup("TRANSECT_SMTP_PASSWORD"))
	if strings.Contains(job.Attend.OnFailure, "://") {
		s.add(job.Attend.OnFailure)
	}
	if named, err := given(w, job.Connection); err == nil {
		s.add(named.Password, named.ClientSecret, named.AccessToken)
		for _, file := range []string{named.PasswordFile, named.ClientSecretFile, named.AccessTokenFile} {
			s.addFile(w.path(file))
		}
		s.addConfig(w.path(named.Config))
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, v := range s.values {
		pairs = append(pairs, v, redacted)
	}
	s.with = strings.NewReplacer(pairs...)
	return s
}

func (s *secrets) add(values ...string) {
	for _, v := range values {
		if len(v) >= shortestSecret {
			s.values = append(s.values, v)
		}
	}
}

// addFile adds what a secret's file holds. What is wrong with the file is told
// when it is used.
func (s *secrets) addFile(path string) {
	if info, err := os.Stat(path); path == "" || err != nil || !info.Mode().IsRegular() || info.Size() > largestSecret {
		return
	}
	if text, err := os.ReadFile(path); err == nil {
		s.add(strings.TrimRight(string(text), "\r\n"))
	}
}

// addConfig adds the secrets of a configuration file.
func (s *secrets) addConfig(path string) {
	if path == "" {
		return
	}
	text, err := os.ReadFile(path)
	var tree any
	if err != nil || json.Unmarshal(text, &tree) != nil {
		return
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				if text, ok := inner.(string); ok && secretName().MatchString(key) {
					s.add(text)
				}
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(tree)
}

// known takes the values out that are known to be secret.
func (s *secrets) known(text string) string {
	if len(s.values) == 0 {
		return text
	}
	return s.with.Replace(text)
}

// all takes out what looks like a secret, too.
func (s *secrets) all(text string) string { return transport.Redact(s.known(text)) }

var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|api_?-?key|access_?-?key)`)
})

// arguments are those of a script without secrets, also those that stand
// behind a name: --password x.
func (s *secrets) arguments(args []string) []string {
	shown := make([]string, len(args))
	hide := false
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		flag := strings.HasPrefix(arg, "-")
		switch {
		case hide && !flag:
			shown[i] = redacted
		case joined && value != "" && secretName().MatchString(name):
			shown[i] = name + "=" + redacted
		default:
			shown[i] = s.all(arg)
		}
		hide = flag && !joined && secretName().MatchString(name)
	}
	return shown
}

// splitList cuts a list at its commas.
func splitList(text string) []string {
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
