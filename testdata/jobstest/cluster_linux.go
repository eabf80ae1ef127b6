package jobstest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// supervisor runs a server until its input ends, which is at the latest when the
// test process is killed. It reads the commands stop and start.
const supervisor = `
start() { "$BIN/postgres" -D "$DIR/data" -k "$DIR" -c listen_addresses="$LISTEN" -c port="$PORT" \
	-c fsync=off -c full_page_writes=off -c max_connections=200 >>"$DIR/log" 2>&1 <&- & pid=$!; }
"$BIN/initdb" -D "$DIR/data" -U postgres -A trust --no-sync --no-locale -E UTF8 >>"$DIR/log" 2>&1 || exit 1
start
while read -r command; do
	case $command in
	stop) kill -INT $pid; wait $pid ;;
	start) start ;;
	esac
	echo done
done
kill -QUIT $pid
wait $pid
rm -rf "$DIR"`

// Cluster is a private PostgreSQL server.
type Cluster struct {
	Dir  string // holds its socket
	Port int
	in   io.Writer
	out  io.Reader
}

var shared = sync.OnceValues(func() (*Cluster, error) { return start("") })

// Database is the address of a new database in a cluster shared by the tests of
// the process. It skips the test where PostgreSQL is not installed.
func Database(t testing.TB) string {
	t.Helper()
	needPostgres(t)
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return c.Database(t)
}

// NewCluster starts a server that a test may stop and start. It listens on
// 127.0.0.1 as well.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	needPostgres(t)
	c, err := start("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.in.(io.Closer).Close(); _, _ = io.Copy(io.Discard, c.out) })
	return c
}

// Database is the address of a new database, by the socket.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	admin, err := c.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	name := fmt.Sprintf("jobs_%d", time.Now().UnixNano())
	if _, err := admin.Exec(t.Context(), "create database "+name); err != nil {
		t.Fatal(err)
	}
	return c.url(name)
}

// TCP is the address of a database by 127.0.0.1, or by a proxy of it.
func (c *Cluster) TCP(database, address string) string {
	_, name, _ := strings.Cut(database, "@/")
	name, _, _ = strings.Cut(name, "?")
	if address == "" {
		address = net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port))
	}
	return "postgres://postgres@" + address + "/" + name
}

// Stop stops the server at once, ending its connections.
func (c *Cluster) Stop() error { return c.tell("stop") }

// Start starts a stopped server and waits until it answers.
func (c *Cluster) Start() error {
	if err := c.tell("start"); err != nil {
		return err
	}
	return c.ready()
}

func (c *Cluster) tell(command string) error {
	if _, err := io.WriteString(c.in, command+"\n"); err != nil {
		return err
	}
	_, err := io.ReadFull(c.out, make([]byte, len("done\n")))
	return err
}

func (c *Cluster) url(database string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s&port=%d", database, c.Dir, c.Port)
}

func (c *Cluster) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, c.url("postgres"))
}

func (c *Cluster) ready() (err error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var conn *pgx.Conn
		if conn, err = c.connect(context.Background()); err == nil {
			return conn.Close(context.Background())
		}
	}
	log, _ := os.ReadFile(filepath.Join(c.Dir, "log"))
	return fmt.Errorf("PostgreSQL did not start: %w\n%s", err, log)
}

// binaries is the folder of the newest server installed, as Debian lays it out.
func binaries() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

func needPostgres(t testing.TB) {
	t.Helper()
	if binaries() == "" {
		t.Skip("PostgreSQL is not installed: no initdb in PATH or /usr/lib/postgresql (Debian: apt-get install postgresql)")
	}
}

// start makes a cluster. The server refuses to run as root, so root runs it as
// nobody.
func start(listen string) (*Cluster, error) {
	dir, err := os.MkdirTemp("/tmp", "jobs-pg-") // the path of a socket is short
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir, Port: 5432}
	if listen != "" {
		free, err := net.Listen("tcp", net.JoinHostPort(listen, "0"))
		if err != nil {
			return nil, err
		}
		c.Port = free.Addr().(*net.TCPAddr).Port
		_ = free.Close()
	}
	cmd := exec.Command("sh", "-c", supervisor)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "BIN="+binaries(), "DIR="+dir, "LISTEN="+listen, "PORT="+strconv.Itoa(c.Port))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		who, err := user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return c, c.ready()
}
