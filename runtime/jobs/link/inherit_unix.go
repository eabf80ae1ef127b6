//go:build unix

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
	first := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles, files[:]...)
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%d,%d", Variable, first, first+1))
}

// inherited opens the files named by the variable's text.
func inherited(text string) (in, out *os.File, err error) {
	var fds [2]int
	if _, err := fmt.Sscanf(text, "%d,%d", &fds[0], &fds[1]); err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
		if err := syscall.SetNonblock(fd, true); err != nil {
			return nil, nil, err
		}
	}
	return os.NewFile(uintptr(fds[0]), "link"), os.NewFile(uintptr(fds[1]), "link"), nil
}

func isBroken(err error) bool { return errors.Is(err, syscall.EPIPE) }
