package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"transect/client/checksum"
	"transect/platform/blob"
)

// floor is how long the files of a folder take one by one when nothing is done
// with them that nobody can do without: each is read, hashed, sent in a request
// over one of 32 connections, and answered when it was hashed again and is on
// the disk, as the platform keeps them. Nothing asks who sends it and where it
// belongs, nothing looks into it, and both sides are one process.
func floor(b *testing.B, folder string) time.Duration {
	blobs, err := blob.Open(b.TempDir(), false)
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept, err := blobs.Put(blob.NewID(), r.Body, "")
		if err != nil || "/"+kept.MD5 != r.URL.Path {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	const connections = 32
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	entries, err := os.ReadDir(folder)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	batches := make(chan []os.DirEntry)
	var senders sync.WaitGroup
	for range connections {
		senders.Go(func() {
			for batch := range batches {
				if err := sendPlainly(&client, s.URL, folder, batch); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for left := entries; len(left) > 0; {
		n := min(checksum.Width, len(left))
		batches <- left[:n]
		left = left[n:]
	}
	close(batches)
	senders.Wait()
	return time.Since(began) / time.Duration(len(entries))
}

func sendPlainly(client *http.Client, url, folder string, files []os.DirEntry) error {
	var all [][][]byte
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		all = append(all, [][]byte{data})
	}
	for i, sum := range checksum.All(all) {
		r, err := http.NewRequest(http.MethodPut, url+"/"+sum, bytes.NewReader(all[i][0]))
		if err != nil {
			return err
		}
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", answer.Status)
		}
	}
	return nil
}
