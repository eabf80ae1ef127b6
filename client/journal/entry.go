package journal

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// A file changed less than this before it was read may change again
	// without its time showing it: its checksums are computed anew.
	settle = 2 * time.Second
	// Computing the checksum of smaller files again is cheaper than noting it
	// before they are sent.
	worthNoting = 64 << 20
)

// entry is one state of one file on its way to one place.
type entry struct {
	journal  *Journal
	place    place
	state    state
	chunk    int64
	modified time.Time

	mu      sync.Mutex
	other   bool // another state of the same path was going there
	known   bool // a row is there that something new must not leave behind
	file    fileRow
	same    bool // file is a row of this state
	upload  *uploadRow
	whole   []byte // computed from this state, nil when unknown
	parts   []byte
	settled bool
}

const known = `SELECT path, size, mtime, whole, state, f."check", chunk, begun, done, u."check"
	FROM files f LEFT JOIN uploads u ON u.place = f.place WHERE f.place = ?`

// load reads what is known.
func (e *entry) load(db *sql.DB) error {
	e.other, e.known, e.same, e.upload, e.whole, e.parts, e.settled = false, false, false, nil, nil, nil, false
	var f fileRow
	var check int64
	var chunk, begun, uploadCheck sql.NullInt64
	var done []byte
	asked, err := e.journal.asking(db, known)
	if err != nil {
		return scanned(err)
	}
	err = asked.QueryRow(e.place[:]).
		Scan(&f.path, &f.size, &f.mtime, &f.whole, &f.flags, &check, &chunk, &begun, &done, &uploadCheck)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return scanned(err)
	}
	e.known = true
	if check != f.check(e.place) || len(f.whole) != 16 {
		return nil // damaged: as good as unknown
	}
	begunOne := func() {
		if u := (uploadRow{chunk: chunk.Int64, begun: begun.Int64, done: done}); chunk.Valid && u.chunk == e.chunk && uploadCheck.Int64 == u.check(e.place, f) {
			e.file, e.upload = f, &u
		}
	}
	if f.state != e.state {
		if e.other = f.path == e.state.path; e.other && f.size == e.state.size {
			begunOne() // only touched perhaps, or its card is read in another time zone: the checksum will tell, see Started
		}
		return nil
	}
	e.file, e.same = f, true
	e.known = f.flags&finished != 0 || chunk.Valid
	begunOne()
	if f.flags&computed == 0 {
		return nil
	}
	e.whole, e.settled = f.whole, true
	if e.chunk > 0 {
		return e.loadParts(db)
	}
	return nil
}

func (e *entry) loadParts(db *sql.DB) error {
	var parts []byte
	var check int64
	err := db.QueryRow(`SELECT parts, "check" FROM sums WHERE place = ? AND chunk = ?`, e.place[:], e.chunk).Scan(&parts, &check)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil && check == sumsCheck(e.place, e.file, e.chunk, parts) && int64(len(parts)) == 16*partsOf(e.state.size, e.chunk) {
		e.parts = parts
	}
	return scanned(err)
}

// scanned marks values of another type than ours as damage.
func scanned(err error) error {
	if err == nil || codeOf(err) >= 0 {
		return err
	}
	return damage(err)
}

func (e *entry) Sums() (string, []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.settled || e.whole == nil {
		return "", nil
	}
	return hex.EncodeToString(e.whole), unpackSums(e.parts)
}

func (e *entry) Hashed(whole string, parts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b, err := hex.DecodeString(whole); err == nil && len(b) == 16 {
		e.whole = b
	}
	e.parts = packSums(parts)
	e.settled = e.journal.now().Sub(e.modified) >= settle
	// What else is known of the place is not given up for a checksum.
	if !e.settled || e.whole == nil || e.state.size < worthNoting || e.known || e.journal.database() == nil {
		return
	}
	row, sums, seen := e.row(e.whole, 0), e.parts, e.journal.now().Unix()
	e.journal.queue.put(func(tx *writing) error {
		var there int
		if err := tx.QueryRow(`SELECT count(*) FROM files LEFT JOIN uploads USING (place)
			WHERE place = ? AND (state & 1 OR uploads.chunk IS NOT NULL)`, e.place[:]).Scan(&there); err != nil || there > 0 {
			return err
		}
		if err := e.put(tx, row, seen); err != nil {
			return err
		}
		return e.putSums(tx, row, sums)
	}, false)
}

// row is what is noted of the file.
func (e *entry) row(whole []byte, flags int64) fileRow {
	if e.settled && e.whole != nil && bytes.Equal(whole, e.whole) {
		flags |= computed
	}
	return fileRow{state: e.state, whole: whole, flags: flags}
}

