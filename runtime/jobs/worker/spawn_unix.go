//go:build unix

package worker

import (
	"os"
	"syscall"
)

// attributes puts a child into a process group of its own. That it ends with its
// worker is the child's business, for it ends the programs that it started as well
// (link.Child.Guard): a signal of the system at the parent's death would kill the
// child alone.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to the process group of a child.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) } // it may have ended

func killGroup(p *os.Process)     { signalGroup(p, syscall.SIGKILL) }
func stopGroup(p *os.Process)     { signalGroup(p, syscall.SIGSTOP) }
func continueGroup(p *os.Process) { signalGroup(p, syscall.SIGCONT) }

// endGroup asks the script to finish what it has in hand. Programs that it started
// are its own business.
func endGroup(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }
