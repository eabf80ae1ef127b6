package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/client/transport"
	"transect/client/wait"
	"transect/runtime/unattended/logfile"
)

// followInterval is how often a followed log is read.
const followInterval = 250 * time.Millisecond

func (a *app) cronLogs() *cobra.Command {
	var follow bool
	lines := 0
	cmd := &cobra.Command{
		Use: "logs [-f] NAME", Short: "Show the log of a job",
		Long:    "Show what the last run of a job printed, each line with its time; -f follows it and the runs after it until Ctrl-C.",
		Example: "  transect cron logs nightly\n  transect cron logs -f nightly\n  transect cron logs --lines 200 nightly",
		Args:    exactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			j, _, err := a.cronJob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			path := a.logFile(j)
			text, size, err := logEnd(path)
			if errors.Is(err, fs.ErrNotExist) && !follow {
				return fault.Hinted(fault.Of(&fault.FileError{}, "the job %s has no log yet: %s does not exist", j.Name, path), "transect cron run %s runs it now", j.Name)
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fault.Of(&fault.FileError{}, "the log %s cannot be read: %w", path, fault.Reason(err))
			}
			shown := lastRun(text)
			if lines > 0 {
				shown = lastLines(text, lines)
			}
			if _, err := io.WriteString(a.stdout, transport.Redact(string(shown))); err != nil || !follow {
				return err
			}
			ctx, release := a.process.CancelOnSignal(cmd.Context())
			defer release()
			return a.followLog(ctx, path, size)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines as they are written")
	addOptions(cmd.Flags(), option{name: "lines", kind: "N", doc: "show the last N lines instead of the last run", parse: toCount(&lines)})
	return cmd
}

// logTail is how much of a log is read.
const logTail = 16 << 20

// logEnd is the end of a log file, with that of the rotated one before it, and
// the size of the file itself.
func logEnd(path string) (text []byte, size int64, err error) {
	older, _ := os.ReadFile(logfile.Rotated(path, 1)) // there may be none
	newer, err := os.ReadFile(path)
	text = append(older, newer...)
	return text[max(0, len(text)-logTail):], int64(len(newer)), err
}

var runStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\S+ transect: run \S+ of .* starts$`) })

// lastRun is the log from the start of the last run.
func lastRun(text []byte) []byte {
	starts := runStart().FindAllIndex(text, -1)
	if len(starts) == 0 {
		return text
	}
	return text[starts[len(starts)-1][0]:]
}

func lastLines(text []byte, n int) []byte {
	at := len(bytes.TrimSuffix(text, []byte("\n")))
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}

// followLog prints what is appended to a log file after its first bytes, until
// ctx ends. A file that was rotated is read from its start.
func (a *app) followLog(ctx context.Context, path string, from int64) error {
	var f *os.File // nil as long as there is none
	defer func() { f.Close() }()
	for {
		now, err := os.Stat(path)
		if err == nil && f != nil {
			if then, err := f.Stat(); err != nil || !os.SameFile(now, then) {
				f.Close()
				f = nil
			}
		}
		if err == nil && f == nil {
			if f, err = os.Open(path); err == nil {
				_, _ = f.Seek(from, io.SeekStart) // a log is a plain file
				from = 0
			}
		}
		if f != nil {
			if _, err := io.Copy(a.stdout, f); err != nil {
				return err
			}
		}
		if err := wait.Sleep(ctx, followInterval); err != nil {
			return context.Cause(ctx)
		}
	}
}
