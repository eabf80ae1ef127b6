package stdlib

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/transport/httpcore"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// httpBody sets the body from the one option given for it.
func httpBody(c *module.Call, r *httpcore.Request) {
	given := slices.DeleteFunc([]string{"json", "form", "body", "file"},
		func(name string) bool { return c.Value(name) == lua.LNil })
	switch {
	case len(given) == 0:
	case len(given) > 1:
		c.Raise(fault.Of(&fault.ParameterError{}, "options %s cannot be combined", strings.Join(given, " and ")))
	case given[0] == "json":
		r.Header.Set("Content-Type", "application/json")
		send(c, r, encodeValue(c, "json"))
	case given[0] == "form":
		httpForm(c, r)
	case given[0] == "body":
		send(c, r, c.String("body"))
	case given[0] == "file":
		send(c, r, fileToSend(c, c.String("file")))
	}
}

// encodeValue writes an argument as JSON.
func encodeValue(c *module.Call, name string) string {
	text, err := encodeJSON(c, c.Go(name), 0)
	if err != nil {
		c.Raise(fault.Of(&fault.ParameterError{}, "argument %s %w", name, err))
	}
	return text
}

// field is a named value of an option, or a file in a form.
type field struct {
	name, value string
	file        *sentFile
}

// namedValues reads an option of names and values, sorted by name; a list is several values. Forms may
// contain files.
func namedValues(c *module.Call, option string, files bool) (fields []field) {
	allowed := "a string, a number or a boolean"
	if files {
		allowed = "a string, a number, a boolean or { file = path }"
	}
	var add func(name string, v lua.LValue)
	add = func(name string, v lua.LValue) {
		t, isTable := v.(*lua.LTable)
		switch {
		case v.Type() == lua.LTString || v.Type() == lua.LTNumber || v.Type() == lua.LTBool:
			fields = append(fields, field{name: name, value: v.String()})
		case isTable && files && t.RawGetString("file") != lua.LNil:
			fields = append(fields, field{name: name, file: formFile(c, name, t)})
		case isTable:
			if k, _ := t.Next(lua.LNil); files && table.Length(t) == 0 && k != lua.LNil {
				c.Raise(fault.Hinted(fault.Of(&fault.ParameterError{}, "option form: %s is a table without a file", name),
					`a file is { file = "photo.jpg" }, several values are a list`))
			}
			for i := 1; i <= table.Length(t); i++ {
				add(name, table.Element(t, i))
			}
		default:
			c.Raise(fault.Of(&fault.ParameterError{}, "option %s: %s must be %s, got a %s", option, name, allowed, v.Type()))
		}
	}
	if t := c.Table(option); t != nil {
		t.ForEach(func(k, v lua.LValue) {
			if _, text := k.(lua.LString); !text {
				c.Raise(fault.Of(&fault.ParameterError{}, "option %s must have names, such as { name = \"value\" }", option))
			}
			add(k.String(), v)
		})
	}
	sort.SliceStable(fields, func(i, j int) bool { return fields[i].name < fields[j].name })
	return fields
}

func formFile(c *module.Call, field string, t *lua.LTable) *sentFile {
	given := textFields(c, "option form: "+field, t, "file", "name", "type")
	f := fileToSend(c, given["file"])
	f.name, f.kind = cmp.Or(given["name"], f.name), cmp.Or(given["type"], "application/octet-stream")
	return f
}

// httpForm sends a form: URL-encoded, or as multipart, streamed from its files.
func httpForm(c *module.Call, r *httpcore.Request) {
	fields := namedValues(c, "form", true)
	if !slices.ContainsFunc(fields, func(f field) bool { return f.file != nil }) {
		form := url.Values{}
		for _, f := range fields {
			form.Add(f.name, f.value)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		send(c, r, form.Encode())
		return
	}
	var text bytes.Buffer
	var pieces []any // texts and files, alternating
	w := multipart.NewWriter(&text)
	for _, f := range fields {
		var err error
		if f.file == nil {
			err = w.WriteField(f.name, f.value)
		} else {
			_, err = w.CreatePart(textproto.MIMEHeader{
				"Content-Disposition": {multipart.FileContentDisposition(f.name, f.file.name)}, "Content-Type": {f.file.kind}})
			pieces = append(pieces, text.String(), f.file)
			text.Reset()
		}
		if err != nil {
			c.Raise(fault.Of(&fault.ParameterError{}, "option form: %w", err))
		}
	}
	_ = w.Close() // to memory
	r.Header.Set("Content-Type", w.FormDataContentType())
	send(c, r, append(pieces, text.String())...)
}

// sentFile is a file that is a body or part of one.
type sentFile struct {
	given, path string // as the script names it, and where it is
	name, kind  string // in a form
	size        int64
}

func fileToSend(c *module.Call, given string) *sentFile {
	f := &sentFile{given: given, path: c.In.Path(given)}
	f.name = filepath.Base(f.path)
	c.Must(c.Blocking(func(context.Context) error {
		info, err := c.In.Stat(f.path)
		switch {
		case err != nil:
			return namedFile(given, err)
		case !info.Mode().IsRegular():
			return fault.Of(&fault.FileError{}, "%s: is not a file", given)
		}
		f.size = info.Size()
		return nil
	}))
	return f
}

// send sets the body to a sequence of texts and files.
func send(c *module.Call, r *httpcore.Request, pieces ...any) {
	for _, p := range pieces {
		switch p := p.(type) {
		case string:
			r.Size += int64(len(p))
		case *sentFile:
			r.Size += p.size
		}
	}
	in := c.In
	r.Body = func() (io.ReadCloser, error) {
		b := &body{in: in, pieces: pieces}
		return b, b.next()
	}
}

// body reads a sequence of texts and files; one file is open at a time.
type body struct {
	in     *vm.Interp
	mu     sync.Mutex // an abandoned request closes it while it is read
	pieces []any
	now    io.ReadCloser // nil at the end
	name   string
	left   int64 // of it
}

// next opens the next piece, if any.
func (b *body) next() error {
	if b.now != nil {
		_ = b.now.Close() // it was only read
		b.now = nil
	}
	if len(b.pieces) == 0 {
		return nil
	}
	piece := b.pieces[0]
	b.pieces = b.pieces[1:]
	switch piece := piece.(type) {
	case string:
		b.now, b.left = io.NopCloser(strings.NewReader(piece)), int64(len(piece))
	case *sentFile:
		f, err := b.in.OpenToRead(piece.path)
		if err != nil {
			return namedFile(piece.given, err)
		}
		b.now, b.name, b.left = f, piece.path, piece.size
	}
	return nil
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.now != nil {
		n, err := b.now.Read(p)
		if b.left -= int64(n); b.left < 0 || err == io.EOF && b.left > 0 {
			return 0, fault.Hinted(fault.Of(&fault.FileError{}, "%s changed while it was sent", b.name),
				"run again when nothing writes it")
		}
		if err == io.EOF {
			err = b.next()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// Close closes the open file and ends the body.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pieces = nil
	return b.next()
}
