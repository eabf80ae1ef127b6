package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
	"transect/runtime/jobs/worker"
	"transect/runtime/unattended/history"
)

// The test binary is a worker, or the process of a job, when told so.
const (
	asVariable    = "TRANSECT_TEST_AS"
	urlVariable   = "TRANSECT_TEST_JOBS"
	stateVariable = "TRANSECT_TEST_STATE"
	nameVariable  = "TRANSECT_TEST_NAME"
	slowVariable  = "TRANSECT_TEST_SLOW" // the times of users
)

func TestMain(m *testing.M) {
	switch os.Getenv(asVariable) {
	case "worker":
		os.Exit(asWorker())
	case "job":
		os.Exit(asJob())
	}
	os.Exit(m.Run())
}

// quick are the times of tests: the same proportions, seven times faster.
var quick = worker.Times{Beat: 400 * time.Millisecond, Lease: 2 * time.Second, Hold: 1600 * time.Millisecond, Poll: 30 * time.Millisecond}

func times() worker.Times {
	if os.Getenv(slowVariable) != "" {
		return worker.DefaultTimes
	}
	return quick
}

// options are those of a worker that runs jobs in this binary.
func options(dir, name string, log slog.Handler) worker.Options {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return worker.Options{
		Name: name, Queues: []string{jobs.DefaultQueue}, Slots: 4, Grace: 10 * time.Second, Times: times(), Log: slog.New(log),
		Program: []string{program}, Folder: filepath.Join(dir, "jobs"), Env: append(os.Environ(), asVariable+"=job"),
		Backoff: func(int) time.Duration { return 50 * time.Millisecond },
	}
}

func asWorker() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	dir := os.Getenv(stateVariable)
	store, err := jobs.Open(ctx, jobs.Config{URL: os.Getenv(urlVariable), StateDir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	name, queues, _ := strings.Cut(os.Getenv(nameVariable), ",")
	o := options(dir, name, slog.NewTextHandler(os.Stderr, nil))
	o.Slots = 12
	o.Queues = append(o.Queues, strings.FieldsFunc(queues, func(r rune) bool { return r == ',' })...)
	if err := worker.Run(ctx, store, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// asJob does what the script of a job says: NAME ARGS….
func asJob() int {
	c, err := link.Inherited()
	if err != nil || c == nil {
		fmt.Fprintln(os.Stderr, "no link:", err)
		return 1
	}
	go c.Guard()
	at := slices.Index(os.Args, "--")
	script, args := os.Args[at+1], os.Args[at+2:]
	switch script {
	case "exit":
		code, _ := strconv.Atoi(args[0])
		fmt.Fprintln(os.Stderr, "the end with", args[0])
		return code
	case "effects":
		return effects(c, args[0])
	case "talk": // until a file is there
		for i := 0; ; i++ {
			fmt.Println(i, strings.Repeat("x", 100))
			if _, err := os.Stat(args[0]); err == nil {
				return 0
			}
			time.Sleep(time.Millisecond)
		}
	case "print":
		n, _ := strconv.Atoi(args[0])
		for i := range n {
			fmt.Println("line", i, strings.Repeat("x", 50))
		}
		fmt.Println("password=sesame-open")
	case "noise": // fails with a message that is no text, or a long one
		text := "\x1b[31mno \xff\x00 text"
		if args[0] == "long" {
			text = "!" + strings.Repeat("é", 3000)
		}
		fmt.Fprintln(os.Stderr, text)
		return 1
	case "taken":
		fmt.Println("taken over:", c.TakenOver)
	case "sleep":
		time.Sleep(time.Hour)
	case "folder":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "offspring": // a program that would outlive its script
		fmt.Println(start(exec.Command("sleep", "3600")))
	case "crash":
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		time.Sleep(time.Hour)
	case "told": // ends when it is told to, as transect does, or when the file is there
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		fmt.Println(os.Getpid())
		for {
			select {
			case <-told:
				return 143
			case <-time.After(10 * time.Millisecond):
			}
			if _, err := os.Stat(args[0]); err == nil {
				return 0
			}
		}
	case "transfer": // reports its progress, then its end
		r := &jobs.Recorder{Linked: jobs.Linked{Link: c}, Record: jobs.Record{Summary: &history.Summary{}}}
		if r.WriteProgress([]byte(`{"samples":[[1,100,50],[2,400,50]]}`)) != nil || r.End(&history.Summary{End: &history.End{Sent: 900, Received: 50}}) != nil {
			return 1
		}
	case "once": // fails temporarily at its first attempt
		if f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
			return 5
		}
	}
	return 0
}

func start(cmd *exec.Cmd) int {
	if err := cmd.Start(); err != nil {
		return 0
	}
	return cmd.Process.Pid
}

// effects has an effect every few milliseconds, each behind the gate, until the file
// finish is there. An effect is a line of a file: job, process, time.
func effects(c *link.Child, dir string) int {
	f, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	for {
		if c.Gate(context.Background()) != nil {
			return 5
		}
		if _, err := fmt.Fprintln(f, c.Job, os.Getpid(), int64(link.Now())); err != nil {
			return 1
		}
		if _, err := os.Stat(filepath.Join(dir, "finish")); err == nil {
			return 0
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func timesOf(env []string) worker.Times {
	if len(env) > 0 {
		return worker.DefaultTimes
	}
	return quick
}
