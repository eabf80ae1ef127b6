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
	"transect/runtime/vm"
	"transect/scripts"
)

const (
	maxStack  = 5   // lines of a stack trace that are printed
	maxSource = 160 // characters of a source line that are printed
)

// SourceLine is a line of a script, with its text where that can be read.
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

func withSource(name, code string, err error) error {
	if err == nil {
		return nil
	}
	return &sourceError{err, name, code}
}

// stack is the stack trace of an error with its source lines.
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
		if scripts.IsRef(frame.File) {
			continue // of the binary: its lines help nobody
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

// Scripts lists the named files, and the .lua files in named folders.
func (p *Process) Scripts(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		root := p.Path(arg)
		info, err := os.Stat(root)
		if arg == "-" || err == nil && !info.IsDir() {
			files = append(files, arg)
			continue
		}
		if err != nil {
			return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read %s: %w", arg, fault.Reason(err)),
				"check the path")
		}
		err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != root && strings.HasPrefix(entry.Name(), "."): // of an editor or version control
				if entry.IsDir() {
					return filepath.SkipDir
				}
				return nil
			case entry.IsDir() || filepath.Ext(path) != ".lua":
				return nil
			}
			within, err := filepath.Rel(root, path)
			files = append(files, filepath.Join(arg, within))
			return err
		})
		if err != nil {
			return nil, fault.Of(&fault.UsageError{}, "cannot read %s: %w", arg, fault.Reason(err))
		}
	}
	return files, nil
}

// HasModule reports whether require finds a module in the script's folder, in
// TRANSECT_PATH or in the binary.
func (p *Process) HasModule(script, module string) bool {
	_, code := scripts.Module(module)
	return code != nil || p.ModuleFile(script, module) != ""
}

// ModuleFile is the file of a module in the script's folder or in TRANSECT_PATH, "" when
// there is none.
func (p *Process) ModuleFile(script, module string) string {
	name := strings.ReplaceAll(module, ".", string(filepath.Separator))
	for _, dir := range append([]string{filepath.Dir(script)}, filepath.SplitList(p.Getenv("TRANSECT_PATH"))...) {
		for _, file := range []string{name + ".lua", filepath.Join(name, "init.lua")} {
			path := p.Path(filepath.Join(dir, file))
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return ""
}
