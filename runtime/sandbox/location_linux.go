package sandbox

import (
	"os"
	"strconv"
)

// locationOf asks the system for the true path of an open file.
func locationOf(file *os.File) (path string, known bool) {
	conn, err := file.SyscallConn() // Fd would make reads of pipes wait without end
	if err != nil {
		return "", false
	}
	failed := conn.Control(func(fd uintptr) { path, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) })
	return path, failed == nil && err == nil && len(path) > 0 && path[0] == '/'
}
