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
// test process is killed. It reads the commands stop SIGNAL and start; its arguments
// are further ones of the server.
const supervisor = `
start() { "$BIN/postgres" -D "$DIR/data" -k "$DIR" -c listen_addresses="$LISTEN" -c port="$PORT" \
	-c fsync=off -c full_page_writes=off -c max_connections=200 "$@" >>"$DIR/log" 2>&1 <&- & pid=$!; }
"$BIN/initdb" -D "$DIR/data" -U postgres -A trust --no-sync --no-locale -E UTF8 >>"$DIR/log" 2>&1 || exit 1
start "$@"
while read -r command signal; do
	case $command in
	stop)
		children=
		[ $signal = KILL ] && children=$(cat /proc/$pid/task/$pid/children)
		kill -$signal $pid $children; wait $pid ;;
	start) start "$@" ;;
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

var shared = sync.OnceValues(func() (*Cluster, error) { return start("", Server{}) })

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

// Server is what a server has beside its usual settings.
type Server struct {
	Settings []string          // NAME=VALUE; {dir} is the folder of Files
	Files    map[string][]byte // for the server alone
}

// NewCluster starts a server that a test may stop and start. It listens on
// 127.0.0.1 as well.
func NewCluster(t testing.TB, with ...Server) *Cluster {
	t.Helper()
	needPostgres(t)
	c, err := start("127.0.0.1", append(with, Server{})[0])
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

// Stop stops the server, ending its connections.
func (c *Cluster) Stop() error { return c.tell("stop INT") }

// Abort stops the server as a crash does; it recovers at its next start.
func (c *Cluster) Abort() error { return c.tell("stop QUIT") }

// Kill kills all processes of the server, as the loss of its machine does.
func (c *Cluster) Kill() error { return c.tell("stop KILL") }

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
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
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

// start makes a cluster.
func start(listen string, with Server) (*Cluster, error) {
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
	args := []string{"-c", supervisor, "supervisor"}
	for _, s := range with.Settings {
		args = append(args, "-c", strings.ReplaceAll(s, "{dir}", dir))
	}
	cmd := exec.Command("sh", args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "BIN="+binaries(), "DIR="+dir, "LISTEN="+listen, "PORT="+strconv.Itoa(c.Port))
	files := []string{dir}
	for name, content := range with.Files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	if cmd.SysProcAttr, err = unprivileged(files...); err != nil {
		return nil, err
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

// unprivileged are the attributes of a process in a group of its own. That of root
// runs as nobody, who becomes the owner of its files: servers refuse to run as root.
func unprivileged(files ...string) (*syscall.SysProcAttr, error) {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return attributes, nil
	}
	who, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	for _, path := range files {
		if err := os.Chown(path, uid, gid); err != nil {
			return nil, err
		}
	}
	attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attributes, nil
}
