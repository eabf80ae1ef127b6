package transport

import (
	"bytes"
	"io"
)

// trusted is how much memory an announced length is believed for before any of
// its bytes came.
const trusted = 8 << 20

// readAll reads an answer whose length may have been announced; -1 when not.
// Pages of a search are megabytes long: in memory that grows by and by they
// would be copied several times.
func readAll(r io.Reader, announced int64) ([]byte, error) {
	var b bytes.Buffer
	if announced >= 0 && announced <= trusted {
		b.Grow(int(announced) + bytes.MinRead) // room to find the end without growing
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}
