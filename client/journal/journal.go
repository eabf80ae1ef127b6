// Package journal remembers multipart uploads in progress across runs, so that the next run sends only the
// parts the platform has not confirmed.
//
// The folder "uploads" of the state folder, shared by all processes of a user, holds one file per
// destination, named by a hash of it. The first line is the upload's random ID; each other line is a CRC and
// a text: the description of the upload, then the number of one confirmed part per line. Lines that do not
// match their CRC are ignored. The files contain hashes, sizes and times, no URLs, tokens or names.
//
// Durability: beginning and forgetting an upload is synced to disk. A confirmed part is appended without
// waiting for the disk: a killed process loses nothing, after a power cut some parts are sent again.
package journal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client/atomicfile"
	"transect/client/fault"
)

const (
	// keepFor is how long an upload is remembered after its last part.
	keepFor = 60 * 24 * time.Hour
	// A file modified less than this before it was read may change again
	// without a new modification time: its checksums are not reused.
	minFileAge = 2 * time.Second
)

// File is one state of one local file.
type File struct {
	Path    string // absolute
	Size    int64
	ModTime time.Time
}

// Destination identifies where a file is uploaded to.
type Destination struct {
	Platform  string // its address
	Dataset   string
	Component string
}

// Upload is a multipart upload whose beginning the platform has confirmed.
type Upload struct {
	ID        string `json:"-"` // distinguishes uploads to one destination
	Size      int64
	Chunk     int64
	MD5       string       // in hexadecimal, as are Parts
	Parts     []string     // in order
	Done      map[int]bool `json:"-"`
	Unchanged bool         `json:"-"` // MD5 and Parts were computed from the file, which is unchanged
	SamePath  bool         `json:"-"` // it was begun with a file of the same path
}

// record is the second line of a file.
type record struct {
	Upload
	Path    string // hash
	ModTime int64  // in nanoseconds; 0 when the checksums must not be reused
}

// Journal is safe for concurrent use, also by several processes. Its methods never fail: what cannot be
// recorded is sent again, and the first problem is logged as a warning. A nil Journal records nothing.
type Journal struct {
	dir  string
	log  *slog.Logger
	now  func() time.Time
	once struct{ prune, warn sync.Once }
}

// New returns a journal in the state folder, which is created if needed.
func New(state string, log *slog.Logger) *Journal {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Journal{dir: filepath.Join(state, "uploads"), log: log, now: time.Now}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:16])
}

func (j *Journal) path(d Destination) string {
	j.once.prune.Do(j.prune)
	return filepath.Join(j.dir, hash(d.Platform+"\x00"+d.Dataset+"\x00"+d.Component))
}

// prune removes uploads that are too old to be resumed.
func (j *Journal) prune() {
	list, _ := os.ReadDir(j.dir)
	for _, e := range list {
		if info, err := e.Info(); err == nil && j.now().Sub(info.ModTime()) > keepFor {
			_ = os.Remove(filepath.Join(j.dir, e.Name())) // the next run retries
		}
	}
}

// line returns a line for the upload with an ID. The newline comes first: a line truncated by a full disk
// does not affect the next one.
func line(id, text string) string {
	return fmt.Sprintf("\n%08x %s", crc32.ChecksumIEEE([]byte(id+text)), text)
}

// parse returns the text of a line.
func parse(id, l string) (text string, ok bool) {
	_, text, _ = strings.Cut(l, " ")
	return text, "\n"+l == line(id, text)
}

// Find returns the upload begun to a destination, or nil. f is compared with the
// file it was begun with.
func (j *Journal) Find(d Destination, f File) *Upload {
	if j == nil {
		return nil
	}
	path := j.path(d)
	b, err := os.ReadFile(path)
	if err != nil {
		j.check(err)
		return nil
	}
	lines := strings.Split(string(b), "\n")
	id, r := lines[0], record{}
	if len(lines) > 1 {
		text, ok := parse(id, lines[1])
		if !ok || json.Unmarshal([]byte(text), &r) != nil {
			r = record{}
		}
	}
	if r.Chunk <= 0 {
		j.log.Warn("the journal of an upload is damaged; the upload starts over", "journal", path)
		return nil
	}
	u := r.Upload
	u.ID, u.Done = id, map[int]bool{}
	u.SamePath = r.Path == hash(f.Path)
	u.Unchanged = u.SamePath && u.Size == f.Size && r.ModTime == f.ModTime.UnixNano()
	for _, l := range lines[2:] {
		text, ok := parse(id, l)
		if n, err := strconv.Atoi(text); ok && err == nil && n > 0 && int64(n) <= (u.Size+u.Chunk-1)/u.Chunk {
			u.Done[n] = true
		}
	}
	return &u
}

// Begin records an upload, replacing any other to the destination, and returns its ID. It is on disk when
// Begin returns.
func (j *Journal) Begin(d Destination, f File, u Upload) (id string) {
	if j == nil {
		return ""
	}
	r := record{Upload: u, Path: hash(f.Path)}
	if u.Unchanged && j.now().Sub(f.ModTime) >= minFileAge {
		r.ModTime = f.ModTime.UnixNano()
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(j.dir, 0o700)
	}
	id = rand.Text()
	if err == nil {
		err = atomicfile.Write(j.path(d), []byte(id+line(id, string(text))), 0o600)
	}
	if !j.check(err) {
		return ""
	}
	j.sync()
	return id
}

// Confirm records a part, from 1, that the platform has confirmed. It survives the death of the process when
// Confirm returns.
func (j *Journal) Confirm(d Destination, id string, part int) {
	f := j.open(d, id)
	if f == nil {
		return // another upload to the destination has begun
	}
	_, err := f.WriteString(line(id, strconv.Itoa(part)))
	j.check(errors.Join(err, f.Close()))
}

// Forget deletes the upload with that ID, or any if it is empty. The deletion is on disk when Forget returns.
func (j *Journal) Forget(d Destination, id string) {
	f := j.open(d, id)
	if f == nil {
		return
	}
	_ = f.Close() // not written to
	if j.check(os.Remove(f.Name())) {
		j.sync()
	}
}

// open opens the file of the upload with that ID, or any if it is empty, for appending; nil when there is
// none.
func (j *Journal) open(d Destination, id string) *os.File {
	if j == nil {
		return nil
	}
	f, err := os.OpenFile(j.path(d), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		j.check(err)
		return nil
	}
	begin := make([]byte, len(id))
	if _, err := io.ReadFull(f, begin); err != nil || string(begin) != id {
		_ = f.Close() // not written to
		return nil
	}
	return f
}

// sync makes a changed name durable where the system supports that.
func (j *Journal) sync() {
	if d, err := os.Open(j.dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// check reports whether err is nil or a missing file. It logs the first other error.
func (j *Journal) check(err error) bool {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return true
	}
	j.once.warn.Do(func() {
		j.log.Warn("cannot write the journal of uploads; going on without a journal",
			"journal", j.dir, "reason", fault.Reason(err), "hint", "check the folder's permissions and the free space")
	})
	return false
}
