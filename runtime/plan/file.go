package plan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/tidwall/gjson"

	"transect/client/atomicfile"
	"transect/client/fault"
)

// format is the version of the file; another one is refused.
const format = 1

// Write writes a plan: JSON, one thing a line, its checksum in the last one.
func (p *Plan) Write(out io.Writer) error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	p.Format = format
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
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	if err := lines.Encode(trailer{sum(text.Bytes())}); err != nil {
		return err
	}
	_, err := out.Write(text.Bytes())
	return err
}

type trailer struct {
	Sum string `json:"checksum"`
}

// Folder is the folder in a state folder that holds the plans of programs.
func Folder(state string) string { return filepath.Join(state, "plans") }

// Save writes a plan into a file that only its owner can read.
func (p *Plan) Save(path string) error {
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return err
	}
	if err := atomicfile.Write(path, text.Bytes(), 0o600); err != nil {
		return fault.Of(&fault.FileError{}, "cannot write the plan %s: %w", path, fault.Reason(err))
	}
	return nil
}

// Load reads a plan from a file.
func Load(path string) (*Plan, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read the plan %s: %w", path, fault.Reason(err)),
			"transect plan SCRIPT -o FILE makes one")
	}
	p, err := parse(text)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s cannot be used: %w", path, err), "plan again")
	}
	p.file = path
	return p, nil
}

// LoadHead reads what is said of the plan in a file as a whole.
func LoadHead(path string) (h Head, err error) {
	const longest = 1 << 20
	file, err := os.Open(path)
	if err != nil {
		return h, fault.Reason(err)
	}
	defer file.Close()
	line, err := bufio.NewReader(io.LimitReader(file, longest)).ReadBytes('\n')
	if err != nil || !gjson.GetBytes(line, "transect_plan").Exists() {
		return h, errNoPlan
	}
	return h, errors.Join(json.Unmarshal(line, &h), h.check())
}

var (
	errNoPlan = errors.New("it is not a plan of transect")
	planID    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^plan-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$`) })
)

// check refuses a plan that this program did not make: its id names files.
func (h *Head) check() error {
	switch {
	case h.Format != format:
		return errors.New("another version of transect made it")
	case !planID().MatchString(h.ID):
		return errors.New("its id is not one of a plan")
	}
	return nil
}

func parse(text []byte) (*Plan, error) {
	p := &Plan{}
	if !gjson.GetBytes(text[:max(0, bytes.IndexByte(text, '\n'))], "transect_plan").Exists() {
		return nil, errNoPlan
	}
	read, whole := 0, false
	lines := bufio.NewReader(bytes.NewReader(text))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		if whole {
			return nil, errors.New("there is something behind its end")
		}
		if end := gjson.GetBytes(line, "checksum"); end.Exists() && !gjson.GetBytes(line, "write").Exists() {
			if end.Str != sum(text[:read]) {
				return nil, errors.New("it was changed after it was made")
			}
			p.Sum, whole = end.Str, true
		} else if err := p.add(line); err != nil {
			return nil, err
		}
		read += len(line)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if !whole {
		return nil, errors.New("its end is missing")
	}
	return p, nil
}

// add takes one line.
func (p *Plan) add(line []byte) error {
	has := func(key string) bool { return gjson.GetBytes(line, key).Exists() }
	switch {
	case has("transect_plan"):
		return json.Unmarshal(line, &p.Head)
	case has("write"):
		return into(line, &p.Writes)
	case has("read"):
		return into(line, &p.Reads)
	case has("code"):
		return into(line, &p.Code)
	case has("effect"):
		return into(line, &p.Effects)
	case has("file"):
		return into(line, &p.Files)
	}
	return errors.New("it has a line of an unknown kind")
}

func into[T any](line []byte, list *[]T) error {
	var one T
	err := json.Unmarshal(line, &one)
	*list = append(*list, one)
	return err
}
