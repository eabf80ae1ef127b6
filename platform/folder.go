package platform

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/platform/blob"
	"transect/platform/store"
)

// folderVersion is the version of the folder's layout, written into its stamp.
const folderVersion = 1

// The files of the folder. Reset deletes these and no others.
const (
	stampFile    = "transect-platform.json" // marks the folder as ours; written first, deleted last
	lockFile     = "lock"                   // locked while the folder is being created
	secretsFile  = "secrets.json"
	databaseFile = "platform.db"
	jobsFile     = "jobs.lock" // locked by the process that runs the jobs
)

var entries = []string{
	databaseFile, databaseFile + "-wal", databaseFile + "-shm", secretsFile, "blobs", "packs", "incoming", jobsFile, lockFile, stampFile,
}

func databasePath(dir string) string { return filepath.Join(dir, databaseFile) }

// stamp marks the folder of a local platform.
type stamp struct {
	Folder  string `json:"folder"`
	Version int    `json:"version"`
}

const stampText = "local platform of transect"

// secrets are random, created with the folder, and readable by its owner only.
type secrets struct {
	Credentials
	UserID string `json:"user_id"`
	Key    []byte `json:"key"` // signs storage addresses
}

// openFolder returns the secrets of a folder, creating both when it is missing.
func openFolder(ctx context.Context, dir string) (secrets, error) {
	if dir == "" {
		return secrets{}, fault.Hinted(fault.Of(&fault.PlatformError{}, "no folder given for the local platform"),
			"name one with --local-dir")
	}
	found, err := checkStamp(dir)
	if err != nil {
		return secrets{}, err
	}
	if found {
		if s, err := readSecrets(dir); !errors.Is(err, os.ErrNotExist) {
			return s, err
		}
		// Another process is creating the folder, or was killed while it did.
	}
	return makeFolder(ctx, dir)
}

// checkStamp reports whether the folder is that of a local platform. It fails when
// the folder is something else or of a newer version.
func checkStamp(dir string) (bool, error) {
	data, err := os.ReadFile(filepath.Join(dir, stampFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		err := checkUnused(dir)
		if _, statErr := os.Stat(filepath.Join(dir, stampFile)); err != nil && statErr == nil {
			return checkStamp(dir) // another process created it meanwhile
		}
		return false, err
	case err != nil:
		return false, cannotUse(dir, err)
	}
	var s stamp
	if err := json.Unmarshal(data, &s); err != nil || s.Folder != stampText || s.Version < 1 {
		return false, damaged(dir, "%s is invalid", stampFile)
	}
	if s.Version > folderVersion {
		return false, newer(dir)
	}
	return true, nil
}

// checkUnused refuses a folder with files that are not ours.
func checkUnused(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return cannotUse(dir, err)
	}
	for _, entry := range list {
		// A process that was killed here may have left a temporary file.
		if entry.Name() != lockFile && entry.Name() != stampFile && !strings.HasPrefix(entry.Name(), ".transect-") {
			return fault.Hinted(fault.Of(&fault.PlatformError{},
				"%s is not the folder of a local platform and is not empty (%s)", dir, entry.Name()),
				"name an empty or a new folder with --local-dir")
		}
	}
	return nil
}

func readSecrets(dir string) (s secrets, err error) {
	data, err := os.ReadFile(filepath.Join(dir, secretsFile))
	if errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	if err != nil {
		return s, cannotUse(dir, err)
	}
	if err := json.Unmarshal(data, &s); err != nil || s.Password == "" || len(s.Key) == 0 || !store.IsID(s.Company) {
		return s, damaged(dir, "%s cannot be read", secretsFile)
	}
	return s, nil
}

// makeFolder creates the folder, its stamp and its secrets, one process at a
// time. It finishes what a killed process began.
func makeFolder(ctx context.Context, dir string) (s secrets, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s, cannotUse(dir, err)
	}
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return s, cannotUse(dir, err)
	}
	defer lock.Unlock()
	if err := os.Chmod(dir, 0o700); err != nil {
		return s, cannotUse(dir, err)
	}
	if s, err = readSecrets(dir); !errors.Is(err, os.ErrNotExist) {
		return s, err // another process created them meanwhile
	}
	if _, err := os.Stat(databasePath(dir)); err == nil {
		return s, damaged(dir, "%s is missing", secretsFile)
	}
	if err := writeFile(dir, stampFile, stamp{Folder: stampText, Version: folderVersion}); err != nil {
		return s, cannotUse(dir, err)
	}
	var ids store.IDs
	s = secrets{Credentials: Credentials{
		User:         "local@transect.invalid",
		Password:     randomText(),
		ClientID:     randomText(),
		ClientSecret: randomText(),
		Company:      ids.Next(time.Now()),
	}, UserID: ids.Next(time.Now()), Key: make([]byte, 32)}
	rand.Read(s.Key)
	if err := writeFile(dir, secretsFile, s); err != nil {
		return s, cannotUse(dir, err)
	}
	return s, nil
}

// writeFile replaces a file with a value as JSON.
func writeFile(dir, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, name), append(data, '\n'), 0o600)
}

// randomText returns 24 random characters.
func randomText() string {
	var b [18]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func cannotUse(dir string, err error) error {
	return fault.Hinted(fault.Of(&fault.PlatformError{}, "cannot use the local platform's folder %s: %w", dir, err),
		"check its permissions and the free space, or name another folder with --local-dir")
}

func damaged(dir, format string, args ...any) error {
	return fault.Hinted(fault.Of(&fault.PlatformError{}, "the local platform's folder %s is damaged: %s", dir,
		fmt.Sprintf(format, args...)),
		"restore it from a copy, or remove its data with: transect platform reset")
}

func newer(dir string) error {
	return fault.Hinted(fault.Of(&fault.PlatformError{},
		"the local platform's folder %s was created by a newer version of transect", dir),
		"upgrade transect, or name another folder with --local-dir")
}

func databaseFault(ctx context.Context, dir string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, store.ErrCorrupt):
		return damaged(dir, "%v", err)
	case errors.Is(err, store.ErrNewer):
		return newer(dir)
	case errors.Is(err, blob.ErrPacksInUse):
		return fault.Hinted(fault.Of(&fault.PlatformError{}, "cannot use the local platform's folder %s: %w", dir, err),
			"stop that process, then try again")
	}
	return cannotUse(dir, err)
}

// Reset deletes a local platform with all its data. It deletes only what Open
// creates, and only in a folder that Open created. A missing folder is no error.
func Reset(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// The stamp may be damaged or of a newer version: such folders need a reset.
	if _, err := os.Stat(filepath.Join(dir, stampFile)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fault.Hinted(fault.Of(&fault.PlatformError{}, "%s is not the folder of a local platform; nothing was deleted", dir),
				"name the folder with --local-dir")
		}
		return cannotUse(dir, err)
	}
	// Temporary files of a process that was killed while it created the folder.
	left, err := filepath.Glob(filepath.Join(dir, ".transect-*"))
	if err != nil {
		return cannotUse(dir, err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return cannotUse(dir, err)
		}
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry)); err != nil {
			return cannotUse(dir, err)
		}
	}
	// Other files stay, and the folder with them.
	if left, err := os.ReadDir(dir); err == nil && len(left) == 0 {
		if err := os.Remove(dir); err != nil {
			return cannotUse(dir, err)
		}
	}
	return nil
}
