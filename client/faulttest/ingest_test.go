package faulttest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"testing"
	"time"

	"transect/client"
	"transect/client/ingest"
	"transect/client/scan"
	"transect/testdata/flightgen"
)

// intake is a folder of files of several kinds, one of them sent in parts.
var intake = sync.OnceValues(func() (string, error) {
	folder, err := temporary()
	if err != nil {
		return "", err
	}
	if err := flightgen.Write(folder, 2, flightgen.Options{Width: 64, Height: 48}); err != nil {
		return "", err
	}
	long := make([]byte, 10<<20+1)
	random := rand.New(rand.NewPCG(3, 4))
	for i := 0; i < len(long); i += 512 {
		long[i] = byte(random.Uint32())
	}
	for name, content := range map[string]string{"long.bin": string(long), "dem.img": "\x00\x01\x02", "dem.hdr": "ENVI\nsamples = 3\n", "notes.txt": "first"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
})

// takeIn is the second reference workflow: a folder is brought in, one file of
// it changes, and it is brought in once more, the new state in the place of the
// old one.
func takeIn(ctx context.Context, w *world) (seen []string, err error) {
	s, err := w.connect(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := w.card()
	if err != nil {
		return nil, err
	}
	notes := filepath.Join(folder, "notes.txt")
	if text, err := os.ReadFile(notes); err == nil && string(text) == "first" {
		if _, err := s.ingest(ctx, folder); err != nil {
			return nil, err
		}
		os.Remove(notes) // it is a link
		if err := os.WriteFile(notes, []byte("second"), 0o600); err != nil {
			return nil, err
		}
		at := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
		if err := os.Chtimes(notes, at, at); err != nil {
			return nil, err
		}
	}
	return s.ingest(ctx, folder)
}

// card is this world's own copy of the folder.
func (w *world) card() (string, error) {
	from, err := intake()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(w.disk, "card")
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		return folder, nil
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if err := os.Link(filepath.Join(from, f.Name()), filepath.Join(folder, f.Name())); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// itemError is an ingest that ended, but for some files.
type itemError struct{ ingest.Outcome }

func (e itemError) Error() string {
	return fmt.Sprintf("%s: %s (%s)", e.Name, e.Cause, e.Hint)
}

func (s *session) ingest(ctx context.Context, folder string) (seen []string, err error) {
	missions, err := s.Missions.Search.Page(ctx, client.Query{})
	if err != nil {
		return nil, err
	}
	result, err := ingest.Run(ctx, s.Client, ingest.Options{Source: scan.Source{Root: folder},
		Target:  ingest.Target{Mission: missions.Results[0].ID},
		Replace: true, Verify: true, Wait: true, Workers: 3, Batch: 3, StateDir: filepath.Join(s.disk, "state")})
	if err != nil {
		return nil, err
	}
	if result.Counts.Failed > 0 {
		return nil, itemError{result.Failures[0]}
	}
	if n := result.Counts; n.Uploaded+n.AlreadyThere != 5 {
		return nil, fmt.Errorf("the counts are wrong: %+v", n)
	}
	for d, err := range s.Datasets.Search.All(ctx, client.DatasetQuery{}) {
		if err != nil {
			return nil, err
		}
		seen = append(seen, fmt.Sprint(d.Name, " ", d.Type, " ", d.Ingestion.Status))
	}
	sort.Strings(seen)
	return seen, nil
}

func seedMission(ctx context.Context, w *world) error {
	c, err := w.direct(ctx)
	if err != nil {
		return err
	}
	project, err := c.Projects.Create(ctx, client.CreateProject{Name: "Quarry", Company: client.ID(w.platform.Credentials().Company)})
	if err != nil {
		return err
	}
	_, err = c.Missions.CreateMission(ctx, client.CreateMission{Project: client.ID(project.ID), Name: "May", SurveyDate: "2026-05-31"})
	return err
}

func TestIngest(t *testing.T) {
	t.Parallel()
	matrix(t, 40, seedMission, takeIn)
}

// TestIngestThroughPlatform is the same with uploads through the platform.
func TestIngestThroughPlatform(t *testing.T) {
	t.Parallel()
	matrix(t, 30, seedMission, func(ctx context.Context, w *world) ([]string, error) {
		w.proxied = true
		return takeIn(ctx, w)
	})
}
