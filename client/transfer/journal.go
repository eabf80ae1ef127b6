package transfer

import "time"

// File is one state of one local file.
type File struct {
	Path    string // absolute
	Size    int64
	ModTime time.Time
}

// Destination is where a file is uploaded to.
type Destination struct {
	Platform  string // its address
	Dataset   string
	Component string
}

// BegunUpload is a multipart upload the platform has confirmed the beginning of.
type BegunUpload struct {
	ID        int64 // distinguishes uploads to one destination
	Size      int64
	Chunk     int64
	MD5       string   // in hexadecimal, as are Parts
	Parts     []string // in order
	Done      map[int]bool
	Unchanged bool // MD5 and Parts were computed from the file, which is unchanged
	SamePath  bool // it was begun with a file of the same path
}

// Journal remembers begun multipart uploads across runs. It is safe for
// concurrent use, also by several processes. Its methods never fail: what
// cannot be remembered is sent again.
type Journal interface {
	// Find returns the upload begun to a destination, or nil. f is compared
	// with the file it was begun with.
	Find(d Destination, f File) *BegunUpload
	// Begin records an upload in place of all others to the destination, and
	// returns its ID. It is on disk when Begin returns.
	Begin(d Destination, f File, b BegunUpload) (id int64)
	// Confirm records a part, from 1, once the platform has confirmed it. When
	// it returns, the death of the process does not lose it.
	Confirm(d Destination, id int64, part int)
	// Forget deletes the upload with that ID, any one when 0. It is on disk
	// when Forget returns.
	Forget(d Destination, id int64)
}

type noJournal struct{}

func (noJournal) Find(Destination, File) *BegunUpload        { return nil }
func (noJournal) Begin(Destination, File, BegunUpload) int64 { return 0 }
func (noJournal) Confirm(Destination, int64, int)            {}
func (noJournal) Forget(Destination, int64)                  {}
