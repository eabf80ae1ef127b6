package jobs_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// A program that closes the file last removes SQLite's log: the locks of those that
// are open must stay, also when the same process opens the file once more.
func TestLocksOnTheFileStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	jobstest.Open(t, jobs.Config{StateDir: dir})
	jobstest.Open(t, jobs.Config{StateDir: dir}).Close()
	info, err := os.Stat(dir + "/" + jobs.File)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		t.Skip("no list of locks: ", err)
	}
	defer f.Close()
	mine := fmt.Sprintf(" %d ", os.Getpid())
	inode := fmt.Sprintf(":%d 1073741826 ", info.Sys().(*syscall.Stat_t).Ino) // SQLite's shared lock
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text := lines.Text(); strings.Contains(text, mine) && strings.Contains(text, inode) {
			return
		}
	}
	t.Error("the open file has no lock")
}
