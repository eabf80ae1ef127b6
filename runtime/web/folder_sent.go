package web

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"transect/client"
	"transect/client/ingest"
	"transect/client/verdict"
)

// sentFile is the outcome of sending a file of the folder.
type sentFile struct {
	Verdict verdict.Verdict
	Dataset string
	Cause   string
	Hint    string
	Pending bool // the platform has not read it yet
}

const (
	sentFor    = 3 * time.Second // lifetime of cached outcomes and states
	maxLookups = 20_000          // limit of datasets to look up
)

// sentVersion returns a version that changes with the outcomes of runs.
func (s *Server) sentVersion() string {
	logs, err := ingest.Logs(s.stateDir())
	if err != nil || len(logs) == 0 {
		return ""
	}
	return logs[0].ID + logs[0].Changed.String()
}

// stateDir returns the folder in which runs of this machine leave their records.
func (s *Server) stateDir() string { return filepath.Dir(s.History.Dir) }

// sent returns the files of a folder that were sent, by path: the latest outcome of each, and the present
// state of its dataset on the platform.
func (s *Server) sent(ctx context.Context, folder string) map[string]sentFile {
	files, _ := s.sentFiles.get(s.sentVersion(), sentFor, func() (map[string]sentFile, error) {
		files := s.outcomes(absolutePath(folder) + string(filepath.Separator))
		s.refresh(ctx, files)
		return files, nil
	})
	return files
}

// outcomes reads the latest outcome of each file.
func (s *Server) outcomes(prefix string) map[string]sentFile {
	files := map[string]sentFile{}
	logs, err := ingest.Logs(s.stateDir())
	if err != nil {
		s.Logger.Warn("the outcomes of earlier runs cannot be read", "reason", err)
	}
	for _, log := range logs {
		outcomes, err := ingest.Earlier(s.stateDir(), log.ID)
		if err != nil {
			continue // removed meanwhile
		}
		latest := map[string]sentFile{} // of this run: a file may have two lines
		for o, err := range outcomes {
			if err != nil {
				break
			}
			if strings.HasPrefix(o.Path, prefix) {
				latest[o.Path] = sentFile{o.Verdict, o.Dataset, o.Cause, o.Hint, o.Pending}
			}
		}
		for path, file := range latest {
			if _, later := files[path]; !later {
				files[path] = file
			}
		}
	}
	return files
}

// refresh looks up which of the files the platform has read by now, and which it refused.
func (s *Server) refresh(ctx context.Context, files map[string]sentFile) {
	paths := map[string]string{}
	var ids client.IDs
	for path, f := range files {
		if f.Dataset != "" && len(ids) < maxLookups {
			paths[f.Dataset], ids = path, append(ids, f.Dataset)
		}
	}
	if s.Client == nil || len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for d, err := range s.Client.Datasets.Search.All(ctx, client.DatasetQuery{Query: client.Query{
		Filter: among("_id", ids), Fields: only("_id", "ingestion")}}) {
		if err != nil {
			s.Logger.Debug("the state of the files on the platform is not known", "reason", err)
			return
		}
		path := paths[d.ID]
		f := files[path]
		f.Pending = stateOf(d) == photoWaiting
		if stateOf(d) == photoBad {
			f.Verdict, f.Cause = verdict.Refused, d.Ingestion.Error.Message
		}
		files[path] = f
	}
}
