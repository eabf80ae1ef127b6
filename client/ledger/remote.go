package ledger

import (
	"encoding/binary"
	"os"
	"sync"
)

// Remote stores the bytes of a ledger elsewhere, such as in a database shared by several machines. It accepts
// whole records.
type Remote interface {
	// Read returns some of the stored bytes from an offset, nothing at the end.
	Read(from int64) ([]byte, error)
	// Append stores bytes at the end, which is at offset at, and returns when they are stored. It refuses
	// them when the run was taken over. It accepts a repetition under the same offset.
	Append(at int64, b []byte) error
}

// remote is the state of a Remote. The ledger's file holds a copy of its content.
type remote struct {
	Remote
	kept    int64 // of the file
	sending bool
	sent    *sync.Cond
}

// OpenRemote opens the ledger of a run in a Remote, and begins a start.
func OpenRemote(run string, r Remote, start Start) (*Ledger, error) {
	l, err := OpenRemoteToEdit(run, r)
	if err != nil {
		return nil, err
	}
	return l.begin(start)
}

// OpenRemoteToEdit is like OpenRemote without a start: to read it, or for decisions about its writes.
func OpenRemoteToEdit(run string, r Remote) (*Ledger, error) {
	copied, err := os.CreateTemp("", "transect-ledger-*")
	if err != nil {
		return nil, unwritable(os.TempDir(), err)
	}
	_ = os.Remove(copied.Name()) // systems that refuse this remove it at the end
	l := &Ledger{run: run, path: "of the job", file: copied, kept: map[string][]byte{}, remote: &remote{Remote: r}}
	l.remote.sent = sync.NewCond(&l.mu)
	if err := l.fetch(); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// fetch copies and reads the stored records.
func (l *Ledger) fetch() error {
	var size int64
	for {
		b, err := l.remote.Read(size)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			break
		}
		if _, err := l.file.WriteAt(b, size); err != nil {
			return unwritable(l.file.Name(), err)
		}
		size += int64(len(b))
	}
	l.remote.kept = size
	if err := l.load(); err != nil {
		return err
	}
	if size > 0 && l.size != size {
		return l.unusable(errDamaged)
	}
	return nil
}

// accepted waits until everything noted so far is stored. The ledger is locked, but not while waiting:
// concurrent callers share a message.
func (l *Ledger) accepted() error {
	r, upTo := l.remote, l.size
	for r != nil && r.kept < upTo && l.failed == nil {
		if r.sending {
			r.sent.Wait()
			continue
		}
		b, err := l.unsent()
		if err == nil {
			r.sending = true
			l.mu.Unlock()
			err = r.Append(r.kept, b)
			l.mu.Lock()
			r.sending = false
		}
		if err != nil {
			l.failed = err
		} else {
			r.kept += int64(len(b))
		}
		r.sent.Broadcast()
	}
	return l.failed
}

// maxSent limits a message to the remote, in bytes, unless one record is larger.
const maxSent = 4 << 20

// unsent returns the first whole records that are not stored yet.
func (l *Ledger) unsent() ([]byte, error) {
	at := l.remote.kept
	var head [frame]byte
	end := at
	if end == 0 {
		end = int64(len(header))
	}
	for end < l.size {
		if _, err := l.file.ReadAt(head[:], end); err != nil {
			return nil, unwritable(l.file.Name(), err)
		}
		n := frame + int64(binary.LittleEndian.Uint32(head[:]))
		if end > at && end+n-at > maxSent {
			break
		}
		end += n
	}
	b := make([]byte, end-at)
	_, err := l.file.ReadAt(b, at)
	return b, err
}
