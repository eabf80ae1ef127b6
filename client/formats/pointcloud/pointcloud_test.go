package pointcloud

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample reads a file of the shared data, or skips the test.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../../shared/data/pointcloud", name))
	if err != nil {
		t.Skip("the shared data are not here: ", err)
	}
	return b
}

// records reads all records of a file.
func records(t *testing.T, b []byte) (c *Cloud, all [][]byte) {
	t.Helper()
	c, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := c.chunks()
	if err != nil {
		t.Fatal(err)
	}
	record := make([]byte, c.length)
	for _, run := range chunks {
		next, err := c.open(run, record)
		if err != nil {
			t.Fatal(err)
		}
		for range run.points {
			if err := next(); err != nil {
				t.Fatalf("point %d: %v", len(all), err)
			}
			all = append(all, bytes.Clone(record))
		}
	}
	return c, all
}

func TestPackedRecordsAreThePlainOnes(t *testing.T) {
	plain, want := records(t, sample(t, "autzen-1065.las"))
	packed, got := records(t, sample(t, "autzen-1065.laz"))
	if len(want) != 1065 || len(got) != 1065 || plain.Compressed || !packed.Compressed || packed.Min != plain.Min {
		t.Fatal(len(want), len(got), plain, packed)
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("point %d:\n%x, want\n%x", i, got[i], want[i])
		}
	}
}

func TestPointsLieWithinTheHeadersBounds(t *testing.T) {
	b := sample(t, "brighton-model.laz")
	c, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	low, high := Point{1e9, 1e9, 1e9}, Point{-1e9, -1e9, -1e9}
	for p, err := range c.Sample(context.Background(), c.Count) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		low = Point{min(low.X, p.X), min(low.Y, p.Y), min(low.Z, p.Z)}
		high = Point{max(high.X, p.X), max(high.Y, p.Y), max(high.Z, p.Z)}
	}
	near := func(a, b Point) bool {
		return max(a.X-b.X, b.X-a.X, a.Y-b.Y, b.Y-a.Y, a.Z-b.Z, b.Z-a.Z) < 0.0051
	}
	if n != 940_393 || !near(low, c.Min) || !near(high, c.Max) {
		t.Error(n, low, high, c.Min, c.Max)
	}
}

func TestSamplesAreFromEverywhere(t *testing.T) {
	b := sample(t, "brighton-model.laz")
	c, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{1, 19, 1000, 100_000} {
		n := int64(0)
		for _, err := range c.Sample(context.Background(), limit) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < min(limit, 19)*9/10 || n > limit+19 {
			t.Errorf("%d points of at most %d", n, limit)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range c.Sample(stopped, 1000) {
		if err != context.Canceled {
			t.Error(err)
		}
	}
}

func TestDamagedClouds(t *testing.T) {
	plain, packed := sample(t, "autzen-1065.las"), sample(t, "autzen-1065.laz")
	with := func(b []byte, at int, values ...byte) []byte {
		b = bytes.Clone(b)
		copy(b[at:], values)
		return b
	}
	for want, b := range map[string][]byte{
		"not a LAS point cloud":                                     []byte("LAS"),
		"it ends within its header":                                 plain[:200],
		"it is cut short: 1000 of its 1065 points are there":        plain[:227+1000*34],
		"it is cut short: the table of its chunks is missing":       packed[:10_000],
		"points of format 3 do not fit into 20 bytes":               with(plain, 105, 20),
		"LAS version 1.2 with points of format 63 is not supported": with(plain, 104, 63),
		"the scale of the coordinates is invalid":                   with(plain, 131, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F),
		"it has two lengths of a point":                             with(packed, 105, 40),
		"it is compressed, but does not say how":                    with(packed, 0xF5, 0),
		"its LAZ compression (9) is not supported":                  with(packed, 0x119, 9),
		"its LAZ compression is not supported (item 6, version 1)":  with(packed, 0x13F, 1),
		"it ends before its points":                                 with(plain, 98, 9),
	} {
		c, err := Open(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			for _, e := range c.Sample(context.Background(), 2000) {
				err = e
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// FuzzCloud checks that no file makes the reader crash, loop or use unbounded memory.
func FuzzCloud(f *testing.F) {
	for _, name := range []string{"autzen-1065.las", "autzen-1065.laz"} {
		f.Add(sample(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		n := 0
		for range c.Sample(context.Background(), 10_000) {
			n++
		}
		if n > 20_000 {
			t.Error(n, "points")
		}
	})
}
