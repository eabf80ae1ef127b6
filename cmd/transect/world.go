package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"transect/runtime"
)

// processWorld is the process as the rest of the program sees it: the only
// place that reads the globals of package os.
func processWorld() *runtime.World {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return &runtime.World{
		Args:  os.Args[1:],
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env:        os.LookupEnv,
		Now:        time.Now,
		IsTerminal: isTerminal,
		Signals:    signals,
		Exit:       os.Exit,
	}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
