package transfer

import "time"

// File is one state of one local file, whatever device it lies on.
type File struct {
	Path    string // absolute and clean, otherwise as it was given
	Size    int64
	ModTime time.Time
}

// Place is where a file goes.
type Place struct {
	Platform  string // its address
	Dataset   string
	Component string
}

// Journal remembers across runs what is known of files and what the platform
// has confirmed of them. It is safe for concurrent use, also by several
// processes.
type Journal interface {
	// Open tells what is known of sending that state of a file to that place
	// in parts of so many bytes; 0 when it is sent whole. It never fails: what
	// cannot be known is unknown.
	Open(f File, p Place, chunk int64) Entry
	// Begin is Open for a place that was made just now, of which nothing can be
	// known.
	Begin(f File, p Place, chunk int64) Entry
}

// Entry is what a Journal knows of one file on its way to one place. Checksums
// are MD5 in hexadecimal. What cannot be noted is done again some day, no more.
type Entry interface {
	// Sums are the checksums computed before of this state of the file, cut
	// like this; "" and nil are unknown.
	Sums() (whole string, parts []string)
	// Hashed notes checksums that were computed from the file, "" and nil
	// where they were not.
	Hashed(whole string, parts []string)

	// Started tells that the platform confirmed the beginning of an upload in
	// parts announced with that checksum.
	Started(whole string) bool
	// Start notes that, and is on disk when it returns. Parts confirmed before
	// belong to no upload any more.
	Start(whole string)
	// Done tells that a part, from 1, was confirmed since the start.
	Done(part int) bool
	// Confirm notes a part after the platform's confirmation. When it returns,
	// the end of this process, however it comes, does not take that away.
	Confirm(part int)

	// Finished is the checksum this state of the file was completed with, ""
	// when it was not.
	Finished() string
	// Finish notes that. The parts are forgotten.
	Finish(whole string)
	// Forget notes that what was known of the place does not count any more: it
	// comes before anything new is begun there, and is on disk when it returns.
	Forget()

	// Changed tells that another state of this file was going to this place. When
	// it was Started with the same checksum, only the time of the file is another.
	Changed() bool
}

// forgetful is the journal of those who have none.
type forgetful struct{}

func (forgetful) Open(File, Place, int64) Entry  { return forgetful{} }
func (forgetful) Begin(File, Place, int64) Entry { return forgetful{} }

func (forgetful) Sums() (string, []string) { return "", nil }
func (forgetful) Hashed(string, []string)  {}
func (forgetful) Started(string) bool      { return false }
func (forgetful) Start(string)             {}
func (forgetful) Done(int) bool            { return false }
func (forgetful) Confirm(int)              {}
func (forgetful) Finished() string         { return "" }
func (forgetful) Finish(string)            {}
func (forgetful) Forget()                  {}
func (forgetful) Changed() bool            { return false }
