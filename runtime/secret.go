package runtime

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"transect/client/fault"
)

// largestSecret bounds what is read for a secret: a larger file is a slip.
const largestSecret = 64 << 10

// readSecret reads a password, secret or token from a file, without the line
// end editors put behind it.
func readSecret(log *slog.Logger, what, path string) (string, error) {
	wrong := func(format string, args ...any) error {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the "+what+" file %s "+format, append([]any{path}, args...)...),
			"it holds the %s and nothing else", what)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", wrong("does not exist")
	case err != nil:
		return "", wrong("cannot be read: %w", fault.Reason(err))
	case info.IsDir():
		return "", wrong("is a folder")
	case info.Size() > largestSecret:
		return "", wrong("is too large for a %s", what)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", wrong("cannot be read: %w", fault.Reason(err))
	}
	secret := strings.TrimRight(string(text), "\r\n")
	switch {
	case secret == "":
		return "", wrong("is empty")
	case strings.ContainsAny(secret, "\r\n"):
		return "", wrong("holds more than one line")
	}
	warnIfOpen(what, path, info, log)
	return secret, nil
}

// warnIfOpen warns of a file with secrets that other users can read.
func warnIfOpen(what, path string, info fs.FileInfo, log *slog.Logger) {
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		log.Warn("the "+what+" file is open to other users", "file", path, "hint", "chmod 600")
	}
}
