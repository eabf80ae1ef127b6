package imagery

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	xmpHeader    = "http://ns.adobe.com/xap/1.0/\x00" // before the record in a JPEG segment
	xmpKeyword   = "XML:com.adobe.xmp\x00"            // of the text chunk of a PNG file
	rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

	maxXMP = 16 << 20 // maximum bytes read from a record
)

// readXMP reads the properties of an XMP record (ISO 16684-1) by their local name, capitalised:
// attributes of a description, elements and lists, but not structures. The first of several values
// counts. A damaged record is read up to the damage. XMP is parsed by hand, as a stream, so that a
// record of any length needs little memory; github.com/bep/imagemeta reads it completely.
func readXMP(r io.Reader) map[string]any {
	found := map[string]any{}
	add := func(name xml.Name, value any) {
		first, n := utf8.DecodeRuneInString(name.Local)
		if n == 0 || name.Space == "xmlns" || name.Space == rdfNamespace || value == nil {
			return
		}
		local := string(unicode.ToUpper(first)) + name.Local[n:]
		if _, repeated := found[local]; !repeated {
			found[local] = value
		}
	}
	d := xml.NewDecoder(io.LimitReader(r, maxXMP))
	within := 0 // depth of elements from rdf:RDF on
	for {
		token, err := d.Token()
		if err != nil {
			return found
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch {
			case within == 0 && t.Name != xml.Name{Space: rdfNamespace, Local: "RDF"}:
				continue
			case within == 1: // rdf:Description
				for _, a := range t.Attr {
					add(a.Name, a.Value)
				}
			case within == 2:
				value, err := readProperty(d, t)
				add(t.Name, value)
				if err != nil {
					return found
				}
				continue
			}
			within++
		case xml.EndElement:
			within = max(0, within-1)
		}
	}
}

// readProperty reads an element: its text, a list of texts, or its rdf:resource.
func readProperty(d *xml.Decoder, start xml.StartElement) (any, error) {
	var text strings.Builder
	var items []string
	inItem := false
	for path := []string{start.Name.Local}; len(path) > 0; {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			if inItem = len(path) == 3 && t.Name.Space == rdfNamespace && t.Name.Local == "li"; inItem {
				items = append(items, "")
			}
		case xml.EndElement:
			path = path[:len(path)-1]
			inItem = false
		case xml.CharData:
			switch {
			case inItem:
				items[len(items)-1] += string(t)
			case len(path) == 1:
				text.Write(t)
			}
		}
	}
	var filled []string
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			filled = append(filled, item)
		}
	}
	switch s := strings.TrimSpace(text.String()); {
	case len(filled) == 1:
		return filled[0], nil
	case len(filled) > 1:
		return filled, nil
	case s != "":
		return s, nil
	}
	for _, a := range start.Attr {
		if a.Name.Space == rdfNamespace && a.Name.Local == "resource" {
			return a.Value, nil
		}
	}
	return nil, nil
}

// xmpOfPNG returns the record in an international text chunk, whose text follows a keyword, two
// flags, a language and a translated keyword.
func xmpOfPNG(s *source, offset, length int64) *io.SectionReader {
	head := make([]byte, min(length, 256))
	if !s.full(head, offset) || !bytes.HasPrefix(head, []byte(xmpKeyword)) || len(head) < len(xmpKeyword)+2 {
		return nil
	}
	at := len(xmpKeyword) + 2
	if head[at-2] != 0 {
		return nil // compressed, which XMP forbids
	}
	for range 2 {
		n := bytes.IndexByte(head[at:], 0)
		if n < 0 {
			return nil
		}
		at += n + 1
	}
	return s.section(offset+int64(at), length-int64(at))
}
