package mesh

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"transect/client/formats/source"
)

// PLY, the Stanford format, as text and binary.

type element struct {
	name       string
	count      int64
	properties []property
}

type property struct {
	name        string
	kind, count string // types; count is the type of a list's length, "" for a single value
}

// sizes are the lengths of the types, each under both of its names.
var sizes = map[string]int{"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "double": 8,
	"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "float32": 4, "float64": 8}

// plyHeader reads the header, to the last byte before the data.
func plyHeader(in *bufio.Reader) (elements []element, format string, err error) {
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		if err != nil || len(line) > source.MaxLine || n > 10_000 {
			return nil, "", source.Cut(errors.Join(err, io.ErrUnexpectedEOF))
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		damaged := fmt.Errorf("its header is damaged: %.40q", strings.TrimSpace(line))
		switch words[0] {
		case "format":
			if len(words) < 2 {
				return nil, "", damaged
			}
			format = words[1]
		case "element":
			if len(words) != 3 {
				return nil, "", damaged
			}
			count, err := strconv.ParseInt(words[2], 10, 63)
			if err != nil || count < 0 {
				return nil, "", damaged
			}
			elements = append(elements, element{name: words[1], count: count})
		case "property":
			p := property{}
			switch {
			case len(words) == 3:
				p.kind, p.name = words[1], words[2]
			case len(words) == 5 && words[1] == "list":
				p.count, p.kind, p.name = words[2], words[3], words[4]
			}
			if sizes[p.kind] == 0 || p.count != "" && sizes[p.count] == 0 || len(elements) == 0 {
				return nil, "", damaged
			}
			last := &elements[len(elements)-1]
			last.properties = append(last.properties, p)
		case "end_header":
			return elements, format, nil
		}
	}
}

// maxFace limits the corners of a face, and the values of a list.
const maxFace = 100_000

func readPLY(r io.Reader, s sink) error {
	in := buffered(r)
	elements, format, err := plyHeader(in)
	if err != nil {
		return err
	}
	var value func(kind string) (float64, error)
	switch format {
	case "ascii":
		words := bufio.NewScanner(in)
		words.Split(bufio.ScanWords)
		value = func(string) (float64, error) {
			if !words.Scan() {
				return 0, errors.Join(source.Scanned(words), io.ErrUnexpectedEOF)
			}
			v, err := strconv.ParseFloat(words.Text(), 64)
			if err != nil {
				return 0, fmt.Errorf("%.20q is not a number", words.Text())
			}
			return v, nil
		}
	case "binary_little_endian", "binary_big_endian":
		order := binary.ByteOrder(binary.LittleEndian)
		if format == "binary_big_endian" {
			order = binary.BigEndian
		}
		var b [8]byte
		value = func(kind string) (float64, error) {
			b := b[:sizes[kind]]
			if _, err := io.ReadFull(in, b); err != nil {
				return 0, err
			}
			return plyValue(kind, b, order), nil
		}
	default:
		return fmt.Errorf("the PLY format %.20q is not known", format)
	}
	var all vertices
	for _, e := range elements {
		if err := e.read(value, &all, s); err != nil {
			return source.Cut(err)
		}
	}
	return nil
}

func plyValue(kind string, b []byte, order binary.ByteOrder) float64 {
	switch kind {
	case "char", "int8":
		return float64(int8(b[0]))
	case "uchar", "uint8":
		return float64(b[0])
	case "short", "int16":
		return float64(int16(order.Uint16(b)))
	case "ushort", "uint16":
		return float64(order.Uint16(b))
	case "int", "int32":
		return float64(int32(order.Uint32(b)))
	case "uint", "uint32":
		return float64(order.Uint32(b))
	case "float", "float32":
		return float64(math.Float32frombits(order.Uint32(b)))
	}
	return math.Float64frombits(order.Uint64(b))
}

// read reads all elements of a kind, skipping kinds other than vertices and faces.
func (e element) read(value func(kind string) (float64, error), all *vertices, s sink) error {
	if len(e.properties) == 0 {
		return nil
	}
	face := []corner{}
	for range e.count {
		var p [3]float64
		var rgb [3]float64
		coloured := false
		for _, q := range e.properties {
			if q.count != "" {
				n, err := value(q.count)
				if err != nil {
					return err
				}
				if !(n >= 0 && n <= maxFace) {
					return errors.New("a face has too many corners")
				}
				list := e.name == "face" && (q.name == "vertex_indices" || q.name == "vertex_index")
				if list {
					face = face[:0]
				}
				for range int(n) {
					v, err := value(q.kind)
					if err != nil {
						return err
					}
					if list {
						face = append(face, corner{int64(v), -1})
					}
				}
				continue
			}
			v, err := value(q.kind)
			if err != nil {
				return err
			}
			switch q.name {
			case "x", "y", "z":
				p[q.name[0]-'x'] = v
			case "red", "green", "blue":
				rgb[strings.Index("rgb", q.name[:1])], coloured = v, sizes[q.kind] == 1
			}
		}
		switch e.name {
		case "vertex":
			if err := errors.Join(all.add(p), s.vertex(p)); err != nil {
				return err
			}
			if coloured {
				all.addColour(color.NRGBA{uint8(rgb[0]), uint8(rgb[1]), uint8(rgb[2]), 255})
			}
		case "face":
			if err := fan(face, all, nil, material{}, s.triangle); err != nil {
				return err
			}
		}
	}
	return nil
}
