package transfer

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"strings"

	"transect/client/fault"
)

// normalizeMD5 returns a given MD5 in lower case; an empty one stays empty.
func normalizeMD5(given string) (string, error) {
	sum := strings.ToLower(strings.TrimSpace(given))
	if b, err := hex.DecodeString(sum); sum != "" && (err != nil || len(b) != md5.Size) {
		return "", fault.Of(&fault.ParameterError{}, "%q is not an MD5 checksum: 32 hexadecimal digits", given)
	}
	return sum, nil
}
