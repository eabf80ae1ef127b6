package link

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// inherit makes a command inherit two files.
func inherit(cmd *exec.Cmd, files [2]*os.File) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	handles := [2]syscall.Handle{syscall.Handle(files[0].Fd()), syscall.Handle(files[1].Fd())}
	for _, h := range handles {
		_ = syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT) // also needed
	}
	cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, handles[:]...)
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%d,%d", Variable, handles[0], handles[1]))
}

// inherited opens the files named by the variable's text.
func inherited(text string) (in, out *os.File, err error) {
	var handles [2]uint64
	if _, err := fmt.Sscanf(text, "%d,%d", &handles[0], &handles[1]); err != nil {
		return nil, nil, err
	}
	for _, h := range handles {
		if err := syscall.SetHandleInformation(syscall.Handle(h), syscall.HANDLE_FLAG_INHERIT, 0); err != nil {
			return nil, nil, err
		}
	}
	return os.NewFile(uintptr(handles[0]), "link"), os.NewFile(uintptr(handles[1]), "link"), nil
}

func isBroken(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, syscall.Errno(232)) // ERROR_NO_DATA
}
