package main

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

const ingestScript = `
local ingest, sdk, json = require("ingest"), require("sdk"), require("json")
local name = { ["$eq"] = arg[2] }
local project = sdk.projects.search{ filter = { name = name }, limit = 1 }[1] or sdk.projects.create(arg[2], sdk.users.describe().company)
if arg[3] then
  local found = {}
  for d in sdk.datasets.search_generator{ filter = { project = { ["$eq"] = project.id } } } do
    found[#found + 1] = { name = d.name, checksum = d.components[1].checksum, status = d.components[1].status }
  end
  print(json.encode{ files = found })
  return
end
local r = ingest.run{ source = arg[1], project = project, progress = false }
print(json.encode{ total = r.total, uploaded = r.uploaded, already_there = r.already_there, bad = r.bad, bytes = r.bytes })
`

// ingestAnswer is what the script prints.
type ingestAnswer struct {
	Total, Uploaded, Bad int
	AlreadyThere         int `json:"already_there"`
	Bytes                int64
	Files                []struct{ Name, Checksum, Status string }
}

// TestIngestKilledAnywhere kills an ingest of small files and multipart files at
// random moments and runs it again: no dataset is duplicate or missing, the
// totals are those of what was sent, and nothing acknowledged is sent again.
// TRANSECT_KILLS is the number of kills. Every other run uploads through the
// platform.
//
// A part is acknowledged when the killed process had read the answer to its
// bytes: a run cannot know of an answer that waits in a socket. Where the system
// does not tell the two apart (other than Linux), the last answer of each
// connection of a killed run does not count. A file sent whole is acknowledged
// by its completion, read or not: the next run asks the platform for it.
//
// Between reading an answer and recording it a process has to be scheduled: a
// few hundred microseconds, more on a busy machine. A kill in that window costs
// the part; one in fifty kills may hit it.
func TestIngestKilledAnywhere(t *testing.T) {
	kills := 4
	if testing.Short() {
		kills = 2
	}
	if text := os.Getenv("TRANSECT_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	const photos, connections = 12, 4
	h := newHome(t, photos, flightgen.Options{FileSize: 60 << 10})
	folder := filepath.Join(h.dir, "flight")
	parts := map[string]bool{}
	for i := range 2 {
		data := make([]byte, 25<<20+i)
		rand.NewChaCha8([32]byte{byte(i)}).Read(data)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("cloud%d.bin", i)), data, 0o600); err != nil {
			t.Fatal(err)
		}
		for len(data) > 0 {
			n := min(len(data), 10<<20)
			sum := md5.Sum(data[:n])
			parts[hex.EncodeToString(sum[:])] = true
			data = data[n:]
		}
	}
	want := sums(t, folder)
	s := serve(t, h)
	w := newWitness(t, s.URL)
	h.file("ingest.lua", ingestScript)
	h.settings = []string{"TRANSECT_URL=" + w.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password,
		"TRANSECT_CLIENT_ID=" + s.ClientID, "TRANSECT_CLIENT_SECRET=" + s.ClientSecret, "TRANSECT_CONNECTIONS=" + strconv.Itoa(connections),
		"TRANSECT_BWLIMIT=50M"} // slow enough for kills to land inside uploads
	settings := h.settings
	ask := func(arguments ...string) (a ingestAnswer) {
		t.Helper()
		out := h.must(append([]string{"run", "ingest.lua", "flight"}, arguments...)...)
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return a
	}

	w.begin(parts)
	if a := ask("calm"); a.Uploaded != len(want) || a.Bytes != w.bytes {
		t.Fatalf("undisturbed: %+v, the platform took %d bytes", a, w.bytes)
	}
	took := time.Since(w.began)

	inside, early, resent, acked, unread, twice, duplicates, missing := 0, 0, 0, 0, 0, 0, 0, 0
	for i := range kills {
		project := fmt.Sprint("killed ", i)
		h.settings = append(slices.Clip(settings), "USE_LEGACY_UPLOADER="+[]string{"", "yes"}[i%2])
		w.begin(parts)
		cmd := h.command("run", "ingest.lua", "flight", project)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-w.first
		time.Sleep(time.Duration(rand.Int64N(int64(took) * 9 / 10)))
		if w.inFlight() {
			inside++
		}
		cmd.Process.Kill()
		cmd.Wait()
		if !cmd.ProcessState.Success() {
			early++
		}
		for !w.quiet() { // what had left the process still arrives
			time.Sleep(5 * time.Millisecond)
		}
		w.mu.Lock()
		before := w.bytes
		acked += len(w.acked)
		unread += len(w.unread)
		w.mu.Unlock()

		a := ask(project)
		if a.Total != len(want) || a.Bad != 0 || a.Uploaded+a.AlreadyThere != len(want) || a.Bytes != w.bytes-before {
			t.Errorf("%d: %+v of %d files; the platform took %d bytes", i, a, len(want), w.bytes-before)
		}
		for _, sum := range w.again {
			if !parts[sum] {
				t.Errorf("%d: %s was sent again", i, sum)
			}
		}
		resent += len(w.again)
		twice += w.twice
		files := ask(project, "list").Files
		if len(files) != len(want) {
			t.Errorf("%d: %d datasets, want %d", i, len(files), len(want))
		}
		there := map[string]int{}
		for _, f := range files {
			if there[f.Name]++; there[f.Name] > 1 {
				duplicates++
			}
			if f.Status != "completed" || f.Checksum != want[f.Name] {
				t.Errorf("%d: %+v, want the checksum %s", i, f, want[f.Name])
			}
		}
		for name := range want {
			if there[name] == 0 {
				missing++
			}
		}
	}
	t.Logf("%d kills: %d before the end of the run, %d inside an upload; %d duplicate datasets, %d missing; "+
		"%d parts and files acknowledged, %d of them sent again; %d more received by the platform without a run reading the answer, %d of them sent again",
		kills, early, inside, duplicates, missing, acked, resent, unread, twice)
	if resent > 1+kills/50 {
		t.Errorf("%d acknowledged parts were sent again", resent)
	}
	if early == 0 {
		t.Error("no kill landed before the end: the test proves nothing")
	}
}

// sums gives the checksums of the files of a folder by name.
func sums(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := md5.Sum(data)
		found[e.Name()] = hex.EncodeToString(sum[:])
	}
	return found
}
