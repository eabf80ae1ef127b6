package stdlib

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"

	"transect/runtime/vm"
)

func hashFuncs(name string, newHash func() hash.Hash, ofAbc string) []vm.Func {
	return []vm.Func{
		{
			Name: name, Doc: "The " + name + " checksum of a text.",
			Params:  []vm.Param{{Name: "text", Type: "string", Doc: "any bytes"}},
			Returns: "the checksum in lower-case hexadecimal",
			Example: `assert(require("hash").` + name + `("abc") == "` + ofAbc + `")`,
			Call: func(c *vm.Call) (any, error) {
				h, text := newHash(), c.String("text")
				_, err := io.WriteString(h, text)
				return hex.EncodeToString(h.Sum(nil)), err
			},
		},
		{
			Name: name + "_file", Doc: "The " + name + " checksum of a file, read piece by piece.",
			Params:  []vm.Param{{Name: "path", Type: "string", Doc: "the file"}},
			Returns: "the checksum in lower-case hexadecimal",
			Example: `require("fs").write("abc.txt", "abc")
assert(require("hash").` + name + `_file("abc.txt") == "` + ofAbc + `")`,
			Call: func(c *vm.Call) (any, error) {
				h, path := newHash(), c.In.Path(c.String("path"))
				err := c.Blocking(func(ctx context.Context) error {
					f, err := c.In.Open(path, os.O_RDONLY, 0)
					if err != nil {
						return err
					}
					defer f.Close()
					_, err = io.Copy(h, reader{ctx, f})
					return err
				})
				return hex.EncodeToString(h.Sum(nil)), fileError(c, "path", err)
			},
		},
	}
}

var hashModule = &vm.Module{
	Name: "hash",
	Doc:  "Checksums of texts and files.",
	Funcs: append(
		hashFuncs("md5", md5.New, "900150983cd24fb0d6963f7d28e17f72"),
		hashFuncs("sha256", sha256.New, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")...),
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
