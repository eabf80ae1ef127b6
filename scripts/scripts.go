// Package scripts holds the ready scripts inside the binary: the workflows of
// this folder, which transect run @NAME runs; the commands without Lua of the
// folder commands (transect ls, put, get …), and the modules of the folder lib,
// which any script can require.
//
// Nothing is parsed before a script runs. Begin reading with commands/ls.lua.
package scripts

import (
	"embed"
	"path"
	"slices"
	"strings"
	"sync"

	"transect/client/fault"
	"transect/client/suggest"
)

//go:embed *.lua commands lib
var files embed.FS

// mark begins the name of a script of the binary on the command line.
const mark = "@"

// Script is a script of the binary.
type Script struct {
	Name    string // without its mark
	Short   string // what it does, its first line
	Command bool   // a command of the command line
	Code    []byte
	file    string
}

// Ref is the name that transect run takes.
func (s Script) Ref() string { return mark + s.Name }

// Program is how the script is run from a shell.
func (s Script) Program() string {
	if s.Command {
		return "transect " + s.Name
	}
	return "transect run " + s.Ref()
}

// File is the name of the script's file.
func (s Script) File() string { return path.Base(s.file) }

// IsRef reports whether a script of the command line names one of the binary.
func IsRef(script string) bool { return strings.HasPrefix(script, mark) }

// Find returns a script of the binary by its name, with or without the mark.
func Find(name string) (Script, bool) {
	name = strings.TrimPrefix(name, mark)
	for _, s := range List() {
		if s.Name == name {
			return s, true
		}
	}
	return Script{}, false
}

// Code returns the source of the script @NAME, or an error that names similar ones.
func Code(ref string) ([]byte, error) {
	if s, ok := Find(ref); ok {
		return s.Code, nil
	}
	var known []string
	for _, s := range List() {
		known = append(known, s.Ref())
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no script %s in transect%s", ref,
		suggest.Suffix(ref, known)), "transect scripts lists them")
}

// Program returns how a shell runs the script of a name, "" for none.
func Program(name string) string {
	s, ok := Find(name)
	if !ok {
		return ""
	}
	return s.Program()
}

// List lists the scripts, workflows before commands, each by name.
var List = sync.OnceValue(func() []Script { return append(in("."), in("commands")...) })

// Commands lists the scripts that are commands.
func Commands() []Script {
	return slices.DeleteFunc(slices.Clone(List()), func(s Script) bool { return !s.Command })
}

func in(dir string) (list []Script) {
	entries, _ := files.ReadDir(dir) // of the binary
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".lua")
		if !ok || strings.HasSuffix(name, "_test") {
			continue
		}
		file := path.Join(dir, entry.Name())
		code, _ := files.ReadFile(file)
		first, _, _ := strings.Cut(string(code), "\n")
		short := strings.TrimRight(strings.TrimPrefix(first, "-- "), ".:")
		list = append(list, Script{Name: name, Short: short, Command: dir == "commands", Code: code, file: file})
	}
	return list
}

// Source is the text of a script or module by its name in messages, nil for none.
func Source(name string) []byte {
	if !IsRef(name) {
		return nil
	}
	code, _ := files.ReadFile(strings.TrimPrefix(name, mark))
	return code
}

// Modules lists the modules that Module returns.
func Modules() (names []string) {
	entries, _ := files.ReadDir("lib") // of the binary
	for _, entry := range entries {
		names = append(names, "lib."+strings.TrimSuffix(entry.Name(), ".lua"))
	}
	return names
}

// Module returns the source of a module of the binary, such as lib.find, and
// the name it has in messages; nil when there is none.
func Module(name string) (file string, code []byte) {
	if !strings.HasPrefix(name, "lib.") {
		return "", nil
	}
	file = strings.ReplaceAll(name, ".", "/") + ".lua"
	code, _ = files.ReadFile(file)
	return mark + file, code
}
