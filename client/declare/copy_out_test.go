package declare

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"unsafe"
)

func TestRecordsDoNotKeepTheirPage(t *testing.T) {
	body := pageOf(1000)
	items, _, err := splitPage(body)
	if err != nil {
		t.Fatal(err)
	}
	items[7] = append(bytes.Repeat([]byte(" "), 2*recordBlock), items[7]...) // longer than a block
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

// TestPagesLeaveRecordsAlone: for pages of any sizes, records stay unchanged when later pages are
// read, and none is in memory larger than a block.
func TestPagesLeaveRecordsAlone(t *testing.T) {
	type span struct {
		first, last uintptr
		buffer      []byte // the pool's own buffer might be freed and become a record
	}
	var large []span
	var n int
	e := &Engine{Send: func(_ context.Context, req Request) ([]byte, error) {
		req.Buffer.Reset()
		req.Buffer.Write(pageOf(n))
		body := req.Buffer.Bytes()
		if c := req.Buffer.Cap(); c > recordBlock {
			at := uintptr(unsafe.Pointer(&body[0]))
			large = append(large, span{at, at + uintptr(c), body})
		}
		return body, nil
	}}
	call := &Call{Spec: &Spec{Shape: ShapePage, Routes: []string{"search"}}}
	var got, want [][]byte
	for _, n = range []int{20, 1000, 30, 7, 500, 1, 40} {
		page, err := e.sendPage(t.Context(), call, false)
		if err != nil || len(page.Items) != n {
			t.Fatal(len(page.Items), err)
		}
		for _, item := range page.Items {
			at := uintptr(unsafe.Pointer(&item[0]))
			if slices.ContainsFunc(large, func(s span) bool { return at >= s.first && at < s.last }) {
				t.Fatal("a record of a page of ", n, " lies in a buffer that is used again")
			}
			got, want = append(got, item), append(want, bytes.Clone(item))
		}
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("record %d became %s", i, got[i])
		}
	}
}
