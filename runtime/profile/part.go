package profile

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"transect/client"
	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/vm"
)

// Files are the files that profiles are written to; "" writes none.
type Files struct {
	CPU      string // for go tool pprof
	Timeline string // a page for a browser
}

// part measures a run.
type part struct {
	*Recorder
	x *runtime.Execution // nil before the settings of the run are valid
}

// Run runs a job and measures it when there are files to write. They are also written when the run is abandoned.
func Run(ctx context.Context, p *runtime.Process, job runtime.Job, to Files) error {
	if to == (Files{}) {
		return runtime.Run(ctx, p, job)
	}
	m := &part{}
	err := runtime.Run(ctx, p, job.With(m))
	if failed := m.write(to); err == nil {
		err = failed
	}
	return err
}

// Prepare begins to record.
func (m *part) Prepare(o *vm.Options) {
	m.Recorder = New()
	o.Observer = m.Recorder
}

// Made keeps the run.
func (m *part) Made(x *runtime.Execution) { m.x = x }

// Link records the requests of a connection.
func (m *part) Link(_ string, o *client.Options) {
	o.Wrap = func(base string, below http.RoundTripper) (http.RoundTripper, error) {
		return m.Requests(base, below), nil
	}
}

// mostLines is how many lines are shown at the end of a run.
const mostLines = 10

// write writes the files, and shows the most expensive lines.
func (m *part) write(to Files) error {
	if m.x == nil {
		return nil
	}
	m.Stop()
	out, job := m.x.Interp.Options(), m.x.Job()
	if job.Output.JSON {
		for _, l := range m.Lines(mostLines) {
			out.Logger.Info("profile", "line", l.Name, "seconds", l.Sum.Seconds(), "spent", l.Spent)
		}
	} else {
		_, _ = io.WriteString(out.Stderr, m.Summary(mostLines)) // the files hold the same
	}
	err := m.writeFile("cpu-profile", to.CPU, m.WritePprof)
	if failed := m.writeFile("timeline", to.Timeline, func(w io.Writer) error {
		return m.WritePage(w, job.Script)
	}); err == nil {
		err = failed
	}
	return err
}

func (m *part) writeFile(flag, path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = atomicfile.Write(m.x.Process().Path(path), b.Bytes(), 0o644)
	}
	if err != nil {
		return fault.Hinted(fault.Of(&fault.FileError{}, "the profile %s cannot be written: %w", path, fault.Reason(err)),
			"the work of the script is done; make room, or name another file with --%s", flag)
	}
	return nil
}
