package worker

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(p *os.Process)   { _ = p.Kill() }
func stopGroup(p *os.Process)   {} // processes cannot be stopped on Windows: the link blocks their writes
func continueGroup(*os.Process) {}
func endGroup(p *os.Process)    { _ = p.Kill() }
