//go:build unix

package worker

import (
	"os"
	"syscall"
)

// attributes puts a child into its own process group. The child itself ends with its worker
// (link.Child.Guard), because it must also end the programs that it started: a parent-death signal would kill
// the child alone.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to the process group of a child.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) } // it may have ended

func killGroup(p *os.Process)     { signalGroup(p, syscall.SIGKILL) }
func stopGroup(p *os.Process)     { signalGroup(p, syscall.SIGSTOP) }
func continueGroup(p *os.Process) { signalGroup(p, syscall.SIGCONT) }

// endGroup signals the script to finish its work. The script ends the programs it started.
func endGroup(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }
