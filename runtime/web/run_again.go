package web

import (
	"net/http"
	"strings"

	"transect/client/transport"
	"transect/runtime/jobs"
	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
)

// again returns the shell command that repeats a run; "" when it is not known.
func again(run *history.Summary) string {
	folder, words := againWords(run)
	switch {
	case len(words) == 0:
		return ""
	case folder != "" && run.Job == "":
		return "cd " + cron.Join([]string{folder}) + " && " + cron.Join(words)
	}
	return cron.Join(words)
}

// againWords returns the folder and the arguments of that command.
func againWords(run *history.Summary) (folder string, words []string) {
	if jobs.JobOfRun(run.ID) > 0 {
		return "", nil // the script was removed with the attempt
	}
	if run.Job != "" {
		return run.Folder, []string{"transect", "cron", "run", run.Job}
	}
	words, err := cron.Split(transport.Redact(run.Command))
	if err != nil || len(words) < 2 {
		return "", nil
	}
	return run.Folder, words
}

// startable reports whether the command is complete: the history keeps no secrets.
func startable(run *history.Summary) bool {
	_, words := againWords(run)
	for _, word := range words {
		if word == "..." || strings.HasSuffix(word, "=...") || strings.Contains(word, "[redacted]") {
			return false
		}
	}
	return len(words) > 0
}

func (s *Server) runAgain(w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !startable(run) {
		return &refusal{"the recorded command of this run is incomplete, because it named a secret: run it in a shell"}
	}
	folder, words := againWords(run)
	if err := s.Again(folder, words[1:]); err != nil {
		return err
	}
	http.Redirect(w, r, "/runs/"+run.ID+"?started=1", http.StatusSeeOther)
	return nil
}
