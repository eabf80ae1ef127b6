package runtime

import (
	"bytes"
	"io"
	"net/http"

	"transect/client"
	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/runtime/vm/profile"
)

// Profile names the files for measurements of where a run spends its time; "" writes none.
type Profile struct {
	CPU      string // for go tool pprof
	Timeline string // a page for a browser
}

func (p Profile) begin() *profile.Recorder {
	if p == (Profile{}) {
		return nil
	}
	return profile.New()
}

// measure lays the profile over what sends requests.
func (c *connector) measure(o *client.Options) {
	recorder := c.in.Options().Profile
	if recorder == nil {
		return
	}
	o.Wrap = func(base string, below http.RoundTripper) (http.RoundTripper, error) {
		return recorder.Requests(base, below), nil
	}
}

// dearest is how many lines are shown at the end of a run.
const dearest = 10

// endProfile writes the files of the profile, and shows its dearest lines.
func (x *Execution) endProfile() error {
	out := x.Interp.Options()
	if out.Profile == nil {
		return nil
	}
	out.Profile.Stop()
	if x.job.Output.JSON {
		for _, l := range out.Profile.Lines(dearest) {
			out.Logger.Info("profile", "line", l.Name, "seconds", l.Sum.Seconds(), "spent", l.Spent)
		}
	} else {
		_, _ = io.WriteString(out.Stderr, out.Profile.Summary(dearest)) // the files hold the same
	}
	err := x.writeProfile("cpu-profile", x.job.Profile.CPU, out.Profile.WritePprof)
	if failed := x.writeProfile("timeline", x.job.Profile.Timeline, func(w io.Writer) error {
		return out.Profile.WritePage(w, x.job.Script)
	}); err == nil {
		err = failed
	}
	return err
}

func (x *Execution) writeProfile(flag, path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = atomicfile.Write(x.process.Path(path), b.Bytes(), 0o644)
	}
	if err != nil {
		return fault.Hinted(fault.Of(&fault.FileError{}, "the profile %s cannot be written: %w", path, fault.Reason(err)),
			"the work of the script is done; make room, or name another file with --%s", flag)
	}
	return nil
}
