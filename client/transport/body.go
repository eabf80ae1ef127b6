package transport

import (
	"bytes"
	"io"
)

// trusted is how much memory an declared length is believed for before any of
// its bytes came.
const trusted = 8 << 20

// readAll reads an answer whose length may be declared; -1 when not.
// Pages of a search are megabytes long: in memory that grows by and by they
// would be copied several times.
func readAll(r io.Reader, declared int64) ([]byte, error) {
	var b bytes.Buffer
	if declared >= 0 && declared <= trusted {
		b.Grow(int(declared) + bytes.MinRead) // room to find the end without growing
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}