func (e *entry) put(tx *writing, f fileRow, seen int64) error {
	_, err := tx.Exec(`INSERT OR REPLACE INTO files (place, path, size, mtime, whole, state, seen, "check") VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		e.place[:], f.path, f.size, f.mtime, f.whole, f.flags, seen, f.check(e.place))
	return err
}

func (e *entry) putSums(tx *writing, f fileRow, parts []byte) error {
	if e.chunk == 0 || len(parts) == 0 || f.flags&computed == 0 {
		return nil
	}
	_, err := tx.Exec(`INSERT OR REPLACE INTO sums (place, chunk, parts, "check") VALUES (?, ?, ?, ?)`,
		e.place[:], e.chunk, parts, sumsCheck(e.place, f, e.chunk, parts))
	return err
}

// clear removes what belongs to an upload in parts.
func (e *entry) clear(tx *writing) error {
	if _, err := tx.Exec("DELETE FROM uploads WHERE place = ?", e.place[:]); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM sums WHERE place = ?", e.place[:])
	return err
}

func (e *entry) Started(whole string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.upload != nil && hex.EncodeToString(e.file.whole) == whole
}

func (e *entry) Start(whole string) {
	sum, err := hex.DecodeString(whole)
	if err != nil || len(sum) != 16 {
		return
	}
	e.mu.Lock()
	e.file, e.same, e.known = e.row(sum, 0), true, true
	e.upload = &uploadRow{chunk: e.chunk, begun: rand.Int64()}
	f, u, parts, seen := e.file, *e.upload, e.parts, e.journal.now().Unix()
	e.mu.Unlock()
	if e.journal.database() == nil {
		return
	}
	e.journal.ready()
	// Receipts of parts are worth nothing without this.
	e.journal.queue.put(func(tx *writing) error {
		if err := e.clear(tx); err != nil {
			return err
		}
		if err := e.put(tx, f, seen); err != nil {
			return err
		}
		if err := e.putSums(tx, f, parts); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO uploads (place, chunk, begun, done, "check") VALUES (?, ?, ?, ?, ?)`,
			e.place[:], u.chunk, u.begun, []byte{}, u.check(e.place, f))
		return err
	}, true)
}

func (e *entry) Done(part int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.upload != nil && int64(part) <= partsOf(e.state.size, e.chunk) && has(e.upload.done, part)
}

func (e *entry) Confirm(part int) {
	e.mu.Lock()
	if e.upload == nil || part < 1 || int64(part) > partsOf(e.state.size, e.chunk) {
		e.mu.Unlock()
		return
	}
	e.upload.done = with(e.upload.done, part)
	one := receipt{e.place, e.upload.begun, part}
	e.mu.Unlock()
	j := e.journal
	if j.database() == nil {
		return
	}
	if !j.receipts.note(one, func() { j.queue.put(one.confirm, false) }) {
		j.queue.put(one.confirm, true)
	}
}

func (e *entry) Finished() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.same || e.file.flags&finished == 0 {
		return ""
	}
	return hex.EncodeToString(e.file.whole)
}

func (e *entry) Finish(whole string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum, err := hex.DecodeString(whole)
	if err != nil || len(sum) != 16 {
		return
	}
	begun := int64(0)
	inParts := e.upload != nil
	if inParts {
		begun = e.upload.begun
	}
	e.file, e.same, e.known, e.upload = e.row(sum, finished), true, true, nil
	if e.journal.database() == nil {
		return
	}
	f, seen := e.file, e.journal.now().Unix()
	e.journal.queue.put(func(tx *writing) error {
		if inParts {
			var mine int
			err := tx.QueryRow("SELECT count(*) FROM uploads WHERE place = ? AND begun = ?", e.place[:], begun).Scan(&mine)
			if err != nil || mine == 0 {
				return err // another upload has taken the place
			}
		}
		if inParts {
			if err := e.clear(tx); err != nil {
				return err
			}
		}
		return e.put(tx, f, seen)
	}, false)
}

func (e *entry) Forget() {
	e.mu.Lock()
	if !e.known {
		e.mu.Unlock()
		return
	}
	e.known, e.same, e.upload = false, false, nil
	e.mu.Unlock()
	if e.journal.database() == nil {
		return
	}
	// On disk before anything new is begun there.
	e.journal.queue.put(func(tx *writing) error {
		if err := e.clear(tx); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM files WHERE place = ?", e.place[:])
		return err
	}, true)
}

func (e *entry) Changed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.other
}
