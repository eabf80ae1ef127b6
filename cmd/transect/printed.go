package main

import "io"

// printed is standard output as commands write to it: much of what writes
// tables and lines there takes no notice of errors, so the first one is kept.
type printed struct {
	to  io.Writer
	err error
}

func (p *printed) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if err != nil && p.err == nil {
		p.err = err
	}
	return n, err
}

// stdout is where commands print.
func (a *app) stdout() io.Writer {
	if a.out == nil {
		a.out = &printed{to: a.world.Stdout}
	}
	return a.out
}

// unprinted is the error of what a command could not print.
func (a *app) unprinted() error {
	if a.out == nil {
		return nil
	}
	return a.out.err
}
