package runtime

import (
	"strings"

	"transect/client/transport"
	"transect/runtime/vm"
)

// plain are the characters that no shell changes.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

// CommandLine returns the command of a process for pasting into a shell, without secrets; "" for a script
// that cannot be read again.
func CommandLine(p *Process, job *Job) string {
	if len(p.Args) == 0 || p.Args[0] == "test" || job.Script == "-" || job.Script == "" && job.Code == "" {
		return ""
	}
	words, hide := []string{"transect"}, false
	for _, arg := range p.Args {
		name, value, joined := strings.Cut(arg, "=")
		flag := strings.HasPrefix(arg, "-")
		switch {
		case hide && !flag:
			arg = "..."
		case joined && value != "" && vm.IsSecretName(name):
			arg = name + "=..."
		default:
			arg = transport.Redact(arg)
		}
		hide = flag && !joined && vm.IsSecretName(name) && !strings.HasSuffix(name, "-file")
		if arg == "" || strings.Trim(arg, plain) != "" {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
