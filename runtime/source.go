package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"transect/client/fault"
	"transect/client/regular"
	"transect/runtime/vm"
)

const (
	maxStack  = 5   // lines of a stack trace that are printed
	maxSource = 160 // characters of a source line that are printed
)

// SourceLine is a line of a script, with its text if that can be read.
type SourceLine struct {
	File string
	Line int
	Text string
}

func (l SourceLine) String() string {
	if l.Line == 0 {
		return l.File
	}
	return fmt.Sprintf("%s:%d", l.File, l.Line)
}

// sourceError is an error in a script that is not a file, with its source.
type sourceError struct {
	error
	name, code string
}

func (e *sourceError) Unwrap() error { return e.error }

// WithSource adds the code of a script that is not a file to its error, for Report.
func WithSource(name, code string, err error) error {
	if err == nil {
		return nil
	}
	return &sourceError{err, name, code}
}

// stack returns the stack trace of an error with its source lines.
func (p *Process) stack(err error) []SourceLine {
	var stack []SourceLine
	files := map[string][]string{}
	if own, ok := errors.AsType[*sourceError](err); ok {
		files[own.name] = strings.Split(own.code, "\n")
	}
	for _, frame := range vm.Failure(err).Frames {
		at := SourceLine{File: frame.File, Line: frame.Line}
		if len(stack) == maxStack {
			break
		}
		if isReady(frame.File) {
			continue // of the binary: its lines do not help
		}
		if len(stack) > 0 && stack[len(stack)-1].String() == at.String() {
			continue // several calls in one line
		}
		lines, read := files[frame.File]
		if !read {
			if text, err := os.ReadFile(p.Path(frame.File)); err == nil {
				lines = strings.Split(string(text), "\n")
			}
			files[frame.File] = lines
		}
		if n := frame.Line; n > 0 && n <= len(lines) {
			at.Text = quote(lines[n-1])
		}
		stack = append(stack, at)
	}
	return stack
}

// secretLiteral matches string literals that a script assigns to secret
// settings. Quoting the line must not write them into a log.
var secretLiteral = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\w*(?:password|secret|token)\w*["'\]]*\s*=\s*)(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)`)
})

func quote(line string) string {
	line = secretLiteral().ReplaceAllString(strings.TrimSpace(line), `${1}"…"`)
	if utf8.RuneCountInString(line) > maxSource {
		return fmt.Sprintf("%.*s …", maxSource, line)
	}
	return line
}

// maxScript bounds a script that is read to check or format it.
const maxScript = 4 << 20

// ScriptFile is a script that a command line names, or a folder that it names.
type ScriptFile struct {
	Name   string // as the command line has it; - is standard input
	Folder string // the folder; "" for a script that is named itself
	Err    error  // why this file or folder below it cannot be read
}

// Scripts lists the named files, and the .lua files in named folders.
func (p *Process) Scripts(args []string) (files []ScriptFile, err error) {
	for _, arg := range args {
		info, err := os.Stat(p.Path(arg))
		if arg == "-" || err == nil && !info.IsDir() {
			files = append(files, ScriptFile{Name: arg})
			continue
		}
		if err != nil {
			return nil, fault.Hinted(cannotReadScript(arg, err), "check the path")
		}
		root := p.Path(arg) + string(filepath.Separator)                                   // follows a link to a folder
		_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error { // each has its error
			name := arg
			if within := strings.TrimPrefix(path, filepath.Clean(root)+string(filepath.Separator)); path != root {
				name = filepath.Join(arg, within)
			}
			switch {
			case err != nil:
				files = append(files, ScriptFile{name, arg, cannotReadScript(name, err)})
				return nil
			case path != root && strings.HasPrefix(entry.Name(), "."): // of an editor or version control
				if entry.IsDir() {
					return filepath.SkipDir
				}
				return nil
			case entry.IsDir() || filepath.Ext(path) != ".lua":
				return nil
			}
			info, err := os.Stat(path)
			if err == nil && info.IsDir() {
				return nil // a link to a folder
			}
			if err == nil {
				err = regular.Check(path, info)
			}
			if err != nil {
				err = cannotReadScript(name, err)
			}
			files = append(files, ScriptFile{name, arg, err})
			return nil
		})
	}
	return files, nil
}

func cannotReadScript(name string, err error) *fault.UsageError {
	return fault.Of(&fault.UsageError{}, "cannot read %s: %w", name, fault.Reason(err))
}

// ReadScript reads a script.
func (p *Process) ReadScript(f ScriptFile) (code []byte, err error) {
	switch {
	case f.Err != nil:
		return nil, f.Err
	case f.Name == "-":
		code, err = regular.ReadAll(p.Stdin, f.Name, maxScript)
	case f.Folder != "":
		code, err = regular.Read(p.Path(f.Name), maxScript)
	default: // may be a pipe of the shell
		var file *os.File
		if file, err = os.Open(p.Path(f.Name)); err == nil {
			code, err = regular.ReadAll(file, f.Name, maxScript)
			_ = file.Close() // it was only read
		}
	}
	if err != nil {
		return nil, cannotReadScript(f.Name, err)
	}
	return code, nil
}

// Outside returns the target of a link in a folder if it is outside the folder, otherwise "".
func (p *Process) Outside(f ScriptFile) string {
	if f.Folder == "" {
		return ""
	}
	folder, err := filepath.EvalSymlinks(p.Path(f.Folder))
	to, failed := filepath.EvalSymlinks(p.Path(f.Name))
	if errors.Join(err, failed) != nil {
		return f.Name // it was removed or replaced
	}
	if within, err := filepath.Rel(folder, to); err == nil && filepath.IsLocal(within) {
		return ""
	}
	return to
}
