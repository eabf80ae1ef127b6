package stdlib

import (
	"context"
	"hash"
	"io"
	"slices"

	"transect/runtime/module"
	"transect/stdlib/checksum"
	"transect/stdlib/filetree"
)

var (
	hashText   = module.Param{Name: "text", Type: "string", Doc: "any bytes"}
	hashForm   = module.Param{Name: "form", Type: "string", Doc: "output encoding: hex is lower-case hexadecimal, raw the bytes, number for checksums of 32 bits", Default: "hex", Choices: checksum.Forms}
	hashOption = module.Param{Name: "options", Fields: []module.Param{hashForm}}
	hmacMethod = module.Param{Name: "method", Type: "string", Doc: "of the checksum", Choices: checksum.Keyed}
	hmacKey    = module.Param{Name: "key", Type: "string", Doc: "the secret, any bytes"}
)

// hashFuncs declares the functions of a method.
func hashFuncs(name, long string) []module.Func {
	call := func(c *module.Call) (any, error) { return sumOf(c, name) }
	return []module.Func{
		{
			Name: name, Doc: "The " + long + " checksum of a text.",
			Params: []module.Param{hashText, hashOption}, Returns: "the checksum", Call: call,
		},
		{
			Name: name + "_file", Doc: "The " + long + " checksum of a file, read piece by piece.",
			Params: []module.Param{pathParam("the file"), hashOption}, Returns: "the checksum", Call: call,
		},
	}
}

var hashModule = &module.Module{
	Name: "hash",
	Doc: "Checksums of texts and files, plain and keyed (HMAC). Against forgery use sha256 or sha512; " +
		"crc32 and xxh64 only find damage, and xxh64 is the fastest.",
	Types: []*module.Type{hasherType},
	Funcs: slices.Concat(
		hashFuncs("md5", "MD5"),
		hashFuncs("sha1", "SHA-1"),
		hashFuncs("sha256", "SHA-256"),
		hashFuncs("sha512", "SHA-512"),
		hashFuncs("crc32", "CRC-32 (of zip and PNG)"),
		hashFuncs("crc32c", "CRC-32C (Castagnoli, of cloud storage)"),
		hashFuncs("xxh64", "XXH64"),
		[]module.Func{
			{
				Name: "hmac", Doc: "The HMAC of a text (RFC 2104), as used to sign webhooks.",
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
				Params: []module.Param{{Name: "method", Type: "string", Doc: "of the checksum", Choices: checksum.Methods},
					{Name: "options", Fields: []module.Param{{Name: "key", Type: "string", Doc: "a secret, for a keyed checksum (HMAC)", Optional: true}}}},
				Returns: "a hasher",
				Call: func(c *module.Call) (any, error) {
					h, err := newHash(c, c.String("method"))
					if err != nil {
						return nil, err
					}
					return module.NewObject(c.L, hasherType, &hasher{h, c.String("method")}), nil
				},
			},
			{
				Name: "equal", Doc: "Compares two checksums in constant time, for signatures; hexadecimal is case-insensitive.",
				Params: []module.Param{{Name: "a", Type: "string", Doc: "a checksum"}, {Name: "b", Type: "string", Doc: "another"}}, Returns: "true or false",
				Call: func(c *module.Call) (any, error) { return checksum.Equal(c.String("a"), c.String("b")), nil },
			},
		}),
}

// hasher is a checksum on its way.
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
			Name: "sum", Doc: "The checksum of all bytes so far; more may follow.", Params: []module.Param{hashOption}, Returns: "the checksum",
			Call: func(c *module.Call) (any, error) { return checksum.Text(c.Self.(*hasher).Sum(nil), c.String("form")) },
		},
	},
	Text: func(self any) string { return "hasher (" + self.(*hasher).method + ")" },
}

// newHash starts a checksum, keyed when the call has a key.
func newHash(c *module.Call, method string) (hash.Hash, error) {
	if c.Has("key") {
		return checksum.NewKeyed(method, []byte(c.String("key")))
	}
	return checksum.New(method)
}

// sumOf is the checksum of the argument text, or of the file path.
func sumOf(c *module.Call, method string) (any, error) {
	h, err := newHash(c, method)
	if err != nil {
		return nil, err
	}
	if c.Has("path") {
		err = hashFile(c, h)
	} else {
		_, err = io.WriteString(h, c.String("text"))
	}
	if err != nil {
		return nil, err
	}
	return checksum.Text(h.Sum(nil), c.String("form"))
}

func hashFile(c *module.Call, h hash.Hash) error {
	f := atPath(c, c.In.OpenToRead)
	defer f.Close()
	return namedFile(c.String("path"), c.Blocking(func(ctx context.Context) error {
		_, err := io.Copy(h, filetree.Reader{Context: ctx, From: f})
		return err
	}))
}
