package transfer

import (
	"mime"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	longestName      = 200 // bytes, well below what file systems allow
	longestExtension = 20
	nameless         = "unknown"
)

// FileName returns the file name from a Content-Disposition header, made safe: a plain name that is
// valid on every system and stays in its folder. The extended form (filename*) has precedence.
// Without a usable name it returns "unknown". Parsed by hand because mime.ParseMediaType rejects
// headers that servers send.
func FileName(contentDisposition string) string {
	parameters := dispositionParameters(contentDisposition)
	if v, ok := parameters["filename*"]; ok {
		if name, ok := decodeExtended(v); ok {
			if safe := SafeName(name); safe != nameless {
				return safe
			}
		}
	}
	if name, ok := parameters["filename"]; ok {
		if decoded, err := new(mime.WordDecoder).DecodeHeader(name); err == nil {
			name = decoded
		}
		return SafeName(name)
	}
	// Continuations: filename*0, filename*1.
	if _, p, err := mime.ParseMediaType(contentDisposition); err == nil {
		return SafeName(p["filename"])
	}
	return nameless
}

// parameterPattern matches a parameter and its value, quoted or up to the next
// semicolon.
var parameterPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([^;="\s]+)\s*=[ \t]*(?:"((?:[^"\\]|\\.)*)|([^;]*))`)
})

var unquote = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// dispositionParameters parses parameters leniently: servers send unquoted blanks, raw Latin-1 and
// Windows paths. The first of repeated parameters counts.
func dispositionParameters(header string) map[string]string {
	out := map[string]string{}
	for _, match := range parameterPattern().FindAllStringSubmatch(header, -1) {
		name := strings.ToLower(match[1])
		if _, twice := out[name]; !twice {
			out[name] = unquote.Replace(match[2]) + strings.TrimSpace(match[3])
		}
	}
	return out
}

// decodeExtended decodes charset'language'percent-encoded.
func decodeExtended(v string) (string, bool) {
	parts := strings.SplitN(v, "'", 3)
	if len(parts) < 3 {
		return "", false
	}
	raw, err := url.PathUnescape(parts[2])
	if err != nil {
		return "", false
	}
	switch strings.ToLower(strings.TrimSpace(parts[0])) {
	case "utf-8", "utf8", "us-ascii":
		return raw, utf8.ValidString(raw)
	case "iso-8859-1", "latin1":
		return latin1(raw), true
	}
	return "", false
}

func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// SafeName converts any text to a plain file name.
func SafeName(name string) string {
	if !utf8.ValidString(name) {
		name = latin1(name)
	}
	name = strings.ReplaceAll(name, `\`, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1 // including marks that reverse the direction of text
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = trimName(name)
	if isDevice(name) {
		name = "_" + name
	}
	if name = shorten(name); name == "" {
		return nameless
	}
	return name
}

func trimName(name string) string { return strings.Trim(name, ". ") }

// shorten cuts a name to longestName bytes and keeps its extension.
func shorten(name string) string {
	if len(name) <= longestName {
		return name
	}
	extension := filepath.Ext(name)
	if len(extension) > longestExtension {
		extension = ""
	}
	stem := name[:longestName-len(extension)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return trimName(stem) + extension
}

// isDevice reports whether a name is a Windows device, with any extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, prefix := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(stem, prefix); ok && utf8.RuneCountInString(n) == 1 &&
			strings.Contains("0123456789¹²³", n) {
			return true
		}
	}
	return false
}
