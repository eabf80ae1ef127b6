package stdlib

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/web"
)

// field is a named value of an option; in a form also a file.
type field struct {
	name, value string
	file        *formFile
}

type formFile struct {
	path string // of the script
	full string
	name string // as sent to the server
	kind string
	size int64
}

// namedValues reads an option of names and values, sorted by name; a list gives a
// name several values. A form may also hold files.
func namedValues(c *module.Call, option string, files bool) (fields []field, err error) {
	allowed := "a text, a number or a boolean"
	if files {
		allowed = "a text, a number, a boolean or { file = path }"
	}
	var add func(name string, v lua.LValue) error
	add = func(name string, v lua.LValue) error {
		t, isTable := v.(*lua.LTable)
		switch {
		case v.Type() == lua.LTString || v.Type() == lua.LTNumber || v.Type() == lua.LTBool:
			fields = append(fields, field{name: name, value: v.String()})
		case isTable && files && t.RawGetString("file") != lua.LNil:
			f, err := formFileOf(c, name, t)
			fields = append(fields, field{name: name, file: f})
			return err
		case isTable && files && t.Len() == 0 && firstKey(t) != lua.LNil:
			return fault.Hinted(fault.Of(&fault.ParameterError{}, "option form: %s is a table without a file", name),
				`a file is { file = "photo.jpg" }, several values are a list`)
		case isTable:
			for i := 1; i <= t.Len(); i++ {
				if err := add(name, t.RawGetInt(i)); err != nil {
					return err
				}
			}
		default:
			return fault.Of(&fault.ParameterError{}, "option %s: %s must be %s, got a %s", option, name, allowed, v.Type())
		}
		return nil
	}
	if t := c.Table(option); t != nil {
		t.ForEach(func(k, v lua.LValue) {
			name, ok := k.(lua.LString)
			switch {
			case err != nil:
			case !ok:
				err = fault.Of(&fault.ParameterError{}, "option %s must have names, such as { name = \"value\" }", option)
			default:
				err = add(string(name), v)
			}
		})
	}
	sort.SliceStable(fields, func(i, j int) bool { return fields[i].name < fields[j].name })
	return fields, err
}

func firstKey(t *lua.LTable) lua.LValue {
	k, _ := t.Next(lua.LNil)
	return k
}

func formFileOf(c *module.Call, field string, t *lua.LTable) (*formFile, error) {
	known, given := []string{"file", "name", "type"}, map[string]string{}
	var err error
	t.ForEach(func(k, v lua.LValue) {
		_, text := v.(lua.LString)
		switch name := k.String(); {
		case name != "file" && name != "name" && name != "type":
			err = fault.Of(&fault.ParameterError{}, "option form: %s has no %s%s", field, name, suggest.Suffix(name, known))
		case !text || strings.ContainsAny(v.String(), "\r\n"):
			err = fault.Of(&fault.ParameterError{}, "option form: %s of %s must be a text of one line", name, field)
		default:
			given[name] = v.String()
		}
	})
	if err != nil {
		return nil, err
	}
	f := &formFile{path: given["file"], full: c.In.Path(given["file"]), name: given["name"], kind: given["type"]}
	if f.name == "" {
		f.name = filepath.Base(f.full)
	}
	if f.kind == "" {
		f.kind = "application/octet-stream"
	}
	return f, c.Blocking(func(context.Context) error {
		info, err := c.In.Stat(f.full)
		switch {
		case err != nil:
			return namedFile(f.path, err)
		case !info.Mode().IsRegular():
			return fault.Of(&fault.FileError{}, "%s: is no file", f.path)
		}
		f.size = info.Size()
		return nil
	})
}

// httpForm sends a form: in one line of text, or, with files in it, piece by
// piece as they are read.
func httpForm(c *module.Call, r *web.Request) error {
	fields, err := namedValues(c, "form", true)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(fields, func(f field) bool { return f.file != nil }) {
		form := url.Values{}
		for _, f := range fields {
			form.Add(f.name, f.value)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		sendText(r, []byte(form.Encode()))
		return nil
	}
	var text bytes.Buffer
	var pieces []any // texts and files, in turn
	w := multipart.NewWriter(&text)
	for _, f := range fields {
		if f.file == nil {
			err = w.WriteField(f.name, f.value)
		} else {
			_, err = w.CreatePart(textproto.MIMEHeader{
				"Content-Disposition": {multipart.FileContentDisposition(f.name, f.file.name)}, "Content-Type": {f.file.kind}})
			pieces = append(pieces, text.String(), f.file)
			r.Size += int64(text.Len()) + f.file.size
			text.Reset()
		}
		if err != nil {
			return fault.Of(&fault.ParameterError{}, "option form: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fault.Of(&fault.ParameterError{}, "option form: %w", err)
	}
	pieces = append(pieces, text.String())
	r.Size += int64(text.Len())
	r.Header.Set("Content-Type", w.FormDataContentType())
	in := c.In
	r.Body = func() (io.ReadCloser, error) { return &formBody{in: in, pieces: pieces}, nil }
	return nil
}

func sendText(r *web.Request, data []byte) {
	r.Size = int64(len(data))
	r.Body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// formBody reads the pieces of a form; one file is open at a time.
type formBody struct {
	in     *vm.Interp
	mu     sync.Mutex // an exchange that is given up closes while it reads
	pieces []any
	now    io.Reader
	file   *os.File
	left   int64 // of the file
}

func (b *formBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if b.now == nil {
			if len(b.pieces) == 0 {
				return 0, io.EOF
			}
			if err := b.next(); err != nil {
				return 0, err
			}
		}
		n, err := b.now.Read(p)
		if b.file != nil {
			if b.left -= int64(n); b.left < 0 || err == io.EOF && b.left > 0 {
				return 0, fault.Hinted(fault.Of(&fault.FileError{}, "%s changed while it was sent", b.file.Name()), "run again when nothing writes it")
			}
		}
		if err == io.EOF {
			err = b.close()
			b.now = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (b *formBody) next() error {
	piece := b.pieces[0]
	b.pieces = b.pieces[1:]
	f, isFile := piece.(*formFile)
	if !isFile {
		b.now = strings.NewReader(fmt.Sprint(piece))
		return nil
	}
	file, err := b.in.Open(f.full, os.O_RDONLY, 0)
	if err != nil {
		return fault.Of(&fault.FileError{}, "%s: %w", f.path, fault.Reason(err))
	}
	b.now, b.file, b.left = file, file, f.size
	return nil
}

// Close closes the file that is open, and gives nothing more.
func (b *formBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pieces, b.now = nil, nil
	return b.close()
}

func (b *formBody) close() error {
	if b.file == nil {
		return nil
	}
	err := b.file.Close()
	b.file = nil
	return err
}
