package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

func TestSurveyTwice(t *testing.T) {
	t.Parallel()
	h := newHome(t, 5, flightgen.Options{})
	first := h.must("run", "--local", h.survey, "flight")
	for _, want := range []string{"5 of 5: FLIGHT_", "out/inventory.csv"} {
		if !strings.Contains(filepath.ToSlash(first), want) {
			t.Errorf("%q is missing in\n%s", want, first)
		}
	}
	summed(t, first, 5, 5)
	before := h.must("eval", "--local", state)
	second := h.must("run", "--local", h.survey, "flight")
	if !strings.Contains(second, "nothing to upload: all 5 images are there") {
		t.Errorf("the second run does not say that nothing is to do:\n%s", second)
	}
	summed(t, second, 5, 0)
	if after := h.must("eval", "--local", state); after != before {
		t.Errorf("the second run changed something:\n%s\nbefore\n%s", after, before)
	}
}

// summed checks the summary at the end of a survey's output.
func summed(t *testing.T, out string, images, uploaded int) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := strings.Fields(lines[len(lines)-1])
	if len(last) != 7 || last[2] != strconv.Itoa(images) || last[3] != strconv.Itoa(uploaded) {
		t.Errorf("the summary does not say %d images, %d uploaded:\n%s", images, uploaded, out)
	}
}

