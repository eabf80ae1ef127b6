package transfer

import (
	"context"
	"errors"
	"hash"
)

// Transfers uploads and downloads files. It is safe for concurrent use.
type Transfers struct{}

// Budget is a number of connections shared by all transfers.
type Budget struct{}

// NewBudget allows n transfers of bytes at a time.
func NewBudget(n int) *Budget { return &Budget{} }

// Journal remembers which parts of a file the platform has confirmed.
type Journal interface {
	// Done reports whether a part of a file was confirmed before.
	Done(fingerprint string, part int) bool
	// Confirm notes a part after the platform's confirmation.
	Confirm(fingerprint string, part int) error
}

// Hasher makes MD5 hashes.
type Hasher interface {
	New() hash.Hash
}

// New makes Transfers on a caller.
func New(c Caller, o Options) *Transfers { return &Transfers{} }

// Upload sends a file.
func (t *Transfers) Upload(ctx context.Context, u Upload) (Uploaded, error) {
	return Uploaded{}, errors.ErrUnsupported
}

// Download fetches a file and gives its path.
func (t *Transfers) Download(ctx context.Context, d Download) (string, error) {
	return "", errors.ErrUnsupported
}

// FileName gives a safe file name from a Content-Disposition header.
func FileName(contentDisposition string) string { return "unknown" }
