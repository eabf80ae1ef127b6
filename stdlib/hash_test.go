package stdlib_test

import (
	"testing"

	"transect/runtime/vm"
)

// Published values: RFC 1321, FIPS 180-4, the CRC catalogue's check of
// 123456789, RFC 3720 for CRC-32C, the xxHash specification, RFC 2202 and 4231.
func TestChecksums(t *testing.T) {
	_, _, err := run(t, vm.Options{Dir: t.TempDir()}, `
		local hash, fs = require("hash"), require("fs")
		for _, c in ipairs({
			{ "md5", "abc", "900150983cd24fb0d6963f7d28e17f72" },
			{ "sha1", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
			{ "sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
			{ "sha512", "abc", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f" },
			{ "crc32", "123456789", "cbf43926" },
			{ "crc32c", "123456789", "e3069283" },
			{ "xxh64", "", "ef46db3751d8e999" },
			{ "xxh64", "abc", "44bc2cf5ad770999" },
		}) do
			local method, text, want = c[1], c[2], c[3]
			assert(hash[method](text) == want, method)
			fs.write("text", text)
			assert(hash[method .. "_file"]("text") == want, method)
		end
		for _, c in ipairs({
			{ "md5", ("\v"):rep(16), "Hi There", "9294727a3638bb1c13f48ef8158bfc9d" },
			{ "sha1", ("\v"):rep(20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00" },
			{ "sha256", "Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
			{ "sha512", "Jefe", "what do ya want for nothing?", "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737" },
		}) do
			assert(hash.hmac(c[1], c[2], c[3]) == c[4], c[1])
		end
		for form, want in pairs({ hex = "cbf43926", base64 = "y/Q5Jg==", raw = string.char(0xcb, 0xf4, 0x39, 0x26), number = 3421780262 }) do
			assert(hash.crc32("123456789", { form = form }) == want, form)
		end
		local function refused(message, f, ...)
			local _, e = try(f, ...)
			assert(e and e.name == "ParameterError" and tostring(e):find(message, 1, true), tostring(e))
		end
		refused("only checksums of 32 bits", hash.xxh64, "", { form = "number" })
		refused("did you mean sha256", hash.new, "sha265")
		refused("crc32", hash.hmac, "crc32", "", "")
		refused("there is no HMAC of crc32", hash.new, "crc32", { key = "" })
		assert(hash.equal("ABCD", "abcd") and not hash.equal("y/Q5Jg==", "Y/Q5Jg==") and not hash.equal("abcd", "abce"))`)
	if err != nil {
		t.Error(err)
	}
}
