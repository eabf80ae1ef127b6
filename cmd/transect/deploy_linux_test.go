package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v2"

	"transect/runtime/jobs"
	"transect/testdata/flightgen"
)

const deployFolder = "../../docs/deploy"

func deployFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents are the documents of a YAML file.
func documents(t *testing.T, name string) (all []map[string]any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(deployFile(t, name)))
	d.SetStrict(true)
	for {
		var one map[string]any
		if err := d.Decode(&one); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
}

// at is a value in a document.
func at(t *testing.T, in any, path ...any) any {
	t.Helper()
	for _, step := range path {
		var found bool
		switch here := in.(type) {
		case map[string]any:
			in, found = here[step.(string)]
		case map[any]any:
			in, found = here[step]
		case []any:
			if n := step.(int); n < len(here) {
				in, found = here[n], true
			}
		}
		if !found {
			t.Fatalf("there is no %v of %v", step, path)
		}
	}
	return in
}

func words(t *testing.T, in any, path ...any) (all []string) {
	t.Helper()
	list, ok := at(t, in, path...).([]any)
	if !ok {
		t.Fatalf("%v is no list", path)
	}
	for _, word := range list {
		all = append(all, word.(string))
	}
	return all
}

// image is what the last stage of the Containerfile says.
type image struct {
	copies           [][2]string // from, to
	env              []string
	user             string
	entrypoint, args []string
}

func readImage(t *testing.T) (i image) {
	t.Helper()
	_, last, found := strings.Cut(deployFile(t, "Containerfile"), "\nFROM scratch\n")
	if !found {
		t.Fatal("the image is not from scratch")
	}
	for _, line := range strings.Split(strings.TrimSpace(last), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "COPY":
			paths := slices.DeleteFunc(strings.Fields(rest), func(w string) bool { return strings.HasPrefix(w, "--") })
			if strings.HasSuffix(paths[1], "/") {
				paths[1] += filepath.Base(paths[0])
			}
			i.copies = append(i.copies, [2]string{paths[0], paths[1]})
		case "ENV":
			i.env = append(i.env, strings.Fields(rest)...)
		case "USER":
			i.user = rest
		case "ENTRYPOINT", "CMD":
			list := &i.args
			if word == "ENTRYPOINT" {
				list = &i.entrypoint
			}
			if err := json.Unmarshal([]byte(rest), list); err != nil {
				t.Fatal(line, err)
			}
		}
	}
	return i
}

// unitCommand is the command of a unit.
func unitCommand(t *testing.T, name string) []string {
	t.Helper()
	unit := strings.ReplaceAll(deployFile(t, name), "\\\n", " ")
	found := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(unit)
	if found == nil {
		t.Fatal(name, "starts nothing")
	}
	return strings.Fields(found[1])
}

