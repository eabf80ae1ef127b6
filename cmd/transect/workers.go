package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/human"
	"transect/runtime/jobs"
)

func (a *app) workers() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "Show the workers and what they do",
		Long: `Show the running workers: start time, queues and jobs. A worker without a heartbeat
for 15 seconds is declared dead; others then run its jobs. A job that waits for
others leaves its slot to them: 6 of 6, 1 waiting.`,
		Example: "  transect workers\n  transect workers --all",
		Args:    exactArgs(0, ""),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, _ []string) error {
		list, err := store.Workers(ctx, all)
		if err != nil {
			return err
		}
		return a.workerListing().print(a, list, asJSON)
	})
	cmd.Flags().BoolVar(&all, "all", false, "also show those that died or stopped in the last day")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per worker")
	return cmd
}

func (a *app) workerListing() listing[*jobs.Worker] {
	now := a.process.Now()
	row := func(w *jobs.Worker) human.Row {
		var running []string
		for _, id := range w.Jobs {
			running = append(running, strconv.FormatInt(id, 10))
		}
		seen := ""
		if w.Silent > 5*time.Second {
			seen = human.Ago(w.Silent)
		}
		busy := fmt.Sprintf("%d of %d", min(len(w.Jobs), w.Slots), w.Slots)
		if more := len(w.Jobs) - w.Slots; more > 0 { // they left their slots to the jobs that they wait for
			busy += fmt.Sprintf(", %d waiting", more)
		}
		return human.Row{w.Name, w.Host, w.PID, w.State(), localTime(w.Started, now), seen, strings.Join(w.Queues, ","),
			busy, strings.Join(running, " ")}
	}
	return listing[*jobs.Worker]{header: human.Row{"worker", "host", "pid", "state", "since", "seen", "queues", "busy",
		"jobs"}, row: row,
		none: "there are no workers; start one with: transect worker"}
}
