package journal

import (
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// receipts is a file beside the database to which a process adds each part the
// moment the platform has confirmed it: one short write, no lock of another
// process, no waiting for a disk. What a process has written survives its
// death, so a kill loses nothing; the database, which is written a quarter of
// a second later and then synced, is for the death of the machine.
//
// Each process has a file of its own and holds its lock. Whoever opens the
// journal takes over what is in the files of those that are gone.
type receipts struct {
	mu      sync.Mutex
	tried   bool
	lock    *flock.Flock
	file    *os.File
	end     int64
	missing bool // a change could not be written: what is here is still needed
}

const (
	receiptsName = ".receipts-"
	// place, number of the beginning, part, checksum
	receiptSize = 16 + 8 + 4 + 4
	// The lock lies on the first byte, which on Windows nobody else may touch
	// then: receipts begin behind it.
	receiptsFrom = receiptSize
	// A file longer than this is begun anew when the database has it all.
	receiptsFull = 64 << 10
)

// receipt is one confirmed part.
type receipt struct {
	place place
	begun int64
	part  int
}

func (r receipt) bytes() []byte {
	b := append(make([]byte, 0, receiptSize), r.place[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.begun))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.part))
	return binary.LittleEndian.AppendUint32(b, uint32(crc(r.place, []int64{r.begun, int64(r.part)})))
}

// receiptOf reads a receipt back; false when it is none.
func receiptOf(b []byte) (r receipt, ok bool) {
	copy(r.place[:], b)
	r.begun = int64(binary.LittleEndian.Uint64(b[16:]))
	r.part = int(binary.LittleEndian.Uint32(b[24:]))
	return r, binary.LittleEndian.Uint32(b[28:]) == uint32(crc(r.place, []int64{r.begun, int64(r.part)}))
}

// ready makes the file, once. Without one, parts wait for the database.
func (j *Journal) ready() {
	r := &j.receipts
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried {
		return
	}
	r.tried = true
	unlock, err := j.lock() // nobody takes it for an abandoned one before its lock is held
	if err != nil {
		return
	}
	defer unlock()
	var random [4]byte
	binary.LittleEndian.PutUint32(random[:], rand.Uint32())
	lock := flock.New(j.path()+receiptsName+hex.EncodeToString(random[:]), flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR), flock.SetPermissions(0o600))
	if held, err := lock.TryLock(); err != nil || !held {
		_ = lock.Close() // not made, or of no use
		return
	}
	file, err := os.OpenFile(lock.Path(), os.O_WRONLY, 0)
	if err != nil {
		_ = lock.Unlock()
		_ = os.Remove(lock.Path())
		return
	}
	r.lock, r.file, r.end = lock, file, receiptsFrom
}

// note writes a receipt and lets queue hand the same to the database, in one
// step: a file that is begun anew has nothing the database does not. It is
// false when the receipt is not written.
func (r *receipts) note(one receipt, queue func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return false
	}
	if _, err := r.file.WriteAt(one.bytes(), r.end); err != nil {
		return false // half of one is written over by the next
	}
	r.end += receiptSize
	queue()
	return true
}

// drained is told when the database has all that was queued; idle says whether
// that is still so.
func (r *receipts) drained(idle func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil && !r.missing && r.end > receiptsFull && idle() && r.file.Truncate(receiptsFrom) == nil {
		r.end = receiptsFrom
	}
}

// keep is told when a change could not be written.
func (r *receipts) keep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missing = true
}

// close removes the file, unless the next process is to take it over.
func (r *receipts) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried = true
	if r.file == nil {
		return
	}
	_ = r.file.Close() // it is not synced either
	_ = r.lock.Unlock()
	if !r.missing || r.end == receiptsFrom {
		_ = os.Remove(r.lock.Path()) // else it is taken over, for nothing
	}
	r.file = nil
}

// adopt takes over the receipts of processes that are gone. The journal's lock
// is held.
func (j *Journal) adopt(db *sql.DB) error {
	files, err := filepath.Glob(globbed(j.path()) + receiptsName + "*")
	if err != nil {
		return err
	}
	for _, path := range files {
		lock := flock.New(path)
		if held, err := lock.TryLock(); err != nil || !held {
			_ = lock.Close() // its process is at work
			continue
		}
		err := transact(db, []change{{apply: func(tx *writing) error { return takeOver(tx, path) }}})
		_ = lock.Unlock()
		if err != nil {
			return err
		}
		_ = os.Remove(path) // else once more the next time
	}
	return nil
}

// takeOver confirms what a file has receipts for. What is damaged in it is as
// good as never written.
func takeOver(tx *writing, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	if _, err := file.Seek(receiptsFrom, io.SeekStart); err != nil {
		return err
	}
	b := make([]byte, receiptsFull)
	for {
		n, err := io.ReadFull(file, b)
		for rest := b[:n]; len(rest) >= receiptSize; rest = rest[receiptSize:] {
			if one, ok := receiptOf(rest); ok {
				if err := one.confirm(tx); err != nil {
					return err
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// confirm adds the part to what is known of its upload, unless another one has
// taken the place or it was completed. Doing it twice does nothing.
func (r receipt) confirm(tx *writing) error {
	var f fileRow
	u := uploadRow{begun: r.begun}
	var check int64
	err := tx.QueryRow(`SELECT path, size, mtime, whole, chunk, done, u."check" FROM uploads u JOIN files f ON f.place = u.place
		WHERE u.place = ? AND begun = ?`, r.place[:], r.begun).Scan(&f.path, &f.size, &f.mtime, &f.whole, &u.chunk, &u.done, &check)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return scanned(err)
	case check != u.check(r.place, f), r.part < 1 || int64(r.part) > partsOf(f.size, u.chunk):
		return nil
	}
	u.done = with(u.done, r.part)
	_, err = tx.Exec(`UPDATE uploads SET done = ?, "check" = ? WHERE place = ?`, u.done, u.check(r.place, f), r.place[:])
	return err
}

// globbed is a path as a pattern of itself.
func globbed(path string) string {
	var b []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[':
			b = append(b, '[', path[i], ']')
		case '\\':
			if os.PathSeparator != '\\' {
				b = append(b, '\\')
			}
			b = append(b, '\\')
		default:
			b = append(b, path[i])
		}
	}
	return string(b)
}
