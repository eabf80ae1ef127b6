package runtime

import (
	"math"
	"strconv"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/transfer"
)

// Transfers are the settings of how bytes travel, as they were written.
type Transfers struct {
	Connections string // a number; found by measuring when empty
	Bandwidth   string // a limit or a table of limits
	Rate        string // requests a second
	Stall       string // longest time without a moving byte
}

// Options lists the settings of t for flags, environment and help.
func (t *Transfers) Options() []Option {
	return []Option{
		{Flag: "connections", Env: "TRANSECT_CONNECTIONS", Value: "N", Doc: "move files over N connections, instead of as many as turn out to be best", Text: &t.Connections},
		{Flag: "bwlimit", Env: "TRANSECT_BWLIMIT", Value: "LIMIT", Doc: "bytes a second, up and down together: 512k, 10M (k, M, G are 1024, 1024², 1024³), off, or by local time: \"08:00,512k 19:00,10M 23:00,off\"", Text: &t.Bandwidth},
		{Flag: "rate", Env: "TRANSECT_RATE", Value: "N", Doc: "at most N requests a second, such as 5 or 0.5", Text: &t.Rate},
		{Flag: "stall-timeout", Env: "TRANSECT_STALL_TIMEOUT", Value: "DURATION", Doc: "begin a transfer's connection anew when no byte moved for so long (default 60s)", Text: &t.Stall},
	}
}

// tuning is how bytes travel.
type tuning struct {
	budget    *transfer.Budget
	bandwidth *transfer.Bandwidth
	rate      float64
	stall     time.Duration
}

// mostWorkers is the variable by which scripts of the platform's Python client
// bound how many parts travel at a time.
const mostWorkers = "MAX_REQUESTS_WORKERS"

// tuned reads the settings of the command line and, where it says nothing, of
// the environment.
func tuned(w *World, flags Transfers) (tuning, error) {
	t := tuning{budget: transfer.NewTunedBudget(transfer.MostConnections)}
	if err := t.bounded(w); err != nil {
		return t, err
	}
	for i, read := range []func(string) error{t.connections, t.limit, t.requests, t.patience} {
		o := flags.Options()[i]
		value, called := *o.Text, asFlag(o)
		if value == "" {
			value, called = w.lookup(o.Env), o.Env
		}
		if value == "" {
			continue
		}
		if err := read(value); err != nil {
			return t, refusedSetting(called, err)
		}
	}
	return t, nil
}

// refusedSetting names the flag or variable around what is wrong with it.
func refusedSetting(called string, err error) error {
	facts := fault.Find(err).Facts()
	if strings.HasPrefix(called, "--") {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s: %s", called, facts.Message), "%s", facts.Hint)
	}
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: %s", called, facts.Message), "%s", facts.Hint)
}

// count reads a number of connections.
func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1024 {
		return 0, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is no number of connections", text),
			"give a whole number from 1 to 1024, or leave it out: then as many are used as move most")
	}
	return n, nil
}

// bounded honours the bound that other clients of the platform know.
func (t *tuning) bounded(w *World) error {
	value := w.lookup(mostWorkers)
	if value == "" {
		return nil
	}
	n, err := count(value)
	if err != nil {
		return refusedSetting(mostWorkers, err)
	}
	t.budget = transfer.NewTunedBudget(n)
	return nil
}

func (t *tuning) connections(text string) error {
	n, err := count(text)
	if err == nil {
		t.budget = transfer.NewBudget(n)
	}
	return err
}

func (t *tuning) limit(text string) (err error) {
	t.bandwidth, err = transfer.ParseBandwidth(text)
	return err
}

func (t *tuning) requests(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%q is no number of requests a second", text),
			"give a number above 0, such as 5 or 0.5, or leave it out for no limit")
	}
	t.rate = n
	return nil
}

func (t *tuning) patience(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%q is no time to wait for a byte", text),
			"give at least a second, with its unit, such as 30s or 5m")
	}
	t.stall = d
	return nil
}
