package blob

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// Earlier versions kept blobs of up to 512 KiB side by side in the files of
// DIR/packs, under IDs of the form "pack.offset.size.crc32c" (in hexadecimal).

// maxPacked is the size of the largest packed blob.
const maxPacked = 512 << 10

// ErrPacksInUse means that a process of an earlier version has the folder open.
var ErrPacksInUse = errors.New("an older version of transect is using the folder")

// HasPacks reports whether there may be packed blobs. It fails with
// ErrPacksInUse while an earlier version writes to them.
func (s *Store) HasPacks() (bool, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "packs"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, entry := range entries {
		lock := flock.New(filepath.Join(s.dir, "packs", entry.Name()))
		free, err := lock.TryLock()
		if err != nil {
			return false, err
		}
		if !free {
			return false, ErrPacksInUse
		}
		lock.Unlock()
	}
	return err == nil, err
}

// Unpack copies a packed blob to a file of its own and returns its new ID.
// Repeating it gives the same ID.
func (s *Store) Unpack(id string) (string, error) {
	fields := strings.Split(id, ".")
	if len(fields) != 4 || strings.ContainsAny(fields[0], `/\`) {
		return "", fmt.Errorf("packed blob %q: %w", id, fs.ErrNotExist)
	}
	var numbers [3]uint64 // offset, size, CRC-32C
	for i, bits := range []int{63, 20, 32} {
		var err error
		if numbers[i], err = strconv.ParseUint(fields[1+i], 16, bits); err != nil || numbers[1] > maxPacked {
			return "", fmt.Errorf("packed blob %q: %w", id, fs.ErrNotExist)
		}
	}
	f, err := os.Open(filepath.Join(s.dir, "packs", fields[0]))
	if err != nil {
		return "", err
	}
	defer f.Close()
	data := make([]byte, numbers[1])
	if _, err := f.ReadAt(data, int64(numbers[0])); err != nil && err != io.EOF {
		return "", err
	}
	if crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) != uint32(numbers[2]) {
		return "", fmt.Errorf("packed blob %q is damaged: %w", id, fs.ErrNotExist)
	}
	sum := md5.Sum([]byte(id))
	b, err := s.Put(hex.EncodeToString(sum[:]), bytes.NewReader(data), "")
	return b.ID, err
}

// RemovePacks deletes the pack files, once nothing refers to them.
func (s *Store) RemovePacks() error { return os.RemoveAll(filepath.Join(s.dir, "packs")) }
