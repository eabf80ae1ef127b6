package cli

import (
	"context"

	"github.com/spf13/cobra"

	"transect/runtime"
	"transect/runtime/runledger"
	"transect/runtime/unattended/history"
)

// Part is a feature of the command line. It implements what it needs of Commander, Optioner,
// Completer and Archivist.
type Part = runtime.Part

// Commander adds commands.
type Commander interface {
	Commands(a *App) []Command
}

// Optioner adds options of a run, which set the job.
type Optioner interface {
	Options(job *runtime.Job) []Option
}

// Completer completes the job of transect run once its flags are parsed.
type Completer interface {
	Complete(a *App, cmd *cobra.Command, job *runtime.Job) error
}

// Archivist finds runs that the history of this machine lacks. It adds the flags that say where they are to a
// command on runs, and returns what opens the archive once flags are parsed.
type Archivist interface {
	Archive(a *App, cmd *cobra.Command) (open func() (Archive, error))
}

// Archive keeps the records and ledgers of runs outside the state folder.
type Archive interface {
	runledger.Archive
	// Record returns the record of a run and the last lines of its output.
	Record(ctx context.Context, run string, lines int) (record *history.Summary, output string, err error)
	// Command returns the folder and the flags of a run.
	Command(ctx context.Context, run string) (folder string, flags []string, err error)
	// Resume returns the commands that resume and remove a run.
	Resume(run string) (resume, remove string)
}

// noArchive has no runs.
type noArchive struct{ Archive }

func (noArchive) Has(string) bool { return false }

// archive returns what opens the archive of the first part that has one, and adds its flags.
func (a *App) archive(cmd *cobra.Command) (open func() (Archive, error)) {
	if part := runtime.PartOf[Archivist](a.parts); part != nil {
		return part.Archive(a, cmd)
	}
	return func() (Archive, error) { return noArchive{}, nil }
}
