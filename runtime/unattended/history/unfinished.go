package history

import (
	"bytes"
	"encoding/json"
	"os"
)

// Unfinished returns the newest run of a script that has written and may be resumed, of those for which same returns
// true; nil when there is none, or when a newer one succeeded or is in progress.
func (s Store) Unfinished(script string, same func(*Summary) bool) (*Summary, error) {
	name, err := json.Marshal(script)
	if err != nil {
		return nil, err
	}
	ids, err := s.ids()
	for _, id := range ids {
		text, unreadable := os.ReadFile(s.path(id, ".json"))
		if unreadable != nil || !bytes.Contains(text, name) { // decoding all runs would slow every start
			continue
		}
		run, unreadable := s.read(id)
		if unreadable != nil || run.Script != script || !same(run) {
			continue
		}
		if run.State == Running || run.End != nil && run.End.ExitCode == 0 {
			return nil, nil
		}
		if ended, writes, err := s.outlook(run.RunID()); err == nil && !ended && writes > 0 {
			return run, nil
		}
	}
	return nil, err
}
