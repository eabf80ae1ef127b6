package stdlib

import (
	"context"
	"hash"
	"io"
	"os"
	"slices"

	"transect/runtime/module"
	"transect/stdlib/checksum"
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
	start := func(c *module.Call) (hash.Hash, error) { return checksum.New(name) }
	return []module.Func{
		{
			Name: name, Doc: "The " + long + " checksum of a text.",
			Params: []module.Param{hashText, hashOption}, Returns: "the checksum",
			Call: func(c *module.Call) (any, error) { return hashOfText(c, start) },
		},
		{
			Name: name + "_file", Doc: "The " + long + " checksum of a file, read piece by piece.",
			Params: []module.Param{pathParam("the file"), hashOption}, Returns: "the checksum",
			Call: func(c *module.Call) (any, error) { return hashOfFile(c, start) },
		},
	}
}

func keyedHash(c *module.Call) (hash.Hash, error) {
	return checksum.NewKeyed(c.String("method"), []byte(c.String("key")))
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
				Call: func(c *module.Call) (any, error) { return hashOfText(c, keyedHash) },
			},
			{
				Name: "hmac_file", Doc: "The HMAC of a file, read in pieces.",
				Params: []module.Param{hmacMethod, hmacKey, pathParam("the file"), hashOption}, Returns: "the checksum",
				Call: func(c *module.Call) (any, error) { return hashOfFile(c, keyedHash) },
			},
			{
				Name: "new", Doc: "Starts an incremental checksum.",
				Params: []module.Param{{Name: "method", Type: "string", Doc: "of the checksum", Choices: checksum.Methods},
					{Name: "options", Fields: []module.Param{{Name: "key", Type: "string", Doc: "a secret, for a keyed checksum (HMAC)", Optional: true}}}},
				Returns: "a hasher",
				Call: func(c *module.Call) (any, error) {
					h, err := checksum.New(c.String("method"))
					if c.Has("key") {
						h, err = keyedHash(c)
					}
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

func hashOfText(c *module.Call, start func(*module.Call) (hash.Hash, error)) (any, error) {
	h, err := start(c)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(h, c.String("text")); err != nil {
		return nil, err
	}
	return checksum.Text(h.Sum(nil), c.String("form"))
}

func hashOfFile(c *module.Call, start func(*module.Call) (hash.Hash, error)) (any, error) {
	h, err := start(c)
	if err != nil {
		return nil, err
	}
	path := c.In.Path(c.String("path"))
	err = c.Blocking(func(ctx context.Context) error {
		f, err := c.In.Open(path, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(h, reader{ctx, f})
		return err
	})
	if err != nil {
		return nil, namedFile(c.String("path"), err)
	}
	return checksum.Text(h.Sum(nil), c.String("form"))
}

// reader stops reading when ctx ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