// deployments are the commands of the files for deployments, without the program, each with the time that it has to end.
func deployments(t *testing.T) map[string]struct {
	args  []string
	grace time.Duration
} {
	t.Helper()
	type deployment = struct {
		args  []string
		grace time.Duration
	}
	all := map[string]deployment{}
	for _, name := range []string{"transect-worker.service", "transect-nightly.service"} {
		stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)min$`).FindStringSubmatch(deployFile(t, name))
		if stop == nil {
			t.Fatal(name, "has no time to stop")
		}
		minutes, _ := strconv.Atoi(stop[1])
		all[name] = deployment{unitCommand(t, name)[1:], time.Duration(minutes) * time.Minute}
	}
	all["Containerfile"] = deployment{readImage(t).args, 0}
	compose := documents(t, "compose.yaml")[0]
	for _, name := range []string{"worker-1", "worker-2"} {
		stop, err := time.ParseDuration(at(t, compose, "services", name, "stop_grace_period").(string))
		if err != nil {
			t.Fatal(err)
		}
		all["compose.yaml, "+name] = deployment{words(t, compose, "services", name, "command"), stop}
		check := words(t, compose, "services", name, "healthcheck", "test")
		if check[0] != "CMD" || check[1] != readImage(t).entrypoint[0] {
			t.Errorf("compose.yaml checks with %q", check)
		}
		all["compose.yaml, check of "+name] = deployment{check[2:], 0}
	}
	pod := kubernetesPod(t)
	args := words(t, pod, "containers", 0, "args")
	for i, word := range args { // as Kubernetes names pods
		args[i] = strings.ReplaceAll(word, "$(POD_NAME)", "transect-worker-7d9c5b8f6d-x2k4p")
	}
	all["kubernetes.yaml"] = deployment{args, time.Duration(at(t, pod, "terminationGracePeriodSeconds").(int)) * time.Second}
	return all
}

func kubernetesPod(t *testing.T) any {
	t.Helper()
	for _, d := range documents(t, "kubernetes.yaml") {
		if d["kind"] == "Deployment" {
			return at(t, d, "spec", "template", "spec")
		}
	}
	t.Fatal("there is no Deployment")
	return nil
}

// What the files for deployments start is understood by the program, and has the time to end well.
func TestDeploymentsStartWhatThereIs(t *testing.T) {
	t.Parallel()
	for name, d := range deployments(t) {
		cmd := subcommand(t, d.args[0])
		if err := cmd.ParseFlags(d.args[1:]); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.args[0] == "eval" {
			continue
		}
		grace, err := time.ParseDuration(cmd.Flag("grace").Value.String())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if need := grace + 35*time.Second; d.grace > 0 && d.grace < need {
			t.Errorf("%s is killed after %s and needs up to %s", name, d.grace, need)
		}
		if worker := cmd.Flag("name"); d.args[0] == "worker" && worker.Changed {
			if err := jobs.CheckQueue(worker.Value.String()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The pods are probed where the worker listens, and may write where the image does.
func TestDeploymentsAgree(t *testing.T) {
	t.Parallel()
	pod := kubernetesPod(t)
	container := at(t, pod, "containers", 0)
	if listen := words(t, container, "args"); !slices.Contains(listen, "0.0.0.0:9464") || at(t, container, "ports", 0, "containerPort") != 9464 {
		t.Error("the pods listen elsewhere than their ports")
	}
	for probe, path := range map[string]string{"livenessProbe": "/healthz", "readinessProbe": "/readyz"} {
		if at(t, container, probe, "httpGet", "path") != path || at(t, container, probe, "httpGet", "port") != at(t, container, "ports", 0, "name") {
			t.Errorf("the %s is another", probe)
		}
	}
	i := readImage(t)
	if uid := strconv.Itoa(at(t, pod, "securityContext", "runAsUser").(int)); !strings.HasPrefix(i.user, uid+":") {
		t.Errorf("the user is %s in pods and %s in the image", uid, i.user)
	}
	if state := at(t, container, "volumeMounts", 0, "mountPath").(string); !slices.Contains(i.env, "TRANSECT_STATE_DIR="+state) {
		t.Errorf("pods write to %s, the image to %q", state, i.env)
	}
	compose := documents(t, "compose.yaml")[0]
	for name := range at(t, compose, "secrets").(map[any]any) {
		if text := deployFile(t, "compose.yaml"); !strings.Contains(text, "/run/secrets/"+name.(string)) {
			t.Errorf("nothing reads the secret %s", name)
		}
	}
}

// systemd understands the units; what it does not, it prints.
func TestUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze here")
	}
	h, dir := newHome(t, 0, flightgen.Options{}), t.TempDir()
	var units []string
	for _, name := range []string{"transect-worker.service", "transect-nightly.service", "transect-nightly.timer"} {
		text := deployFile(t, name)
		if strings.HasSuffix(name, ".service") {
			installed := unitCommand(t, name)[0]
			text = strings.ReplaceAll(text, installed, h.program)
		}
		write(t, dir, name, text)
		units = append(units, filepath.Join(dir, name))
	}
	verify := func(units ...string) string {
		cmd := exec.Command("systemd-analyze", append([]string{"verify", "--man=no"}, units...)...)
		cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error() + "\n" + string(out)
		}
		return string(out)
	}
	if out := verify(units...); out != "" {
		t.Error(out)
	}
	write(t, dir, "wrong.service", strings.Replace(deployFile(t, "transect-worker.service"), "KillMode=", "KillMood=", 1))
	if verify(filepath.Join(dir, "wrong.service")) == "" {
		t.Error("systemd-analyze finds nothing wrong with a wrong unit")
	}
}

// TestImage runs the program as the image does: in a root with nothing else, which cannot be written to, as a
// user without rights.
func TestImage(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("left out by -short: it runs several programs")
	case os.Getuid() != 0 || exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "none", t.TempDir()).Run() != nil:
		t.Skip("this user may not mount")
	}
	t.Parallel()
	c := newContainer(t)
	if out := c.must("version"); !strings.HasPrefix(out, "transect ") {
		t.Error(out)
	}
	if out := c.must("eval", `print(pcall(function() assert(io.open("/here", "w")) end), io.open("/state/there", "w") ~= nil)`); !strings.HasPrefix(out, "false") || !strings.HasSuffix(out, "true\n") {
		t.Errorf("what it may write: %s", out)
	}
	c.env = append(c.env, "TZ=Asia/Tokyo")
	if out := c.must("eval", `print(require("time").format(0, "%H:%M", { zone = "local" }))`); out != "09:00\n" {
		t.Errorf("it is %s in Tokyo", out)
	}
	c.verifies(t)

	// a worker, with the command of the image on another port
	args := slices.Clone(c.args)
	port := slices.Index(args, "--listen") + 1
	args[port] = "127.0.0.1:0"
	worker, log := c.command(append(args, "--name", "here")...)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer worker.Process.Kill() //nolint:errcheck // it ended
	address := ""
	for began := time.Now(); address == ""; time.Sleep(20 * time.Millisecond) {
		if found := regexp.MustCompile(`http://(\S+)/metrics`).FindStringSubmatch(log.String()); found != nil {
			address = found[1]
		} else if time.Since(began) > testTimeout {
			t.Fatalf("the worker does not listen\n%s", log)
		}
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			answer.Body.Close()
		}
		if err == nil && answer.StatusCode == http.StatusOK {
			break
		} else if time.Since(began) > testTimeout {
			t.Fatalf("the worker is not ready: %v\n%s", err, log)
		}
	}
	write(t, c.state, "job.lua", `print("sent by", os.getenv("HOME"))`)
	if err := os.Chmod(filepath.Join(c.state, "job.lua"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := c.must("submit", "--follow", "--on", "here", "/state/job.lua"); !strings.Contains(out, "sent by\t/state\n") {
		t.Errorf("the job printed %q\n%s", out, log)
	}
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "transect_attempts_total{outcome=\"done\"} 1\n") {
		t.Errorf("%v\n%s", err, text)
	}

	// the health check of compose.yaml
	check := words(t, documents(t, "compose.yaml")[0], "services", "worker-1", "healthcheck", "test")[2:]
	for i := range check {
		check[i] = strings.ReplaceAll(check[i], "127.0.0.1:9464", address)
	}
	c.must(check...)
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("told to stop: %v\n%s", err, log)
	}
	if again, _ := c.command(check...); again.Run() == nil {
		t.Error("the health check finds a worker that is gone")
	}
}

