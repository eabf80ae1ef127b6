package jobs

import "fmt"

// Describe returns the state of a job, with the exit code and the message of its last finished attempt.
func (j *Job) Describe() string {
	text := string(j.State)
	if j.ExitCode != nil {
		text += fmt.Sprintf(", exit code %d", *j.ExitCode)
	}
	if j.Message != "" {
		text += ": " + j.Message
	}
	return text
}

// Next suggests what to do about an unsuccessful job; "" for others.
func (j *Job) Next() string {
	code := -1
	if j.ExitCode != nil {
		code = *j.ExitCode
	}
	again := fmt.Sprintf("transect jobs retry %d", j.ID)
	switch {
	case j.State == DoneFailures:
		return "see which items failed and why, then " + again + ": finished work is not repeated"
	case j.State == NeedsDecision:
		return fmt.Sprintf("check the writes that the output names, decide about them with transect "+
			"runs settle %s WRITE, then %s", RunID(j.ID), again)
	case j.State == Stopped && code == 4:
		return "check user, password or profile on the worker, then " + again
	case j.State == Stopped:
		return "correct the command or the script and submit it again; if something was missing on the worker, " + again
	case j.State == Failed && code == 5:
		return "when the cause is gone, " + again + ": finished work is not repeated"
	case j.State == Failed && code == 10:
		return "submit it again with a longer --timeout, or " + again + ": it resumes"
	case j.State == Failed:
		return "read the error; when its cause is gone, " + again + "; after correcting the script, submit it again"
	case j.State == Cancelled:
		return again + " resumes it"
	}
	return ""
}
