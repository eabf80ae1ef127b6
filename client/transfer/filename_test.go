package transfer

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFileName(t *testing.T) {
	long := strings.Repeat("é", 150)
	for header, want := range map[string]string{
		``:                                 "unknown",
		`attachment`:                       "unknown",
		`attachment; filename="ortho.tif"`: "ortho.tif",
		`attachment; filename=ortho.tif`:   "ortho.tif",
		`ATTACHMENT; FileName = "ortho.tif" ; size=3`:                   "ortho.tif",
		`attachment; filename=my file.tif`:                              "my file.tif",
		`attachment; filename="a;b.tif"`:                                "a;b.tif",
		`attachment; filename="say \"hi\".tif"`:                         "say _hi_.tif",
		`attachment; filename*=UTF-8''na%C3%AFve%20plan.tif`:            "naïve plan.tif",
		`attachment; filename*=utf-8'en'x.tif`:                          "x.tif",
		`attachment; filename*=ISO-8859-1''caf%E9.tif`:                  "café.tif",
		`attachment; filename="plain.tif"; filename*=UTF-8''better.tif`: "better.tif",
		`attachment; filename*=UTF-8''better.tif; filename="plain.tif"`: "better.tif",
		`attachment; filename*=UTF-8''%zz; filename="plain.tif"`:        "plain.tif",
		`attachment; filename*=KOI8-R''x; filename="plain.tif"`:         "plain.tif",
		`attachment; filename*=UTF-8''%FF; filename="plain.tif"`:        "plain.tif",
		`attachment; filename*0="part one "; filename*1="two.tif"`:      "part one two.tif",
		`attachment; filename="=?UTF-8?B?w6kudGlm?="`:                   "é.tif",
		"attachment; filename=\"caf\xe9.tif\"":                          "café.tif",
		`filename="only.tif"`:                                           "only.tif",
		`attachment; filename="../../etc/passwd"`:                       "passwd",
		`attachment; filename="/etc/passwd"`:                            "passwd",
		`attachment; filename="C:\Windows\evil.exe"`:                    "evil.exe",
		`attachment; filename*=UTF-8''..%2F..%2Fevil.sh`:                "evil.sh",
		`attachment; filename*=UTF-8''..%5Cevil.bat`:                    "evil.bat",
		`attachment; filename="C:evil"`:                                 "C_evil",
		`attachment; filename=".."`:                                     "unknown",
		`attachment; filename="."`:                                      "unknown",
		`attachment; filename="folder/"`:                                "unknown",
		`attachment; filename=" . . "`:                                  "unknown",
		`attachment; filename=".bashrc"`:                                "bashrc",
		`attachment; filename="a.tif. ."`:                               "a.tif",
		"attachment; filename=\"a\x00b\x07\nc.tif\"":                    "abc.tif",
		"attachment; filename=\"fdp\u202Egpj.exe\"":                     "fdpgpj.exe",
		`attachment; filename="CON"`:                                    "_CON",
		`attachment; filename="nul.txt"`:                                "_nul.txt",
		`attachment; filename="com1.tar.gz"`:                            "_com1.tar.gz",
		`attachment; filename="LPT¹"`:                                   "_LPT¹",
		`attachment; filename="console.txt"`:                            "console.txt",
		`attachment; filename="a<b>c|d?e*f:g.tif"`:                      "a_b_c_d_e_f_g.tif",
		`attachment; filename="` + long + `.tif"`:                       strings.Repeat("é", 98) + ".tif",
		`attachment; filename="` + strings.Repeat("x", 300) + `"`:       strings.Repeat("x", 200),
		`attachment; filename="x.` + strings.Repeat("y", 300) + `"`:     "x." + strings.Repeat("y", 198),
		`attachment; filename*=UTF-8''..; filename="plain.tif"`:         "plain.tif",
	} {
		if got := FileName(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, seed := range []string{`attachment; filename="../a"`, `x; filename*=UTF-8''%2e%2e%2f`, `x;filename*0="a";filename*1=b`, `;filename=CON.`, "x; filename=\xff\xfe", `filename="\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		name := FileName(header)
		if name == "" || len(name) > longestName || !utf8.ValidString(name) || !filepath.IsLocal(name) || filepath.Base(name) != name ||
			strings.ContainsAny(name, "/\\:\x00") || isDevice(name) || trimName(name) != name {
			t.Errorf("%q gives %q", header, name)
		}
		if again := SafeName(name); again != name {
			t.Errorf("%q becomes %q", name, again)
		}
	})
}
