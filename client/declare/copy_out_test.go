package declare

import (
	"bytes"
	"testing"
	"unsafe"
)

func TestRecordsDoNotKeepTheirPage(t *testing.T) {
	body := pageOf(1000)
	items, _, err := splitPage(body)
	if err != nil {
		t.Fatal(err)
	}
	items[7] = append(bytes.Repeat([]byte(" "), 2*recordBlock), items[7]...) // longer than a room
	var want [][]byte
	for _, item := range items {
		want = append(want, bytes.Clone(item))
	}
	copyOut(items)
	first, last := uintptr(unsafe.Pointer(&body[0])), uintptr(unsafe.Pointer(&body[len(body)-1]))
	for i, item := range items {
		if at := uintptr(unsafe.Pointer(&item[0])); at >= first && at <= last {
			t.Fatalf("record %d still lies in its page", i)
		}
		if cap(item) != len(item) {
			t.Fatalf("appending to record %d would write over the next", i)
		}
		if !bytes.Equal(item, want[i]) {
			t.Fatalf("record %d is %s", i, item)
		}
	}
}
