package platform

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/schema"
	"transect/platform/internal/store"
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
	databaseFile, databaseFile + "-wal", databaseFile + "-shm", secretsFile, "blobs", "packs", "incoming", jobsFile,
	servedFile, servedLock, lockFile, stampFile,
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
func openFolder(ctx context.Context, dir string, home string) (secrets, error) {
	if dir == "" {
		return secrets{}, fault.Hinted(fault.Of(&fault.PlatformError{}, "no folder given for the local platform"),
			"name one with --local-dir")
	}
	s, err := readFolder(dir)
	if errors.Is(err, os.ErrNotExist) {
		// Another process may be creating the folder, or was killed while it did.
		s, err = makeFolder(ctx, dir, home)
	}
	return s, err
}

// readFolder returns the secrets of a folder, or os.ErrNotExist where its stamp
// or its secrets are missing.
func readFolder(dir string) (s secrets, err error) {
	var mark stamp
	if err := readFile(dir, stampFile, &mark); err != nil {
		return s, err
	}
	if mark.Folder != stampText || mark.Version < 1 {
		return s, damaged(dir, "%s is invalid", stampFile)
	}
	if mark.Version > folderVersion {
		return s, newer(dir)
	}
	err = readFile(dir, secretsFile, &s)
	if err == nil && (s.Password == "" || len(s.Key) == 0 || !schema.IsID(s.Company)) {
		err = damaged(dir, "%s cannot be read", secretsFile)
	}
	return s, err
}

// checkUnused refuses a folder with files that are not ours.
func checkUnused(dir string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	foreign := ""
	for _, entry := range list {
		switch name := entry.Name(); {
		case name == stampFile:
			return nil
		// A process that was killed here may have left a temporary file.
		case name != lockFile && !strings.HasPrefix(name, ".transect-"):
			foreign = name
		}
	}
	if foreign == "" {
		return err
	}
	return fault.Hinted(fault.Of(&fault.PlatformError{}, "%s is not the folder of a local platform and is not empty (%s)",
		dir, foreign),
		"name an empty or a new folder with --local-dir")
}

// makeFolder creates the folder, its stamp and its secrets, one process at a
// time. It finishes what a killed process began.
func makeFolder(ctx context.Context, dir string, home string) (s secrets, err error) {
	if err := checkUnused(dir); err != nil {
		return s, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s, err
	}
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return s, err
	}
	defer lock.Unlock()
	if err := os.Chmod(dir, 0o700); err != nil {
		return s, err
	}
	if s, err = readFolder(dir); !errors.Is(err, os.ErrNotExist) {
		return s, err // another process created it meanwhile
	}
	if _, err := os.Stat(databasePath(dir)); err == nil {
		return s, damaged(dir, "%s is missing", secretsFile)
	}
	if err := writeFile(dir, stampFile, stamp{Folder: stampText, Version: folderVersion}); err != nil {
		return s, err
	}
	s = secrets{Credentials: Credentials{
		User:         "local@transect.invalid",
		Password:     randomText(),
		ClientID:     randomText(),
		ClientSecret: randomText(),
		Company:      seedID(home, 1),
	}, UserID: seedID(home, 2), Key: make([]byte, 32)}
	rand.Read(s.Key)
	return s, writeFile(dir, secretsFile, s)
}

// Exists reports whether a folder holds a local platform.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, stampFile))
	return err == nil
}

// seedID returns the n-th ID of what a new platform in a folder holds. It follows from the folder's path, so that
// a plan made before the platform is there can be carried out by it. It sorts by n and before the IDs of records.
func seedID(folder string, n int) string {
	if full, err := filepath.Abs(folder); err == nil {
		folder = full
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", folder, n))
	const early = 1_577_836_800 // 2020-01-01, in seconds
	return fmt.Sprintf("%08x%08x%x", early, n, sum[:4])
}

// readFile reads a value from a file with JSON.
func readFile(dir, name string, v any) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err == nil && json.Unmarshal(data, v) != nil {
		err = damaged(dir, "%s cannot be read", name)
	}
	return err
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

// folderFault converts an error about the folder into a fault; nil stays nil.
func folderFault(ctx context.Context, dir string, err error) error {
	switch {
	case err == nil, fault.Find(err) != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, store.ErrCorrupt):
		return damaged(dir, "%v", err)
	case errors.Is(err, store.ErrNewer):
		return newer(dir)
	}
	return cannotUse(dir, err)
}

// Reset deletes a local platform with all its data. It deletes only what Open creates, and only in a folder
// that Open created. A missing folder is not an error.
func Reset(dir string) error {
	return folderFault(context.Background(), dir, reset(dir))
}

func reset(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// The stamp may be damaged or of a newer version: such folders need a reset.
	if _, err := os.Stat(filepath.Join(dir, stampFile)); errors.Is(err, os.ErrNotExist) {
		return fault.Hinted(fault.Of(&fault.PlatformError{},
			"%s is not the folder of a local platform; nothing was deleted", dir),
			"name the folder with --local-dir")
	} else if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, servedLock), flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	_ = lock.Unlock() // it is deleted, too
	if err != nil {
		return err
	} else if !free {
		return fault.Hinted(fault.Of(&fault.LockedError{},
			"a process serves the local platform in %s; nothing was deleted", dir),
			"stop it first: transect platform serve, or transect ui")
	}
	// Temporary files of a process that was killed while it created the folder.
	left, err := fs.Glob(os.DirFS(dir), ".transect-*")
	if err != nil {
		return err
	}
	for _, name := range append(left, entries...) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	// Other files stay, and the folder with them.
	if others, err := os.ReadDir(dir); err == nil && len(others) == 0 {
		return os.Remove(dir)
	}
	return nil
}
