package jpegcheck

// peek is how long the codes are that the table looks up in one step.
const peek = 11

// table decodes the codes of a Huffman table.
type table struct {
	// short has, for the next bits, the symbol of the code that they start with and
	// above it the length of the code; 0 for longer codes.
	short [1 << peek]uint16
	// Of the codes of each length: the first code behind them, aligned to 16 bits, and
	// what added to a code gives the index of its symbol.
	limit   [17]int
	first   [17]int
	symbols []byte
}

// newTable makes a table of the numbers of codes of each length, and their symbols
// (annex C); nil when there are no such codes. It returns the number of symbols.
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

// long returns the symbol of a code longer than peek and its length, 0 when there is
// none. The next 16 bits are given.
func (t *table) long(next int) (symbol byte, length int) {
	for length := peek + 1; length <= 16; length++ {
		if next < t.limit[length] {
			return t.symbols[next>>(16-length)+t.first[length]], length
		}
	}
	return 0, 0
}