// served is a platform served over TCP for the length of a test.
type served struct {
	URL          string `json:"url"`
	User         string `json:"user"`
	Password     string `json:"password"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

func serve(t testing.TB, h *home, flags ...string) served {
	t.Helper()
	cmd := h.command(append([]string{"platform", "serve", "--listen", "127.0.0.1:0", "--json"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var s served
	if err := json.Unmarshal([]byte(line), &s); err != nil || s.URL == "" {
		t.Fatalf("%v in %q", err, line)
	}
	return s
}

func (h *home) file(name, text string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func TestSurveyOverTCP(t *testing.T) {
	t.Parallel()
	h := newHome(t, 3, flightgen.Options{})
	s := serve(t, h)
	config, err := json.Marshal(map[string]any{"url": s.URL, "user": s.User, "password": s.Password,
		"client_id": s.ClientID, "client_secret": s.ClientSecret, "connection": map[string]any{"max_retries": 3}})
	if err != nil {
		t.Fatal(err)
	}
	password, secret := h.file("password", s.Password+"\n"), h.file("secret", s.ClientSecret+"\n")
	for name, flags := range map[string][]string{
		"password":    {"--url", s.URL, "--user", s.User, "--password-file", password, "--client-id", s.ClientID, "--client-secret-file", secret},
		"client":      {"--url", s.URL, "--client-id", s.ClientID, "--client-secret-file", secret},
		"config file": {"--config", h.file("connection.json", string(config))},
	} {
		args := append(append([]string{"run"}, flags...), h.survey, "--project", name, "--create", "--out", "out "+name, "flight")
		summed(t, h.must(args...), 3, 3)
	}
	_, stderr, code := h.run("run", "--url", s.URL, "--user", s.User, "--password-file", h.file("wrong", "nonsense"), "--client-id", s.ClientID,
		"--client-secret-file", secret, h.survey, "flight")
	if code != 4 || !strings.Contains(stderr, s.User) || strings.Contains(stderr, "nonsense") {
		t.Errorf("wrong password: exit code %d\n%s", code, stderr)
	}
}

// TestPhotosKeepTheirFacts ingests a flight: what the platform then says of the
// photos is what was recorded in the files.
func TestPhotosKeepTheirFacts(t *testing.T) {
	t.Parallel()
	h := newHome(t, 8, flightgen.Options{})
	h.must("run", "--local", h.survey, "flight")
	out := h.must("eval", "--local", `
for d in require("sdk").datasets.search_generator{ filter = { type = { ["$eq"] = "image" } } } do
  print(require("json").encode{ name = d.name, date = d.acquisition_date, at = d.geometry.coordinates, width = d.width, height = d.height, sensor = d.sensor })
end`)
	recorded := map[string]flightgen.Shot{}
	for _, shot := range flightgen.Shots(8, flightgen.Options{}) {
		recorded[shot.Name] = shot
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != len(recorded) {
		t.Fatalf("%d datasets, want %d", len(lines), len(recorded))
	}
	for _, line := range lines {
		var got struct {
			Name          string
			Date          time.Time
			At            []float64
			Width, Height int
			Sensor        struct{ Make, Model string }
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		want, ok := recorded[got.Name]
		if !ok {
			t.Fatalf("%s was not in the flight", got.Name)
		}
		if math.Abs(got.At[0]-want.Longitude) > 1e-6 || math.Abs(got.At[1]-want.Latitude) > 1e-6 || math.Abs(got.At[2]-want.Altitude) > 0.01 {
			t.Errorf("%s: position %v, want %v %v %v", got.Name, got.At, want.Longitude, want.Latitude, want.Altitude)
		}
		if !got.Date.Equal(want.Acquired) || got.Width != 320 || got.Height != 240 || got.Sensor.Make != flightgen.Make || got.Sensor.Model != flightgen.Model {
			t.Errorf("%s: got %+v, want %+v", got.Name, got, want)
		}
	}
}

func TestImagesThatCannotGo(t *testing.T) {
	t.Parallel()
	h := newHome(t, 6, flightgen.Options{WithoutPosition: []int{2}})
	folder := filepath.Join(h.dir, "flight")
	names, err := filepath.Glob(filepath.Join(folder, "*.JPG"))
	if err != nil || len(names) != 6 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"empty.jpg": nil, "truncated.jpg": whole[:len(whole)*2/3], "twin.jpg": whole, "text.jpg": []byte("not a photo"), "notes.txt": []byte("x")} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unreadable := 0
	if runtime.GOOS != "windows" && os.Geteuid() != 0 {
		unreadable = 1
		if err := os.WriteFile(filepath.Join(folder, "locked.jpg"), whole, 0); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, code := h.run("run", "--local", h.survey, "flight")
	if code != 3 {
		t.Errorf("exit code %d, want 3\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"damaged: empty.jpg: ", "damaged: truncated.jpg: ", "has the same content as ", "damaged: text.jpg: ", "left out: FLIGHT_0003.JPG: it has no GPS",
		fmt.Sprintf("5 uploaded, 3 damaged, 1 duplicate%s; ", []string{"", ", 1 failed"}[unreadable])} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is missing in\n%s%s", want, stdout, stderr)
		}
	}
	summed(t, stdout, 5, 5)
}

// TestInterrupt stops a run wherever it is.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("interrupts are sent differently on Windows")
	}
	t.Parallel()
	for name, code := range map[string]string{
		"pcall":  `while true do pcall(function() while true do end end) end`,
		"sleep":  `require("task").sleep(60)`,
		"follow": `local sdk = require("sdk") local p = sdk.analytics.order{ name = "rehearsal", parameters = { duration = 60 } } for l in sdk.products.follow_logs(p) do end`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, 0, flightgen.Options{})
			cmd := h.command("eval", "--local", `io.stdout:write("begun\n") `+code+` print("further")`)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			if _, err := lines.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
			cmd.Process.Signal(os.Interrupt)
			asked := time.Now()
			rest, _ := lines.ReadString('\n')
			cmd.Wait()
			t.Logf("stopped after %s", time.Since(asked).Round(time.Millisecond))
			if code := cmd.ProcessState.ExitCode(); code != 130 || rest != "" {
				t.Errorf("exit code %d, then printed %q", code, rest)
			}
		})
	}
}

// TestSideBySide starts the same survey several times at once: one does the
// work, the others leave with the exit code of a held lock.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	h := newHome(t, 8, flightgen.Options{})
	codes := make(chan int, 3)
	for range cap(codes) {
		go func() {
			cmd := h.command("run", "--local", h.survey, "flight")
			cmd.Run()
			codes <- cmd.ProcessState.ExitCode()
		}()
	}
	done := 0
	for range cap(codes) {
		switch code := <-codes; code {
		case 0:
			done++
		case 6:
		default:
			t.Errorf("exit code %d", code)
		}
	}
	if done == 0 {
		t.Error("no run did the work")
	}
	out := h.must("eval", "--local", `local sdk = require("sdk")
print(sdk.datasets.search{ filter = { type = { ["$eq"] = "image" } }, return_total = true }.total, sdk.products.search{ return_total = true }.total)`)
	if out != "8\t1\n" {
		t.Errorf("images and products: %q, want 8 and 1", out)
	}
}
