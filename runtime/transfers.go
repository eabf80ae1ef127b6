package runtime

import (
	"math"
	"strconv"
	"time"

	"transect/client/duration"
	"transect/client/fault"
	"transect/client/transfer"
)

// Transfers are the settings of file transfers. Zero values are the defaults.
type Transfers struct {
	Connections int // 0 for the number that measures best
	Bandwidth   *transfer.Bandwidth
	Rate        float64        // requests per second
	Stall       time.Duration  // longest time without progress
	MaxOutage   *time.Duration // how long a run waits for the network or the platform; nil for the default

	budget *transfer.Budget // of all connections of the run
}

// maxWorkers is the variable of the platform's Python client for the number of
// parts in flight.
const maxWorkers = "MAX_REQUESTS_WORKERS"

// complete adds the settings of transfers from the environment, and the defaults.
func (t *Transfers) complete(p *Process) error {
	switch value := p.Getenv(maxWorkers); {
	case t.Connections > 0:
		t.budget = transfer.NewBudget(t.Connections)
	case value != "":
		limit := &Transfers{}
		if err := limit.ParseConnections(value); err != nil {
			return fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: %w", maxWorkers, err), "%s", fault.Find(err).Facts().Hint)
		}
		t.budget = transfer.NewTunedBudget(limit.Connections)
	default:
		t.budget = transfer.NewTunedBudget(transfer.MostConnections)
	}
	return nil
}

// ParseConnections sets the number of connections.
func (t *Transfers) ParseConnections(text string) (err error) {
	if t.Connections, err = strconv.Atoi(text); err != nil || t.Connections < 1 || t.Connections > 1024 {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a number of connections", text),
			"give a whole number from 1 to 1024, or leave it out to use as many as transfer most")
	}
	return nil
}

// ParseBandwidth sets a limit, or a timetable of limits.
func (t *Transfers) ParseBandwidth(text string) (err error) {
	t.Bandwidth, err = transfer.ParseBandwidth(text)
	return err
}

// ParseRate sets the number of requests per second.
func (t *Transfers) ParseRate(text string) (err error) {
	if t.Rate, err = strconv.ParseFloat(text, 64); err != nil || !(t.Rate > 0) || math.IsInf(t.Rate, 0) {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a number of requests per second", text),
			"give a number above 0, such as 5 or 0.5, or leave it out for no limit")
	}
	return nil
}

// ParseStall sets the longest time without progress.
func (t *Transfers) ParseStall(text string) (err error) {
	if t.Stall, err = duration.Parse(text); err != nil || t.Stall < time.Second {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a stall timeout", text),
			"give at least a second, with its unit, such as 30s or 5m")
	}
	return nil
}

// ParseMaxOutage sets how long a run waits for the network or the platform.
func (t *Transfers) ParseMaxOutage(text string) error {
	d, err := duration.Parse(text)
	if err != nil {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a duration", text),
			"write it with its unit, such as 10m or 8h; 0s does not wait")
	}
	t.MaxOutage = &d
	return nil
}
