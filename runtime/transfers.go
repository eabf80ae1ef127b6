package runtime

import (
	"math"
	"strconv"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/transfer"
)

// Transfers are the settings of file transfers, as written.
type Transfers struct {
	Connections string // a number; measured when empty
	Bandwidth   string // a limit or a timetable of limits
	Rate        string // requests per second
	Stall       string // longest time without progress
}

// Options lists the settings of t for flags, environment and help.
func (t *Transfers) Options() []Option {
	return []Option{
		{Flag: "connections", Env: "TRANSECT_CONNECTIONS", Value: "N", Doc: "transfer files over N connections instead of the number that measures best", Text: &t.Connections},
		{Flag: "bwlimit", Env: "TRANSECT_BWLIMIT", Value: "LIMIT", Doc: "bytes per second, uploads and downloads together: 512k, 10M (k, M, G are 1024, 1024², 1024³), off, or by local time: \"08:00,512k 19:00,10M 23:00,off\"", Text: &t.Bandwidth},
		{Flag: "rate", Env: "TRANSECT_RATE", Value: "N", Doc: "at most N requests per second, such as 5 or 0.5", Text: &t.Rate},
		{Flag: "stall-timeout", Env: "TRANSECT_STALL_TIMEOUT", Value: "DURATION", Doc: "reconnect a transfer that made no progress for this long (default 60s)", Text: &t.Stall},
	}
}

// tuning is how files are transferred.
type tuning struct {
	budget    *transfer.Budget
	bandwidth *transfer.Bandwidth
	rate      float64
	stall     time.Duration
}

// maxWorkers is the variable of the platform's Python client for the number of
// parts in flight.
const maxWorkers = "MAX_REQUESTS_WORKERS"

// resolveTransfers reads the settings of the command line and the environment.
func resolveTransfers(p *Process, flags Transfers) (tuning, error) {
	t := tuning{budget: transfer.NewTunedBudget(transfer.MostConnections)}
	if value := p.Getenv(maxWorkers); value != "" {
		n, err := parseConnections(value)
		if err != nil {
			return t, named(maxWorkers, err)
		}
		t.budget = transfer.NewTunedBudget(n)
	}
	for i, parse := range []func(string) error{
		func(text string) error {
			n, err := parseConnections(text)
			if err == nil {
				t.budget = transfer.NewBudget(n)
			}
			return err
		},
		func(text string) (err error) { t.bandwidth, err = transfer.ParseBandwidth(text); return err },
		func(text string) (err error) { t.rate, err = parseRate(text); return err },
		func(text string) (err error) { t.stall, err = parseStall(text); return err },
	} {
		o := flags.Options()[i]
		value, name := *o.Text, asFlag(o)
		if value == "" {
			value, name = p.Getenv(o.Env), o.Env
		}
		if value == "" {
			continue
		}
		if err := parse(value); err != nil {
			return t, named(name, err)
		}
	}
	return t, nil
}

// named adds the flag or variable to an error about its value.
func named(name string, err error) error {
	facts := fault.Find(err).Facts()
	if strings.HasPrefix(name, "--") {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s: %s", name, facts.Message), "%s", facts.Hint)
	}
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: %s", name, facts.Message), "%s", facts.Hint)
}

func parseConnections(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1024 {
		return 0, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a number of connections", text),
			"give a whole number from 1 to 1024, or leave it out to use as many as transfer most")
	}
	return n, nil
}

func parseRate(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		return 0, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a number of requests per second", text),
			"give a number above 0, such as 5 or 0.5, or leave it out for no limit")
	}
	return n, nil
}

func parseStall(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return 0, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a stall timeout", text),
			"give at least a second, with its unit, such as 30s or 5m")
	}
	return d, nil
}
