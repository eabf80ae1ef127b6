package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Log describes the recorded outcomes of a run on this machine.
type Log struct {
	ID      string    // of the run, see Earlier
	Changed time.Time // when the last outcome was added
}

// Logs lists the runs whose outcomes are kept, the latest first.
func Logs(stateDir string) ([]Log, error) {
	entries, err := os.ReadDir(filepath.Join(stateDir, logFolder))
	if err != nil && !os.IsNotExist(err) {
		return nil, logError(err)
	}
	var logs []Log
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), logEnding)
		info, err := e.Info()
		if ok && err == nil && !e.IsDir() {
			logs = append(logs, Log{id, info.ModTime()})
		}
	}
	slices.SortFunc(logs, func(a, b Log) int { return b.Changed.Compare(a.Changed) })
	return logs, nil
}
