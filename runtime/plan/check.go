package plan

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/declare"
	"transect/client/human"
	"transect/client/schema"
	"transect/runtime/sandbox"
	"transect/scripts"
)

// mostReads is how many lookups a plan rests on.
const mostReads = 10_000

var (
	planID     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^plan-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$`) })
	optionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^--[a-z][a-z-]*=`) })
	hexForm    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]+$`) })
	operations = sync.OnceValue(func() map[string]*declare.Spec {
		all := map[string]*declare.Spec{}
		for _, m := range client.Declarations() {
			for _, s := range m.Ops() {
				all[s.FullName()] = s
			}
		}
		return all
	})
)

// check refuses a head that this program does not write. Its id names files.
func (h *Head) check() error {
	script := h.Script
	switch {
	case !planID().MatchString(h.ID):
		return errors.New("its id is invalid")
	case script == "" || script == "-" || strings.ContainsRune(script, 0):
		return errors.New("it names no script that can be run again")
	case scripts.IsRef(script) && !isBuiltin(script):
		return fmt.Errorf("there is no script %s in this transect", human.Line(script))
	case !filepath.IsAbs(h.Folder):
		return errors.New("its folder is not an absolute path")
	case slices.ContainsFunc(h.Options, func(o string) bool { return !optionForm().MatchString(o) }):
		return errors.New("one of its options is invalid")
	}
	return nil
}

func isBuiltin(script string) bool {
	_, found := scripts.Find(script)
	return found
}

// check refuses a plan that this program would not write. For another user's plan it also verifies that the
// keys of writes match their lines.
func (p *Plan) check(own bool) error {
	if len(p.Reads) > mostReads {
		return fmt.Errorf("it depends on more than %s", human.Count(mostReads, "lookup"))
	}
	for i, c := range p.Code {
		if c.File == "" || !isHex(c.Sum, 64) {
			return fmt.Errorf("its script or module %d has no name or checksum", i+1)
		}
	}
	for i, f := range p.Files {
		if f.Path == "" || f.Size < 0 || !isHex(f.MD5, 32) {
			return fmt.Errorf("its file %d has no name, size or checksum", i+1)
		}
	}
	for i, r := range p.Reads {
		if _, _, err := r.call(); err != nil {
			return fmt.Errorf("its lookup %d: %w", i+1, err)
		}
	}
	for i, e := range p.Effects {
		if sandbox.Unknown(e.Kind) || e.After < 0 || e.After > len(p.Writes) {
			return fmt.Errorf("its effect %d is invalid", i+1)
		}
	}
	for i, w := range p.Writes {
		if err := w.check(i + 1); err != nil {
			return fmt.Errorf("its write %d: %w", i+1, err)
		}
	}
	if own {
		return nil
	}
	if !slices.ContainsFunc(p.Code, func(c Code) bool { return p.path(c.File) == p.path(p.Script) }) {
		return errors.New("it has no checksum of its script")
	}
	return p.checkKeys()
}

func isHex(text string, length int) bool { return len(text) == length && hexForm().MatchString(text) }

func (w *Write) check(number int) error {
	s := operations()[w.Operation]
	switch {
	case w.Number != number:
		return errors.New("its number is wrong")
	case s == nil || s.Effect == declare.Read:
		return fmt.Errorf("%q is not an operation that writes", human.Line(w.Operation))
	case w.Kind != kindOf(s) || w.Things != thingsOf(s):
		return fmt.Errorf("its description does not match %s", w.Operation)
	case !gjson.ParseBytes(w.Arguments).IsObject():
		return errors.New("its arguments are not an object")
	case w.Bytes < 0 || w.Bytes > 1<<50 || w.MD5 != "" && !isHex(w.MD5, 32) || !isHex(w.Key, 24):
		return errors.New("its size, checksum or key is invalid")
	case w.Before != nil && !declare.IsIdentifier(w.Before.ID):
		return errors.New("what it changes has no id")
	case slices.ContainsFunc(w.After, func(n int) bool { return n < 1 || n >= number }):
		return errors.New("it uses what a later one makes")
	case slices.ContainsFunc(w.Makes, func(m Made) bool { return !schema.IsPlannedID(m.ID) || !plainPath(m.Path) }):
		return errors.New("what it makes has no planned id")
	}
	return nil
}

// plainPath reports whether a gjson path only names a value, without modifiers or queries.
func plainPath(path string) bool {
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' {
			i++
		} else if strings.IndexByte("@#|!{}[]()*?=<>%~", path[i]) >= 0 {
			return false
		}
	}
	return true
}

// checkKeys verifies that the key of each write follows from its line: a gate compares keys.
func (p *Plan) checkKeys() error {
	planned := ids{present: map[string]bool{}}
	for _, date := range p.Present {
		planned.present[date] = true
	}
	for _, w := range p.Writes {
		planned.file = func(path string) string { return filepath.Base(path) + " " + w.MD5 }
		if key, _, err := planned.keyOf(w.Platform, w.Operation, w.Arguments); err != nil || key != w.Key {
			return fmt.Errorf("its write %d does not say what it would send", w.Number)
		}
		for _, m := range w.Makes {
			text := m.Found
			if text == "" {
				text = w.Key + "/" + m.Path
			}
			planned.add(m.ID, text, w.Number)
		}
	}
	return nil
}

// call returns the declared operation of a lookup, with parsed arguments.
func (r *Read) call() (*declare.Spec, declare.Args, error) {
	s := operations()[r.Operation]
	if s == nil || !repeatable(s) {
		return nil, declare.Args{}, fmt.Errorf("%q is not an operation that looks something up", human.Line(r.Operation))
	}
	args, err := declare.ParseArgs(r.Arguments)
	if err == nil {
		_, err = s.Checked(args)
	}
	if err == nil && len(r.Found) > mostFound {
		err = errors.New("it finds too much")
	}
	return s, args, err
}

// repeatable reports whether an operation may be called to find what has changed.
func repeatable(s *declare.Spec) bool {
	return s.Effect == declare.Read && !s.Composed && !s.Transfers() && s.Shape != declare.ShapeIterator &&
		!slices.ContainsFunc(s.Params, func(p schema.Param) bool { return p.Secret || p.Type == "path" })
}
