// Package checksum finds checksums by the name of their method, and the keyed
// ones of HMAC (RFC 2104).
package checksum

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"transect/client/fault"
	"transect/client/suggest"
)

// Methods are the names of all methods.
var Methods = []string{"md5", "sha1", "sha256", "sha512", "crc32", "crc32c", "xxh64"}

// Keyed are those that HMAC is for.
var Keyed = []string{"md5", "sha1", "sha256", "sha512"}

var made = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New,
	"crc32":  func() hash.Hash { return crc32.NewIEEE() },
	"crc32c": func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
	"xxh64":  func() hash.Hash { return xxhash.New() },
}

// New begins a checksum. An unknown method is a ParameterError.
func New(method string) (hash.Hash, error) {
	if start, ok := made[method]; ok {
		return start(), nil
	}
	return nil, unknown(method, Methods)
}

// NewKeyed begins an HMAC.
func NewKeyed(method string, key []byte) (hash.Hash, error) {
	if slices.Contains(Keyed, method) {
		return hmac.New(made[method], key), nil
	}
	return nil, unknown(method, Keyed)
}

func unknown(method string, known []string) error {
	return fault.Of(&fault.ParameterError{}, "there is no method %q%s; the methods are %s", method, suggest.Suffix(method, known), strings.Join(known, ", "))
}

// Forms are how a checksum can be written.
var Forms = []string{"hex", "base64", "raw", "number"}

// Text writes a checksum: in lower-case hexadecimal, base64, as its bytes, or
// for checksums of 32 bits as a number.
func Text(sum []byte, form string) (any, error) {
	switch form {
	case "base64":
		return base64.StdEncoding.EncodeToString(sum), nil
	case "raw":
		return string(sum), nil
	case "number":
		if len(sum) != 4 {
			return nil, fault.Of(&fault.ParameterError{}, "only checksums of 32 bits are numbers, this one has %d", 8*len(sum))
		}
		return float64(binary.BigEndian.Uint32(sum)), nil
	}
	return hex.EncodeToString(sum), nil
}

// Equal compares checksums without telling by its time where they differ; in
// hexadecimal the case of letters does not count.
func Equal(a, b string) bool {
	x, err := hex.DecodeString(a)
	y, err2 := hex.DecodeString(b)
	if err != nil || err2 != nil {
		x, y = []byte(a), []byte(b)
	}
	return hmac.Equal(x, y)
}
