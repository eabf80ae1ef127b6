package unattended

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime"
	"transect/runtime/unattended/history"
	"transect/runtime/vm"
)

// View is a snapshot of a running script, for attached observers.
type View struct {
	*history.Summary
	Tasks     []vm.TaskView     `json:"tasks"`
	More      int               `json:"more_tasks,omitempty"`
	Transfers []string          `json:"transfers"` // files that are uploaded or downloaded
	Sent      int64             `json:"bytes_sent"`
	Received  int64             `json:"bytes_received"`
	Progress  []history.Display `json:"progress,omitempty"`
}

const (
	socketKind   = ".sock"
	answerWithin = 3 * time.Second // a script is interruptible within milliseconds
	staleAfter   = time.Minute     // a refusing socket younger than this may be starting up
)

// openSocket opens a socket through which other processes observe the run: a connection gets the record of the run,
// and its view once the script is between two instructions. Nothing is read from it. If it cannot be opened, the run
// continues unobserved.
func (p *progress) openSocket() net.Listener {
	store := History(p.run.process)
	path := filepath.Join(store.Dir, p.started.ID+socketKind)
	if err := os.MkdirAll(store.Dir, 0o700); err != nil {
		return nil
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.show(c, &p.started)
		}
	}()
	return l
}

func (p *progress) show(c net.Conn, summary *history.Summary) {
	defer c.Close()
	_ = c.SetWriteDeadline(time.Now().Add(answerWithin))
	out := json.NewEncoder(c)
	if out.Encode(summary) != nil {
		return
	}
	v := View{Transfers: p.of.OpenTransfers()}
	v.Tasks, v.More = p.of.Interp.Look()
	v.Sent, v.Received = p.of.Transferred()
	if shown, err := json.Marshal(p.of.Interp.Displays()); err == nil {
		_ = json.Unmarshal(shown, &v.Progress) // displays of one kind only
	}
	for _, t := range v.Tasks {
		for _, l := range t.Levels {
			for i := range l.Variables {
				l.Variables[i].Value = p.run.redact.all(l.Variables[i].Value)
			}
		}
	}
	_ = c.SetWriteDeadline(time.Now().Add(answerWithin))
	_ = out.Encode(v) // the peer may be gone
}

// attached is a connection to a running script.
type attached struct {
	net.Conn
	in  *json.Decoder
	run history.Summary
}

// Attach observes the running script of this machine with an ID, the start or the end of one, a process ID,
// or the name of a run or a script; "" and "last" is the newest.
func Attach(p *runtime.Process, name string) (*View, error) {
	if err := vm.CheckStateDir(p.Env); err != nil {
		return nil, err
	}
	running := connect(History(p).Dir)
	defer func() {
		for _, a := range running {
			_ = a.Close()
		}
	}()
	found := slices.DeleteFunc(slices.Clone(running), func(a *attached) bool { return !a.matches(name) })
	if (name == "" || name == "last") && len(running) > 0 {
		found = running[len(running)-1:]
	}
	switch {
	case len(running) == 0:
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no running script on this machine to inspect"),
			"a run can be inspected one second after its start; transect runs lists the runs")
	case len(found) != 1:
		what := "is ambiguous"
		if len(found) == 0 {
			what, found = "does not run", running
		}
		var list []string
		for _, a := range found {
			list = append(list, fmt.Sprintf("%s (%s, process %d)", a.run.ID, filepath.Base(a.run.Script), a.run.PID))
		}
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s %s", name, what),
			"these run: %s", strings.Join(list, ", "))
	}
	v := &View{}
	if err := found[0].in.Decode(v); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.TimeoutError{}, "the run %s does not answer", found[0].run.ID),
			"it is ending, or is stopped in a debugger or inside one long call; try again")
	}
	v.Summary = &found[0].run
	return v, nil
}

func (a *attached) matches(name string) bool {
	r, script := a.run, filepath.Base(a.run.Script)
	return name == strconv.Itoa(r.PID) || name == r.Run || name == script || name == strings.TrimSuffix(script, ".lua") ||
		name != "" && (strings.HasPrefix(r.ID, name) || strings.HasSuffix(r.ID, name))
}

// connect connects to all running scripts, the oldest first, and removes the sockets of killed ones.
func connect(dir string) (list []*attached) {
	names, _ := fs.Glob(os.DirFS(dir), "*"+socketKind) // the pattern is valid
	all := make([]*attached, len(names))
	var dials sync.WaitGroup
	for i, name := range names {
		path := filepath.Join(dir, name)
		dials.Go(func() {
			c, err := net.DialTimeout("unix", path, answerWithin)
			if err != nil {
				if info, failed := os.Stat(path); failed == nil && time.Since(info.ModTime()) > staleAfter &&
					!errors.Is(err, os.ErrPermission) && !os.IsTimeout(err) {
					_ = os.Remove(path)
				}
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(answerWithin))
			a := &attached{Conn: c, in: json.NewDecoder(c)}
			a.run.ID = strings.TrimSuffix(filepath.Base(path), socketKind)
			if err := a.in.Decode(&a.run); err != nil && !os.IsTimeout(err) { // it is ending
				_ = c.Close()
				return
			}
			all[i] = a
		})
	}
	dials.Wait()
	return slices.DeleteFunc(all, func(a *attached) bool { return a == nil })
}

// Text formats the view for a screen.
func (v *View) Text(now time.Time) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(human.Visible(fmt.Sprintf(format, args...)) + "\n") }
	words := append([]string{filepath.Base(v.Script)}, v.Arguments...)
	line("run %s, process %d, for %s: %s", v.ID, v.PID, human.Duration(now.Sub(v.Started)), strings.Join(words, " "))
	if v.Sent+v.Received > 0 {
		line("%s sent, %s received", human.Size(v.Sent), human.Size(v.Received))
	}
	for _, d := range v.Progress {
		line("%s: %s", d.Label, d.Text)
	}
	for _, name := range v.Transfers {
		line("in transfer: %s", name)
	}
	for i, t := range v.Tasks {
		what := "runs Lua"
		if t.Waits != "" {
			what = "waits for " + t.Waits
		}
		line("\ntask %d %s", i+1, what)
		for _, l := range t.Levels {
			in := ""
			if l.Function != "" {
				in = " in " + l.Function
			}
			line("  %s:%d%s", l.File, l.Line, in)
			for _, v := range l.Variables {
				line("    %s = %s", v.Name, v.Value)
			}
		}
	}
	if v.More > 0 {
		line("\nand %s more", human.Count(int64(v.More), "task"))
	}
	return b.String()
}
