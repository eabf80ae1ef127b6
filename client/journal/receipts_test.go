package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// receiptsOf gives the one file of receipts in a folder.
func receiptsOf(t testing.TB, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, File+receiptsName+"*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

// killedWith gives a folder as a killed process leaves it whose database has
// the beginning of an upload and no part, and its receipts.
func killedWith(t testing.TB, parts ...int) (dir string, receipts []byte) {
	t.Helper()
	dir = t.TempDir()
	j := New(dir, Limits{}, nil)
	j.Open(fileOf("a", 30), placeNamed("a"), chunk).Start(whole)
	e := j.Open(fileOf("a", 30), placeNamed("a"), chunk).(*entry)
	for _, n := range parts {
		receipts = append(receipts, receipt{e.place, e.upload.begun, n}.bytes()...)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, receipts
}

func leave(t testing.TB, dir string, receipts []byte) {
	t.Helper()
	content := append(make([]byte, receiptsFrom), receipts...)
	if err := os.WriteFile(filepath.Join(dir, File+receiptsName+"0badcafe"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func doneOf(j *Journal) (parts []int) {
	e := j.Open(fileOf("a", 30), placeNamed("a"), chunk)
	for n := range 40 {
		if e.Done(n) {
			parts = append(parts, n)
		}
	}
	return parts
}

func TestReceiptIsThereWhenConfirmReturns(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	e := j.Open(fileOf("a", 30), placeNamed("a"), chunk)
	e.Start(whole)
	file := receiptsOf(t, dir)
	for n := 1; n <= 30; n++ {
		e.Confirm(n)
		b, err := os.ReadFile(file)
		if err != nil || len(b) != receiptsFrom+n*receiptSize {
			t.Fatalf("part %d: %d bytes, %v", n, len(b), err)
		}
	}
	// Another process does not take over what belongs to one at work.
	doneOf(open(t, dir, nil))
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestReceiptsAreTakenOver(t *testing.T) {
	dir, receipts := killedWith(t, 2, 30, 7)
	leave(t, dir, receipts[:len(receipts)-1]) // killed while it wrote the third
	j := open(t, dir, nil)
	if got := fmt.Sprint(doneOf(j)); got != "[2 30]" {
		t.Error(got)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+receiptsName+"*")); len(left) > 0 {
		t.Error(left)
	}
	if got := fmt.Sprint(doneOf(open(t, dir, nil))); got != "[2 30]" {
		t.Error(got)
	}
}

func TestOldReceiptsSayNothing(t *testing.T) {
	for name, then := range map[string]func(*Journal){
		"completed":  func(j *Journal) { j.Open(fileOf("a", 30), placeNamed("a"), chunk).Finish(whole) },
		"forgotten":  func(j *Journal) { j.Open(fileOf("a", 30), placeNamed("a"), chunk).Forget() },
		"begun anew": func(j *Journal) { j.Open(fileOf("a", 30), placeNamed("a"), chunk).Start(whole) },
		"another":    func(j *Journal) { j.Open(fileOf("b", 30), placeNamed("a"), chunk).Start(other) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, receipts := killedWith(t, 1, 2, 3)
			j := New(dir, Limits{}, nil)
			then(j)
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			leave(t, dir, receipts)
			if parts := doneOf(open(t, dir, nil)); len(parts) > 0 {
				t.Error(parts)
			}
		})
	}
}

func TestReceiptsStaySmall(t *testing.T) {
	const parts = receiptsFull/receiptSize + 50
	dir := t.TempDir()
	j := open(t, dir, nil)
	e := j.Open(fileOf("a", 10_000), placeNamed("a"), chunk)
	e.Start(whole)
	for n := 1; n <= parts; n++ {
		e.Confirm(n)
	}
	file := receiptsOf(t, dir)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() <= receiptsFull {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%d bytes", info.Size())
		}
	}
	e.Confirm(parts + 1)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir, nil).Open(fileOf("a", 10_000), placeNamed("a"), chunk)
	for n := 1; n <= parts+2; n++ {
		if e.Done(n) != (n <= parts+1) {
			t.Fatalf("part %d: %v", n, e.Done(n))
		}
	}
}

// FuzzReceipts leaves any bytes, and damaged receipts, for the next process.
func FuzzReceipts(f *testing.F) {
	dir, valid := killedWith(f, 1, 4, 9, 30)
	database, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("nothing of the kind"), uint32(0), byte(0))
	f.Add(bytes.Repeat([]byte{0}, 3*receiptSize), uint32(0), byte(0))
	f.Add([]byte{}, uint32(20), byte(1))
	f.Add([]byte{}, uint32(60), byte(255))
	f.Fuzz(func(t *testing.T, b []byte, at uint32, bits byte) {
		if bits != 0 {
			b = bytes.Clone(valid)
			b[int(at)%len(b)] ^= bits
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), database, 0o600); err != nil {
			t.Fatal(err)
		}
		leave(t, dir, b)
		j := New(dir, Limits{}, nil)
		for _, n := range doneOf(j) {
			if n != 1 && n != 4 && n != 9 && n != 30 {
				t.Errorf("part %d was never confirmed", n)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkConfirm is how long a part that the platform has confirmed is
// nowhere but in memory.
func BenchmarkConfirm(b *testing.B) {
	j := open(b, b.TempDir(), nil)
	e := j.Open(fileOf("a", 10_000), placeNamed("a"), chunk)
	e.Start(whole)
	for n := 0; b.Loop(); n++ {
		e.Confirm(1 + n%10_000)
	}
}
