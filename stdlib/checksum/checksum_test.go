package checksum_test

import (
	"strings"
	"testing"

	"transect/stdlib/checksum"
)

// Published values: RFC 1321, FIPS 180-4, the CRC catalogue's check of
// 123456789, RFC 3720 for CRC-32C, the xxHash specification, RFC 2202 and 4231.
func TestPublishedValues(t *testing.T) {
	for _, c := range []struct{ method, text, want string }{
		{"md5", "abc", "900150983cd24fb0d6963f7d28e17f72"},
		{"sha1", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"sha256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"sha512", "abc", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
		{"crc32", "123456789", "cbf43926"},
		{"crc32c", "123456789", "e3069283"},
		{"xxh64", "", "ef46db3751d8e999"},
		{"xxh64", "abc", "44bc2cf5ad770999"},
	} {
		h, err := checksum.New(c.method)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = h.Write([]byte(c.text))
		if got, err := checksum.Text(h.Sum(nil), "hex"); err != nil || got != c.want {
			t.Errorf("%s of %q: %v, %v", c.method, c.text, got, err)
		}
	}
	for _, c := range []struct{ method, key, text, want string }{
		{"md5", strings.Repeat("\x0b", 16), "Hi There", "9294727a3638bb1c13f48ef8158bfc9d"},
		{"sha1", strings.Repeat("\x0b", 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"},
		{"sha256", "Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{"sha512", "Jefe", "what do ya want for nothing?", "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
	} {
		h, err := checksum.NewKeyed(c.method, []byte(c.key))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = h.Write([]byte(c.text))
		if got, _ := checksum.Text(h.Sum(nil), "hex"); got != c.want {
			t.Errorf("HMAC %s: %v", c.method, got)
		}
	}
}

func TestForms(t *testing.T) {
	sum := []byte{0xcb, 0xf4, 0x39, 0x26}
	for form, want := range map[string]any{"hex": "cbf43926", "base64": "y/Q5Jg==", "raw": "\xcb\xf4\x39\x26", "number": 3421780262.0} {
		if got, err := checksum.Text(sum, form); err != nil || got != want {
			t.Errorf("%s: %v, %v", form, got, err)
		}
	}
	if _, err := checksum.Text(make([]byte, 8), "number"); err == nil {
		t.Error("64 bits are a number")
	}
	if _, err := checksum.New("sha265"); err == nil || !strings.Contains(err.Error(), "did you mean sha256") {
		t.Error(err)
	}
	if _, err := checksum.NewKeyed("crc32", nil); err == nil {
		t.Error("an HMAC of a CRC")
	}
	if !checksum.Equal("ABCD", "abcd") || checksum.Equal("y/Q5Jg==", "Y/Q5Jg==") || checksum.Equal("abcd", "abce") {
		t.Error("not equal as it should be")
	}
}
