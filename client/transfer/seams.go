package transfer

import (
	"context"
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"hash"
	"strings"

	"golang.org/x/sync/semaphore"

	"transect/client/fault"
)

// DefaultConnections is how many transfers of bytes run at a time unless told
// otherwise.
const DefaultConnections = 6

// Budget is a number of connections shared by all transfers: files, parts and
// downloads alike.
type Budget struct{ slots *semaphore.Weighted }

// NewBudget allows n transfers of bytes at a time, at least one.
func NewBudget(n int) *Budget { return &Budget{slots: semaphore.NewWeighted(int64(max(n, 1)))} }

// Acquire waits for a connection. The error is that of the ended context.
func (b *Budget) Acquire(ctx context.Context) error {
	if b.slots.Acquire(ctx, 1) != nil {
		return stopped(ctx)
	}
	return nil
}

// Release gives a connection back.
func (b *Budget) Release() { b.slots.Release(1) }

// Hasher makes MD5 hashes.
type Hasher interface {
	New() hash.Hash
}

type plainMD5 struct{}

func (plainMD5) New() hash.Hash { return md5.New() }

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// checksum brings a given MD5 into its usual form.
func checksum(given string) (string, error) {
	sum := strings.ToLower(strings.TrimSpace(given))
	if b, err := hex.DecodeString(sum); sum != "" && (err != nil || len(b) != md5.Size) {
		return "", fault.Of(&fault.ParameterError{}, "%q is not an MD5 checksum: 32 hexadecimal digits", given)
	}
	return sum, nil
}
