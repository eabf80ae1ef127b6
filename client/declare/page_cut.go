package declare

// cutPage is a page that came shorter than asked although more should follow.
// Either the platform gives no more at once: then the rest starts right behind
// its last record. Or it left out records that are not for this caller, or
// counted wrongly: then what starts there is among the records it gave, or
// hidden. Asking for that one record tells which.
type cutPage struct {
	records map[string]struct{}
	sizes   sizes // before
	start   int64
	size    int64 // as asked
}

func newCutPage(items [][]byte, s sizes, start, size int64) *cutPage {
	c := &cutPage{records: make(map[string]struct{}, len(items)), sizes: s, start: start, size: size}
	for _, item := range items {
		c.records[string(item)] = struct{}{}
	}
	return c
}

// whole judges by the answer to that one record.
func (c *cutPage) whole(items [][]byte) bool {
	if len(items) == 0 {
		return true
	}
	_, again := c.records[string(items[0])]
	return again
}
