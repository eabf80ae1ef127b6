package transfer

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"hash"
	"strings"

	"transect/client/fault"
)

// Hasher makes MD5 hashes.
type Hasher interface {
	New() hash.Hash
}

type plainMD5 struct{}

func (plainMD5) New() hash.Hash { return md5.New() }

// givenSum brings a given MD5 into its usual form.
func givenSum(given string) (string, error) {
	sum := strings.ToLower(strings.TrimSpace(given))
	if b, err := hex.DecodeString(sum); sum != "" && (err != nil || len(b) != md5.Size) {
		return "", fault.Of(&fault.ParameterError{}, "%q is not an MD5 checksum: 32 hexadecimal digits", given)
	}
	return sum, nil
}
