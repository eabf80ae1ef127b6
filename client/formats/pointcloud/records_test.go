package pointcloud

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"
)

// unreadable is a file on a card whose end cannot be read.
type unreadable struct {
	*bytes.Reader
	from int64
}

func (u unreadable) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > u.from && at >= u.from {
		return 0, &fs.PathError{Op: "read", Path: "a.las", Err: errors.New("input/output error")}
	}
	return u.Reader.ReadAt(p, at)
}

// TestUnreadableRecords: a file whose records at the end cannot be read is not one without a reference system.
func TestUnreadableRecords(t *testing.T) {
	const header, record = 375, 60
	b := make([]byte, header+record)
	copy(b, "LASF")
	b[24], b[25] = 1, 4
	little.PutUint16(b[94:], header)
	little.PutUint32(b[96:], header)
	little.PutUint16(b[105:], 20)
	for i := range 3 {
		b[131+8*i+6], b[131+8*i+7] = 0xf0, 0x3f // a scale of 1
	}
	little.PutUint64(b[235:], header)
	little.PutUint32(b[243:], 1)
	if _, err := Open(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(unreadable{bytes.NewReader(b), header}, int64(len(b))); !errors.As(err, new(*fs.PathError)) {
		t.Error(err)
	}
}
