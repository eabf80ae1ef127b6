// Package dotenv reads .env files: NAME=value lines in shell syntax, without expansion of values. It is
// written by hand because godotenv expands $ and quotes values, possibly secrets, in its errors.
package dotenv

import "strings"

// Parse reads NAME=value lines. On an error it returns the line and the reason, without the value: it may be
// a secret.
func Parse(text string) (values map[string]string, line int, why string) {
	values = map[string]string{}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for line = 1; text != ""; {
		head, _, _ := strings.Cut(text, "\n")
		if trimmed := strings.TrimSpace(head); trimmed == "" || trimmed[0] == '#' {
			text = strings.TrimPrefix(text[len(head):], "\n")
			line++
			continue
		}
		name, _, ok := strings.Cut(head, "=")
		if !ok {
			return nil, line, "there is no = in it"
		}
		rest := strings.TrimLeft(text[len(name)+1:], " \t")
		name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "export "))
		if !isVariable(name) {
			return nil, line, "there is no variable name before ="
		}
		value, after, why := dotEnvValue(rest)
		if why != "" {
			return nil, line, why
		}
		values[name] = value
		line += strings.Count(text[:len(text)-len(after)], "\n")
		text = after
	}
	return values, line, ""
}

// dotEnvValue splits a value off the start of text, and returns the rest of its line.
func dotEnvValue(text string) (value, after, why string) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		value, after, _ = strings.Cut(text, "\n")
		if strings.HasPrefix(value, "#") {
			value = ""
		}
		for _, comment := range []string{" #", "\t#"} {
			value, _, _ = strings.Cut(value, comment)
		}
		return strings.TrimSpace(value), after, ""
	}
	var b strings.Builder
	quote, escapes := text[0], map[byte]byte{'n': '\n', 't': '\t', 'r': '\r'}
	for i := 1; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == quote:
			rest, after, _ := strings.Cut(text[i+1:], "\n")
			if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
				return "", "", "something follows the closing quote"
			}
			return b.String(), after, ""
		case ch == '\\' && quote == '"' && i+1 < len(text):
			i++
			if e, ok := escapes[text[i]]; ok {
				b.WriteByte(e)
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(ch)
		}
	}
	return "", "", "the closing quote is missing"
}

func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') &&
			(i == 0 || (r < '0' || r > '9') && r != '.' && r != '-') {
			return false
		}
	}
	return name != ""
}
