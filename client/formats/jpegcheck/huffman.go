package jpegcheck

// peek is the longest code that the table looks up in one step.
const peek = 11

// table decodes the codes of a Huffman table.
type table struct {
	// short maps the next bits to the symbol of their first code and, above it, the length of the code;
	// 0 for longer codes.
	short [1 << peek]uint16
	// For the codes of each length: the first code after them, aligned to 16 bits, and the difference
	// between a code and the index of its symbol.
	limit   [17]int
	first   [17]int
	symbols []byte
}

// newTable builds a table from the number of codes of each length, and their symbols (annex C); nil for
// invalid codes. It also returns the number of symbols.
func newTable(counts, symbols []byte) (*table, int) {
	t := &table{}
	code, size := 0, 0
	for n, count := range counts {
		length := n + 1
		t.first[length] = size - code
		if size+int(count) > min(len(symbols), 256) || code+int(count) > 1<<length {
			return nil, 0
		}
		for range count {
			if length <= peek {
				from := code << (peek - length)
				for i := range 1 << (peek - length) {
					t.short[from+i] = uint16(length)<<8 | uint16(symbols[size])
				}
			}
			code, size = code+1, size+1
		}
		t.limit[length] = code << (16 - length)
		code <<= 1
	}
	t.symbols = symbols[:size]
	return t, size
}

// long returns the symbol and the length of a code longer than peek, 0 for an invalid one. next has the next 16 bits.
func (t *table) long(next int) (symbol byte, length int) {
	for length := peek + 1; length <= 16; length++ {
		if next < t.limit[length] {
			return t.symbols[next>>(16-length)+t.first[length]], length
		}
	}
	return 0, 0
}
