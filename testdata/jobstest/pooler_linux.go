package jobstest

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Pooled is the address of a database of a cluster by way of PgBouncer with a
// pool_mode. It skips the test where
// PgBouncer is not installed.
func (c *Cluster) Pooled(t testing.TB, database, mode string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("PgBouncer is not installed: no pgbouncer in PATH (Debian: apt-get install pgbouncer)")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(address)
	settings := fmt.Sprintf(`[databases]
* = host=%s port=%d user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = %s
`, c.Dir, c.Port, port, mode)
	path := filepath.Join(c.Dir, "pgbouncer-"+port+".ini")
	if err := os.WriteFile(path, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `"$@" >"$0" 2>&1 <&- & cat; kill $!; wait`, path+".log", program, path)
	if cmd.SysProcAttr, err = unprivileged(path); err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.(io.Closer).Close(); _ = cmd.Wait() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return c.TCP(database, address)
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(path + ".log")
			t.Fatalf("PgBouncer did not start: %v\n%s", err, log)
		}
	}
}