// container runs the program in a root like the image.
type container struct {
	image
	t           *testing.T
	root, state string
}

func newContainer(t *testing.T) *container {
	t.Helper()
	h := newHome(t, 0, flightgen.Options{})
	program, err := filepath.EvalSymlinks(h.program)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := elf.Open(program); err != nil {
		t.Fatal(err)
	} else if _, err := f.ImportedLibraries(); err != nil || slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Skip("the program is not static, set CGO_ENABLED=0")
	}
	c := &container{image: readImage(t), t: t, root: filepath.Join(t.TempDir(), "root"), state: filepath.Join(t.TempDir(), "state")}
	for _, dir := range []string{c.root, c.state, filepath.Join(c.root, "proc"), filepath.Join(c.root, "dev")} { // what runtimes mount
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for dir := c.state; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 && os.Chmod(dir, info.Mode()|0o055) != nil {
			t.Fatal(dir, err)
		}
	}
	if err := os.Chown(c.state, c.uid(), c.uid()); err != nil {
		t.Fatal(err)
	}
	for _, pair := range c.copies {
		to := filepath.Join(c.root, pair[1])
		if pair[0] == "/empty" {
			err = os.MkdirAll(to, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			from := pair[0]
			if filepath.Base(from) == "transect" {
				from = program
			}
			err = exec.Command("cp", from, to).Run()
		}
		if err != nil {
			t.Fatal(pair, err)
		}
	}
	return c
}

func (c *container) uid() int {
	text, _, _ := strings.Cut(c.user, ":")
	uid, err := strconv.Atoi(text)
	if err != nil || uid == 0 {
		c.t.Fatalf("the user of the image is %q", c.user)
	}
	return uid
}

// command prepares a run of the program in the container, and returns what it prints on standard error.
func (c *container) command(args ...string) (*exec.Cmd, *stderrBuffer) {
	const inside = `root=$1 state=$2 user=$3; shift 3
		mount --bind "$root" "$root" && mount --bind "$state" "$root/state" && mount -t proc proc "$root/proc" &&
		mount --rbind /dev "$root/dev" && mount -o remount,bind,ro "$root" &&
		exec setpriv --no-new-privs chroot --userspec="$user" --groups= "$root" "$@"`
	cmd := exec.Command("unshare", append([]string{"--mount", "sh", "-c", inside, "sh", c.root, c.state, c.user},
		append(slices.Clone(c.entrypoint), args...)...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.env...)
	log := &stderrBuffer{}
	cmd.Stderr = log
	return cmd, log
}

func (c *container) must(args ...string) string {
	c.t.Helper()
	cmd, log := c.command(args...)
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%q: %v\n%s%s", args, err, out, log)
	}
	return string(out)
}

// verifies checks that the program reads the certificates of the image: with that of an authority among them, it
// trusts a server, without it does not.
func (c *container) verifies(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "trusted") }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
	server.StartTLS()
	defer server.Close()
	get := `print(pcall(function() return require("http").get("` + server.URL + `"):text() end))`
	if out := c.must("eval", get); !strings.HasPrefix(out, "false") || !strings.Contains(out, "certificate") {
		t.Errorf("a server that nobody vouches for: %s", out)
	}
	for _, pair := range c.copies {
		if !strings.HasSuffix(pair[1], ".crt") {
			continue
		}
		f, err := os.OpenFile(filepath.Join(c.root, pair[1]), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: certificate}); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	if out := c.must("eval", get); out != "true\ttrusted\n" {
		t.Errorf("a server that the image vouches for: %s", out)
	}
}
