package faulttest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"transect/client"
	"transect/client/journal"
	"transect/client/transfer"
	"transect/platform"
	"transect/testdata/flightgen"
)

// world is a platform, a proxy before it, and the disk of one who works on it.
type world struct {
	platform *platform.Platform
	proxy    *proxy
	disk     string // journal, state and downloads
	url      string // the proxy's, unless there is another one before it
	timeout  time.Duration
	stall    time.Duration
	light    bool // the survey has few bytes to send
	patient  bool // waits take their time
	again    bool // the workflow is run again however it ended
	proxied  bool // uploads go through the platform
	keyless  bool // the platform does not know Idempotency-Key
	hastens  bool // waiting lets time pass at the platform
	ledger   []client.Link
	effects  effects
	told     int    // creations that a run told were done twice
	repeated func() // called before each repeat
	healed   func() // waits for the end of the trouble
	onClose  func()
}

func newWorld() (*world, error) {
	c := &clock{}
	p, err := platform.Open(context.Background(), platform.Options{Memory: true, Now: c.now})
	if err != nil {
		return nil, err
	}
	w := &world{platform: p, effects: effects{byKey: map[string]int{}}}
	w.proxy = newProxy(w.effects.count(w, p.Handler()), c)
	w.url, w.repeated, w.healed, w.onClose, w.stall = w.proxy.server.URL, func() {}, func() {}, func() {}, 5*time.Second
	if w.disk, err = os.MkdirTemp("", "transect-faults-"); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) close() {
	w.onClose()
	close(w.proxy.closing)
	w.proxy.server.CloseClientConnections()
	w.proxy.server.Close()
	w.platform.Close()
	os.RemoveAll(w.disk)
}

// session is one process that works on the platform.
type session struct {
	*client.Client
	disk string
}

// connect starts a process, through the proxy unless direct.
func (w *world) connect(ctx context.Context) (*session, error) {
	login := w.platform.Credentials()
	c, err := client.New(ctx, client.Settings{URL: w.url, Timeout: w.timeout, User: login.User, Password: login.Password,
		ClientID: login.ClientID, ClientSecret: login.ClientSecret}, client.Options{
		Env: w.env, Sleep: w.hurried, Links: w.ledger, Journal: journal.New(filepath.Join(w.disk, "state"), nil), Stall: w.stall, Budget: transfer.NewBudget(4)})
	if err != nil {
		return nil, err
	}
	return &session{Client: c, disk: w.disk}, nil
}

func (w *world) env(name string) (value string, set bool) {
	if w.proxied && name == "USE_LEGACY_UPLOADER" {
		return "yes", true
	}
	return "", false
}

// direct is a client that no fault meets.
func (w *world) direct(ctx context.Context) (*client.Client, error) {
	login := w.platform.Credentials()
	return client.New(ctx, client.Settings{URL: platform.Address, User: login.User, Password: login.Password,
		ClientID: login.ClientID, ClientSecret: login.ClientSecret}, client.Options{RoundTripper: w.platform.RoundTripper()})
}

// hurried waits a thousandth of the time, unless the world is patient.
func (w *world) hurried(ctx context.Context, d time.Duration) error {
	w.repeated()
	if w.hastens {
		w.proxy.clock.pass(d)
	}
	if d = min(d, 4*time.Second); !w.patient {
		d = min(d/1000, 5*time.Millisecond)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// partSize is the smallest the platform takes.
const partSize = 5 << 20

// everything reports whether all cases are wanted, however long they take.
func everything() bool { return os.Getenv("TRANSECT_FAULTS") == "all" }

// source is a folder of files that every world is given: with a long one that is
// sent in parts, or light ones alone.
var (
	source      = sync.OnceValues(func() (string, error) { return newSource(partSize + 1) })
	lightSource = sync.OnceValues(func() (string, error) { return newSource(300_000) })
)

func newSource(long int) (string, error) {
	folder, err := temporary()
	if err != nil {
		return "", err
	}
	if err := flightgen.Write(folder, 3, flightgen.Options{Width: 64, Height: 48}); err != nil {
		return "", err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, size := range map[string]int{"cloud.bin": long, "notes.txt": 900} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(random.Uint32())
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// folders are removed when all tests have ended.
var folders []string

func temporary() (string, error) {
	folder, err := os.MkdirTemp("", "transect-source-")
	folders = append(folders, folder)
	return folder, err
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, folder := range folders {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// id is where a record is equal to a value.
func is(value any) map[string]any { return map[string]any{"$eq": value} }

func number(n int) *int { return &n }
