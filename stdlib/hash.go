package stdlib

import (
	"context"
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
	"io"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"transect/client/fault"
	"transect/client/wait"
	"transect/runtime/module"
)

// hashMethods lists the checksums; the keyed ones support HMAC.
var hashMethods = []struct {
	name, long string
	keyed      bool
	start      func() hash.Hash
}{
	{"md5", "MD5", true, md5.New},
	{"sha1", "SHA-1", true, sha1.New},
	{"sha256", "SHA-256", true, sha256.New},
	{"sha512", "SHA-512", true, sha512.New},
	{"crc32", "CRC-32 (of zip and PNG)", false, func() hash.Hash { return crc32.NewIEEE() }},
	{"crc32c", "CRC-32C (Castagnoli, of cloud storage)", false,
		func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }},
	{"xxh64", "XXH64", false, func() hash.Hash { return xxhash.New() }},
}

// hashNames lists the names of all or only the keyed methods.
func hashNames(keyed bool) (names []string) {
	for _, m := range hashMethods {
		if m.keyed || !keyed {
			names = append(names, m.name)
		}
	}
	return names
}

var (
	hashText   = module.Param{Name: "text", Type: "string", Doc: "any bytes"}
	hashOption = module.Param{Name: "options", Fields: []module.Param{
		{Name: "form", Type: "string",
			Doc:     "output encoding: hex is lower-case hexadecimal, raw the bytes, number for checksums of 32 bits",
			Default: "hex", Choices: []string{"hex", "base64", "raw", "number"}}}}
	hmacMethod = module.Param{Name: "method", Type: "string", Doc: "of the checksum", Choices: hashNames(true)}
	hmacKey    = module.Param{Name: "key", Type: "string", Doc: "the secret, any bytes"}
)

// hashFuncs declares the functions of each method.
func hashFuncs() (list []module.Func) {
	for _, m := range hashMethods {
		call := func(c *module.Call) (any, error) { return sumOf(c, m.name) }
		list = append(list, module.Func{
			Name: m.name, Doc: "The " + m.long + " checksum of a string.",
			Params: []module.Param{hashText, hashOption}, Returns: "the checksum", Call: call,
		}, module.Func{
			Name: m.name + "_file", Doc: "The " + m.long + " checksum of a file, read piece by piece.",
			Params: []module.Param{pathParam("the file"), hashOption}, Returns: "the checksum", Call: call,
		})
	}
	return list
}

var hashModule = &module.Module{
	Name: "hash",
	Doc: "Checksums of strings and files, plain and keyed (HMAC). Against forgery use sha256 or sha512; " +
		"crc32 and xxh64 only find damage, and xxh64 is the fastest.",
	Types: []*module.Type{hasherType},
	Lazy:  allHashFuncs,
}

func allHashFuncs() []module.Func {
	return append(hashFuncs(), []module.Func{
		{
			Name: "hmac", Doc: "The HMAC of a string (RFC 2104), as used to sign webhooks.",
			Params: []module.Param{hmacMethod, hmacKey, hashText, hashOption}, Returns: "the checksum",
			Call: func(c *module.Call) (any, error) { return sumOf(c, c.String("method")) },
		},
		{
			Name: "hmac_file", Doc: "The HMAC of a file, read in pieces.",
			Params: []module.Param{hmacMethod, hmacKey, pathParam("the file"), hashOption}, Returns: "the checksum",
			Call: func(c *module.Call) (any, error) { return sumOf(c, c.String("method")) },
		},
		{
			Name: "new", Doc: "Starts an incremental checksum.",
			Params: []module.Param{{Name: "method", Type: "string", Doc: "of the checksum", Choices: hashNames(false)},
				{Name: "options", Fields: []module.Param{{Name: "key", Type: "string", Doc: "a secret, for a keyed checksum (HMAC)",
					Optional: true}}}},
			Returns: "a hasher",
			Call: func(c *module.Call) (any, error) {
				return module.NewObject(c.L, hasherType, &hasher{newHash(c, c.String("method")), c.String("method")}), nil
			},
		},
		{
			Name: "equal", Doc: "Compares two checksums in constant time, for signatures; hexadecimal is case-insensitive.",
			Params: []module.Param{{Name: "a", Type: "string", Doc: "a checksum"},
				{Name: "b", Type: "string", Doc: "another"}}, Returns: "true or false",
			Call: func(c *module.Call) (any, error) { return equalSums(c.String("a"), c.String("b")), nil },
		},
	}...)
}

// hasher is an unfinished checksum.
type hasher struct {
	hash.Hash
	method string
}

var hasherType = &module.Type{
	Name: "hasher", Doc: "An incremental checksum.",
	Methods: []module.Func{
		{
			Name: "update", Doc: "Adds bytes.", Params: []module.Param{hashText}, Returns: "the hasher, for more",
			Call: func(c *module.Call) (any, error) {
				h := c.Self.(*hasher)
				_, err := io.WriteString(h, c.String("text"))
				return c.L.Get(1), err
			},
		},
		{
			Name: "sum", Doc: "The checksum of all bytes so far; more may follow.", Params: []module.Param{hashOption},
			Returns: "the checksum",
			Call:    func(c *module.Call) (any, error) { return sumText(c, c.Self.(*hasher)) },
		},
	},
	Text: func(self any) string { return "hasher (" + self.(*hasher).method + ")" },
}

// newHash starts a checksum, keyed (HMAC) when the call has a key.
func newHash(c *module.Call, method string) hash.Hash {
	m := hashMethods[slices.Index(hashNames(false), method)]
	switch {
	case !c.Has("key"):
		return m.start()
	case !m.keyed:
		c.Raise(fault.Of(&fault.ParameterError{}, "there is no HMAC of %s; the methods are %s", method,
			strings.Join(hashNames(true), ", ")))
	}
	return hmac.New(m.start, []byte(c.String("key")))
}

// sumOf returns the checksum of the argument text, or of the file path.
func sumOf(c *module.Call, method string) (any, error) {
	h := newHash(c, method)
	if !c.Has("path") {
		_, _ = io.WriteString(h, c.String("text")) // to memory
		return sumText(c, h)
	}
	f := atPath(c, c.In.OpenToRead)
	defer f.Close()
	c.Must(namedFile(c.String("path"), c.Blocking(func(ctx context.Context) error {
		_, err := io.Copy(h, wait.Reader(ctx, f))
		return err
	})))
	return sumText(c, h)
}

// sumText formats a checksum according to the option form.
func sumText(c *module.Call, h hash.Hash) (any, error) {
	sum := h.Sum(nil)
	switch c.String("form") {
	case "base64":
		return base64.StdEncoding.EncodeToString(sum), nil
	case "raw":
		return sum, nil
	case "number":
		if len(sum) != 4 {
			return nil, fault.Of(&fault.ParameterError{}, "only checksums of 32 bits are numbers, this one has %d", 8*len(sum))
		}
		return binary.BigEndian.Uint32(sum), nil
	}
	return hex.EncodeToString(sum), nil
}

// equalSums compares checksums in constant time; in hexadecimal, case is ignored.
func equalSums(a, b string) bool {
	x, err := hex.DecodeString(a)
	y, err2 := hex.DecodeString(b)
	if err != nil || err2 != nil {
		x, y = []byte(a), []byte(b)
	}
	return hmac.Equal(x, y)
}
