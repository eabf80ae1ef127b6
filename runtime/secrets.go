package runtime

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"transect/client/fault"
	"transect/runtime/vm"
)

// maxSecret is the largest file that is read for a secret.
const maxSecret = 64 << 10

// readSecret reads a password, secret or token from a file, without the line
// end that editors add.
func readSecret(log *slog.Logger, name, path string) (string, error) {
	failed := func(format string, args ...any) error {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the "+name+" file %s "+format, append([]any{path}, args...)...),
			"it must contain the %s and nothing else", name)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && filepath.Base(path) == "-":
		return "", fault.Hinted(fault.Of(&fault.ConfigError{}, "the %s file - does not exist", name),
			"standard input is /dev/stdin")
	case errors.Is(err, fs.ErrNotExist):
		return "", failed("does not exist")
	case err != nil:
		return "", failed("cannot be read: %w", fault.Reason(err))
	case info.IsDir():
		return "", failed("is a folder")
	case info.Size() > maxSecret:
		return "", failed("is too large for a %s", name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", failed("cannot be read: %w", fault.Reason(err))
	}
	secret := strings.TrimRight(string(text), "\r\n")
	switch {
	case secret == "":
		return "", failed("is empty")
	case strings.ContainsAny(secret, "\r\n"):
		return "", failed("has more than one line")
	}
	warnIfReadable(name, path, info, log)
	return secret, nil
}

// warnIfReadable warns about a file of secrets that other users can read.
func warnIfReadable(name, path string, info fs.FileInfo, log *slog.Logger) {
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		log.Warn("other users can access the "+name+" file", "file", path, "hint", "chmod 600")
	}
}

// Secrets lists the secret values of a job's connection, also from files, so
// that they can be redacted. Files that cannot be read are skipped: they are
// reported when they are used.
func Secrets(p *Process, job *Job) []string {
	named, err := ResolveConnection(p, job.Connection)
	if err != nil {
		return nil
	}
	secrets := []string{named.Password, named.ClientSecret, named.AccessToken}
	for _, file := range []string{named.PasswordFile, named.ClientSecretFile, named.AccessTokenFile} {
		path := p.Path(file)
		if info, err := os.Stat(path); path == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxSecret {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			secrets = append(secrets, strings.TrimRight(string(text), "\r\n"))
		}
	}
	if text, err := os.ReadFile(p.Path(named.Config)); err == nil {
		var tree any
		if json.Unmarshal(text, &tree) == nil {
			secrets = append(secrets, secretsIn(tree)...)
		}
	}
	return secrets
}

// secretsIn finds the values of a configuration file whose keys name secrets.
func secretsIn(tree any) (secrets []string) {
	switch tree := tree.(type) {
	case map[string]any:
		for key, value := range tree {
			if text, ok := value.(string); ok && vm.IsSecretName(key) {
				secrets = append(secrets, text)
			}
			secrets = append(secrets, secretsIn(value)...)
		}
	case []any:
		for _, value := range tree {
			secrets = append(secrets, secretsIn(value)...)
		}
	}
	return secrets
}
