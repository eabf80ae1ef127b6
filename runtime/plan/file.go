package plan

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"github.com/tidwall/gjson"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/regular"
)

// format is the version of the file; another one is refused.
const format = 2

// Bounds of a file, which may be a stranger's.
const (
	mostBytes = 256 << 20
	mostLine  = 8 << 20
	mostLines = 2_000_000
	mostHead  = 1 << 20
)

// Write writes a plan as JSON, one object per line. The last line holds a digest of the others with the
// user's key, which distinguishes the user's own, unchanged plans. It sets the checksum.
func (p *Plan) Write(out io.Writer, key []byte) error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	p.Format, p.Totals = format, total(p.Writes)
	all := []any{p.Head}
	for _, c := range p.Code {
		all = append(all, c)
	}
	for _, f := range p.Files {
		all = append(all, f)
	}
	for _, r := range p.Reads {
		all = append(all, r)
	}
	for _, e := range p.Effects {
		all = append(all, e)
	}
	for _, w := range p.Writes {
		all = append(all, w)
	}
	for _, line := range all {
		before := text.Len()
		if err := lines.Encode(line); err != nil {
			return err
		}
		if text.Len()-before > mostLine || text.Len() > mostBytes || len(all) > mostLines {
			return fault.Hinted(fault.Of(&fault.PlanError{},
				"the plan is too large to be kept: at most %s, %s in a line, and %s",
				human.Size(mostBytes), human.Size(mostLine), human.Count(mostLines, "line")), "plan part of it")
		}
	}
	digest := digestOf(key)
	digest.Write(text.Bytes())
	if err := lines.Encode(trailer{hex.EncodeToString(digest.Sum(nil))}); err != nil {
		return err
	}
	sum := sha256.Sum256(text.Bytes())
	p.Sum = hex.EncodeToString(sum[:])
	_, err := out.Write(text.Bytes())
	return err
}

// Lines lists the types of the lines of a file.
func Lines() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[Head](), reflect.TypeFor[Code](), reflect.TypeFor[File](),
		reflect.TypeFor[Read](), reflect.TypeFor[Effect](), reflect.TypeFor[Write](), reflect.TypeFor[trailer]()}
}

type trailer struct {
	Digest string `json:"digest"`
}

// digestOf starts the digest of a plan, with a key derived from one that has other uses.
func digestOf(key []byte) hash.Hash {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("transect plan\n"))
	return h
}

// Folder returns the folder for plans of programs within a state folder.
func Folder(state string) string { return filepath.Join(state, "plans") }

// Save writes a plan into a file that only its owner can read.
func (p *Plan) Save(path string, key []byte) error {
	var text bytes.Buffer
	if err := p.Write(&text, key); err != nil {
		return err
	}
	if err := atomicfile.Write(path, text.Bytes(), 0o600); err != nil {
		return fault.Of(&fault.FileError{}, "cannot write the plan %s: %w", path, fault.Reason(err))
	}
	kept, err := Load(path, key)
	if err == nil {
		p.Sum, p.file = kept.Sum, path
	}
	return err
}

// Load reads a plan of any origin. Its content is only described, not acted on. key, which may be nil, shows whether
// the plan is the user's own.
func Load(path string, key []byte) (*Plan, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read the plan %s: %w", path, fault.Reason(err)),
			"transect plan SCRIPT -o FILE makes one")
	}
	defer file.Close()
	p := &Plan{}
	l := newLines(file, key)
	if err = l.each(p.add); err == nil {
		err = p.check(l.own)
	}
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s cannot be used: %w", human.Line(path), err), "plan again")
	}
	p.file, p.Own, p.Sum = path, l.own, hex.EncodeToString(l.sum.Sum(nil))
	p.Totals = total(p.Writes)
	return p, nil
}

// LoadHead reads the head of a plan file and whether the plan is the user's own.
func LoadHead(path string, key []byte) (h Head, own bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return h, false, fault.Reason(err)
	}
	defer file.Close()
	l := newLines(file, key)
	err = l.each(func(line []byte) error {
		if l.count > 1 {
			return nil
		}
		return h.read(line)
	})
	h.Sum = hex.EncodeToString(l.sum.Sum(nil))
	return h, l.own, err
}

// lines reads the lines of a plan, except the last one with their digest.
type lines struct {
	in          *bufio.Reader
	key         []byte
	digest, sum hash.Hash
	count       int
	own         bool // the digest is right, which is known at the end
}

func newLines(in io.Reader, key []byte) *lines {
	return &lines{in: bufio.NewReader(io.LimitReader(in, mostBytes+1)), key: key, digest: digestOf(key), sum: sha256.New()}
}

var (
	errNoPlan  = errors.New("it is not a plan of transect")
	errTooLong = fmt.Errorf("it has more than %s, %s in a line, or %s: no plan is that large", human.Size(mostBytes),
		human.Size(mostLine), human.Count(mostLines, "line"))
)

func (l *lines) each(visit func(line []byte) error) error {
	for size := 0; ; {
		line, err := l.next()
		size += len(line)
		switch {
		case errors.Is(err, errTooLong), size > mostBytes, l.count > mostLines:
			return errTooLong
		case err != nil && l.count == 0:
			return errNoPlan
		case err != nil:
			return errors.New("its end is missing")
		}
		l.sum.Write(line)
		if l.count > 0 && firstKey(line) == "digest" {
			return l.end(line)
		}
		l.count++
		l.digest.Write(line)
		if err := visit(line); err != nil {
			return err
		}
	}
}

// next reads a line of a bounded length.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		switch most := mostLine; {
		case l.count == 0 && len(line) > mostHead, len(line) > most:
			return nil, errTooLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// end reads the last line.
func (l *lines) end(line []byte) error {
	var t trailer
	if err := strict(line, &t); err != nil {
		return err
	}
	if _, err := l.in.ReadByte(); err == nil {
		return errors.New("there is data after its end")
	}
	stated, err := hex.DecodeString(t.Digest)
	if err != nil || len(stated) != sha256.Size {
		return errors.New("its digest is invalid")
	}
	l.own = len(l.key) > 0 && hmac.Equal(stated, l.digest.Sum(nil))
	return nil
}

// firstKey returns the first key of an object, which is the kind of a line.
func firstKey(line []byte) (key string) {
	if of := gjson.ParseBytes(line); of.IsObject() {
		of.ForEach(func(k, _ gjson.Result) bool { key = k.Str; return false })
	}
	return key
}

// strict decodes a line that has only the fields of its target.
func strict(line []byte, into any) error {
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return errors.New(human.Line(human.Shorten(err.Error(), 200)))
	}
	if rest := line[in.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
		return errors.New("one of its lines has data after its end")
	}
	return nil
}

func (h *Head) read(line []byte) error {
	if firstKey(line) != "transect_plan" {
		return errNoPlan
	}
	if gjson.GetBytes(line, "transect_plan").Int() != format {
		return errors.New("another version of transect made it")
	}
	if err := strict(line, h); err != nil {
		return err
	}
	return h.check()
}

// add decodes one line.
func (p *Plan) add(line []byte) error {
	if p.Format == 0 {
		return p.Head.read(line)
	}
	switch firstKey(line) {
	case "write":
		return into(line, &p.Writes)
	case "read":
		return into(line, &p.Reads)
	case "code":
		return into(line, &p.Code)
	case "effect":
		return into(line, &p.Effects)
	case "file":
		return into(line, &p.Files)
	}
	return errors.New("it has a line of an unknown kind")
}

func into[T any](line []byte, list *[]T) error {
	var one T
	err := strict(line, &one)
	*list = append(*list, one)
	return err
}
