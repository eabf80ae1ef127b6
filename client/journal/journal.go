// Package journal remembers begun multipart uploads across runs, so that the
// next run sends only the parts the platform has not confirmed.
//
// It implements transfer.Journal with one table in one SQLite file in the state
// folder, shared by all processes of a user. A row holds hashes of the path and
// of the destination, MD5 checksums, sizes and times; no URLs, tokens or names.
//
// Durability: beginning and forgetting an upload is synced to disk. A confirmed
// part is written to the write-ahead log without waiting for the disk: a killed
// process loses nothing, after a power cut some parts are sent again.
//
// Begin reading at Journal.Find; file.go opens, checks and rotates the file.
package journal

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"transect/client/transfer"
)

// File is the name of the journal's file in its folder.
const File = "journal.db"

const (
	// keepFor is how long an upload is remembered after its last part.
	keepFor = 60 * 24 * time.Hour
	// A file modified less than this before it was read may change again
	// without a new modification time: its checksums are not reused.
	minFileAge = 2 * time.Second
)

// Journal is a transfer.Journal on disk, opened when it is first needed. A
// journal that cannot be used is reported once, as a warning; transfers go on
// without one.
type Journal struct {
	dir string
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex // of all below, and held while the database is used
	db      *sql.DB    // nil until opened, and when off
	off     bool       // closed or unusable
	rotated bool       // a damaged file was moved aside by this process
	warned  bool
	full    bool // the connection syncs every commit
}

// New returns a journal in a folder, which is created when needed.
func New(dir string, log *slog.Logger) *Journal {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Journal{dir: dir, log: log, now: time.Now}
}

func (j *Journal) path() string { return filepath.Join(j.dir, File) }

// Close closes the file. Nothing is remembered afterwards.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.off = true
	if j.db == nil {
		return nil
	}
	defer func() { j.db = nil }()
	return j.db.Close()
}

// row is a row of the table.
type row struct {
	id              int64 // random, one for each beginning
	path            int64 // hash
	size, mtime     int64 // mtime in nanoseconds; 0 when the checksums must not be reused
	chunk           int64
	md5, parts      []byte // of the file, and of all parts in order
	done            []byte // bitmap: part n, from 1, is bit n-1
	updated, stored int64  // time in seconds, and the stored checksum of the row
}

const columns = `id, path, size, mtime, chunk, md5, parts, done, updated, "check"`

func (r *row) fields() []any {
	return []any{&r.id, &r.path, &r.size, &r.mtime, &r.chunk, &r.md5, &r.parts, &r.done, &r.updated, &r.stored}
}

// checksum protects a row: a damaged one must not claim parts that were never
// confirmed.
func (r *row) checksum(key []byte) int64 {
	b := append([]byte(nil), key...)
	for _, n := range []int64{r.id, r.path, r.size, r.mtime, r.chunk, r.updated, int64(len(r.parts))} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = append(append(append(b, r.md5...), r.parts...), r.done...)
	return int64(crc32.ChecksumIEEE(b))
}

func (r *row) valid(key []byte) bool {
	return r.stored == r.checksum(key) && len(r.md5) == 16 && r.chunk > 0
}

func keyOf(d transfer.Destination) []byte {
	sum := sha256.Sum256([]byte(d.Platform + "\x00" + d.Dataset + "\x00" + d.Component))
	return sum[:16]
}

func pathHash(path string) int64 {
	sum := sha256.Sum256([]byte(path))
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// find reads a row; nil when there is none, or a damaged one.
func find(tx *sql.Tx, key []byte) (*row, error) {
	r := &row{}
	err := tx.QueryRow("SELECT "+columns+" FROM uploads WHERE destination = ?", key).Scan(r.fields()...)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !r.valid(key) {
		return nil, nil
	}
	return r, scanned(err)
}

func put(tx *sql.Tx, key []byte, r *row) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO uploads (destination, "+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		key, r.id, r.path, r.size, r.mtime, r.chunk, r.md5, r.parts, r.done, r.updated, r.checksum(key))
	return err
}

// Find implements transfer.Journal.
func (j *Journal) Find(d transfer.Destination, f transfer.File) *transfer.BegunUpload {
	var r *row
	j.transaction(false, func(tx *sql.Tx) (err error) {
		r, err = find(tx, keyOf(d))
		return err
	})
	if r == nil {
		return nil
	}
	b := &transfer.BegunUpload{ID: r.id, Size: r.size, Chunk: r.chunk, MD5: hex.EncodeToString(r.md5), Done: map[int]bool{}}
	b.SamePath = r.path == pathHash(f.Path)
	b.Unchanged = b.SamePath && r.size == f.Size && r.mtime == f.ModTime.UnixNano()
	for p := r.parts; len(p) >= 16; p = p[16:] {
		b.Parts = append(b.Parts, hex.EncodeToString(p[:16]))
	}
	for i := range 8 * len(r.done) {
		if r.done[i/8]&(1<<(i%8)) != 0 {
			b.Done[i+1] = true
		}
	}
	return b
}

// Begin implements transfer.Journal.
func (j *Journal) Begin(d transfer.Destination, f transfer.File, b transfer.BegunUpload) (id int64) {
	now := j.now()
	r := &row{id: rand.Int64(), path: pathHash(f.Path), size: b.Size, chunk: b.Chunk, updated: now.Unix(), done: []byte{}}
	if b.Unchanged && now.Sub(f.ModTime) >= minFileAge {
		r.mtime = f.ModTime.UnixNano()
	}
	var err, err2 error
	r.md5, err = hex.DecodeString(b.MD5)
	r.parts, err2 = hex.DecodeString(strings.Join(b.Parts, ""))
	if err != nil || err2 != nil {
		return 0
	}
	j.transaction(true, func(tx *sql.Tx) error { return put(tx, keyOf(d), r) })
	return r.id
}

// Confirm implements transfer.Journal.
func (j *Journal) Confirm(d transfer.Destination, id int64, part int) {
	key := keyOf(d)
	j.transaction(false, func(tx *sql.Tx) error {
		r, err := find(tx, key)
		if err != nil || r == nil || r.id != id || part < 1 || int64(part) > (r.size+r.chunk-1)/r.chunk {
			return err // another upload to the destination has begun
		}
		i := part - 1
		for len(r.done) <= i/8 {
			r.done = append(r.done, 0)
		}
		r.done[i/8] |= 1 << (i % 8)
		r.updated = j.now().Unix()
		_, err = tx.Exec(`UPDATE uploads SET done = ?, updated = ?, "check" = ? WHERE destination = ?`, r.done, r.updated, r.checksum(key), key)
		return err
	})
}

// Forget implements transfer.Journal.
func (j *Journal) Forget(d transfer.Destination, id int64) {
	j.transaction(true, func(tx *sql.Tx) error {
		_, err := tx.Exec("DELETE FROM uploads WHERE destination = ? AND (id = ? OR ? = 0)", keyOf(d), id, id)
		return err
	})
}
