package stdlib

import (
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/stdlib/internal/csvtext"
)

// The options of a dialect, shared by reading and writing.
var (
	csvSeparator = module.Param{Name: "separator", Type: "string", Doc: "field separator, one character", Default: ","}
	csvQuote     = module.Param{Name: "quote", Type: "string", Doc: "quote character; empty to treat quotes as data",
		Default: `"`}
	csvCharset = module.Param{Name: "encoding", Type: "string",
		Doc: "character encoding; a byte order mark in the input takes precedence", Default: csvtext.UTF8,
		Choices: csvtext.Encodings}
	csvReading = module.Param{Name: "options", Fields: []module.Param{
		csvSeparator, csvQuote, csvCharset,
		{Name: "header", Type: "boolean|table",
			Doc: "true: the first row names the columns; false: rows are lists; a list: these are the names, and the first " +
				"row is data", Default: true},
		{Name: "types", Type: "table",
			Doc: "types of columns that are not text: number, integer or boolean by name (by index without header); an empty " +
				"field is then absent", Optional: true},
		{Name: "comment", Type: "string", Doc: "lines that begin with this character are skipped", Optional: true},
		{Name: "trim", Type: "boolean", Doc: "remove spaces around fields", Default: false},
		{Name: "skip", Type: "integer", Doc: "lines before the table", Default: 0, Min: new(0.0)},
		{Name: "decimal", Type: "string", Doc: "decimal separator of numbers, such as a comma", Default: "."},
	}}
	csvColumns = module.Param{Name: "header", Type: "boolean|table",
		Doc: "the columns in order, written as first row; false for lists without one. " +
			"Left out, the sorted names of the first row when that has names", Optional: true}
	csvEncoding = []module.Param{csvSeparator, csvQuote, csvCharset, csvColumns,
		{Name: "crlf", Type: "boolean", Doc: "end lines with CRLF", Default: false},
		{Name: "bom", Type: "boolean", Doc: "begin with the UTF-8 byte order mark, which spreadsheets need", Default: false}}
)

var csvModule = &module.Module{
	Name: "csv",
	Doc: "Reads and writes CSV: rows as tables by column name, or as lists. Values stay text unless types says " +
		"otherwise; " +
		"byte order marks and all line endings are accepted; a row of the wrong length is a ValueError with its line.",
	Types: []*module.Type{csvWriterType},
	Lazy:  csvFuncs,
}

func csvFuncs() []module.Func {
	return []module.Func{
		{
			Name: "read", Doc: "Iterates over the rows of a file of any size.",
			Params: []module.Param{pathParam("the file"), csvReading}, Returns: "an iterator of rows, each with its line number",
			Call: csvRead,
		},
		{
			Name: "parse", Doc: "Parses the rows of a string.",
			Params: []module.Param{{Name: "text", Type: "string", Doc: "the lines"}, csvReading}, Returns: "a list of rows",
			Call: csvParse,
		},
		{
			Name: "encode", Doc: "Formats rows as text.",
			Params: []module.Param{{Name: "rows", Type: "table",
				Doc: "a list of tables by column name, of lists, or of resources"}, {Name: "options", Fields: csvEncoding}},
			Returns: "the text",
			Call: func(c *module.Call) (any, error) {
				b := c.In.NewText("csv.encode")
				w, rows := newRowWriter(c, b), c.Table("rows")
				for i := 1; i <= table.Length(rows); i++ {
					w.write(c, table.Element(rows, i))
				}
				err := w.out.Flush()
				return b.String(), err
			},
		},
		{
			Name: "write", Doc: "Writes rows to a file atomically.",
			Params: []module.Param{pathParam("the file"), {Name: "rows", Type: "any", Doc: "a list of rows, or an iterator"},
				{Name: "options", Fields: csvEncoding}},
			Call: csvWrite,
		},
		{
			Name: "writer",
			Doc: "Opens a file to write row by row; it appears under its name on close. A file not closed by the end of " +
				"the run is removed, with a warning.",
			Params:  []module.Param{pathParam("the file"), {Name: "options", Fields: csvEncoding}},
			Returns: "a csv_writer",
			Call: func(c *module.Call) (any, error) {
				return module.NewObject(c.L, csvWriterType, newCSVWriter(c)), nil
			},
		},
	}
}

// dialect reads the given options of a dialect.
func dialect(c *module.Call) csvtext.Dialect {
	char := func(name string) byte {
		text := c.String(name)
		if !c.Has(name) || text == "" && name == "quote" {
			return 0
		}
		if len(text) != 1 || text[0] >= 0x80 || text == "\n" || text == "\r" {
			c.Raise(fault.Of(&fault.ParameterError{}, "option %s must be one character, got %q", name, text))
		}
		return text[0]
	}
	return csvtext.Dialect{Separator: char("separator"), Quote: char("quote"), Comment: char("comment"),
		Decimal: char("decimal"),
		Skip:    c.Int("skip"), Encoding: c.String("encoding"), Trim: c.Bool("trim"), CRLF: c.Bool("crlf"),
		BOM: c.Bool("bom")}
}

// columnList reads the option header as a list of distinct names; nil if it is not a list.
func columnList(c *module.Call) (names []string) {
	t := c.Table("header")
	if t == nil {
		return nil
	}
	for i := 1; i <= t.Len(); i++ {
		name := t.RawGetInt(i)
		if name.Type() != lua.LTString || slices.Contains(names, name.String()) {
			c.Raise(fault.Of(&fault.ParameterError{}, "option header must be a list of different names; item %d is %s", i,
				name.String()))
		}
		names = append(names, name.String())
	}
	if len(names) == 0 {
		c.Raise(fault.Of(&fault.ParameterError{}, "option header is an empty list"))
	}
	return names
}
