package client

import (
	"context"
	"encoding/json"
	"slices"
	"sort"
	"time"

	"golang.org/x/sync/errgroup"

	"transect/client/declare"
	"transect/client/fault"
)

// Polling intervals of a running product: short while lines arrive, longer while idle.
const (
	shortestPoll = 200 * time.Millisecond
	longestPoll  = 2 * time.Second
	// Lines may still arrive after a product has ended; the platform's own
	// client waits this long for them.
	logGrace = 10 * time.Second
)

// ended are the statuses a product does not leave.
var ended = map[string]bool{"available": true, "failed": true, "rejected": true, "cancelled": true, "canceled": true}

// followers is how many products are polled for their lines at a time.
const followers = 4

func (c *Client) followLogs(_ context.Context, in FollowLogs) (*Cursor[LogLine], error) {
	f := &follower{client: c, extra: in.Extra, wait: shortestPoll}
	for _, id := range in.Product {
		after, err := in.cursorOf(id)
		if err != nil {
			return nil, err
		}
		f.logs = append(f.logs, after.follow(id))
	}
	return &Cursor[LogLine]{Stream: declare.NewStream(nil, f.fetch, nil)}, nil
}

// cursorOf finds where to go on with a product.
func (in FollowLogs) cursorOf(product string) (logCursor, error) {
	switch after := in.After.(type) {
	case nil:
		return logCursor{}, nil
	case string:
		if len(in.Product) > 1 {
			return logCursor{}, fault.Of(&fault.ParameterError{},
				"argument after: with several products it must be a table, product to cursor")
		}
		return parseCursor(after)
	case map[string]any:
		text, _ := after[product].(string)
		return parseCursor(text)
	}
	return logCursor{}, fault.Of(&fault.ParameterError{}, "argument after: must be the cursor of a line")
}

// follower yields the lines of products as they come, every line once, those
// that came together in order of time.
type follower struct {
	client  *Client
	extra   Extra
	logs    []*followedLog
	wait    time.Duration
	started bool
}

// followedLog is one product's part of the stream.
type followedLog struct {
	product string
	resumed int64        // all lines up to this time were yielded before
	cursor  logCursor    // behind the last line yielded
	seen    map[mark]int // how often each line has come
	done    bool
	endedAt time.Time
}

// fetch pauses, except before the first time, and requests new lines.
func (f *follower) fetch(ctx context.Context) (lines [][]byte, more bool, err error) {
	if f.started {
		err = f.client.Pause(ctx, f.wait)
	}
	if f.started = true; err == nil {
		lines, err = f.poll(ctx)
	}
	return lines, slices.ContainsFunc(f.logs, func(log *followedLog) bool { return !log.done }), err
}

// snapshot is the state of one product and the lines of its log.
type snapshot struct {
	log    *followedLog
	lines  []LogLine
	ended  bool
	answer logAnswer
}

// poll requests the log of every product that still runs. A round counts only
// once all have answered, so that an error leaves nothing half done.
func (f *follower) poll(ctx context.Context) (texts [][]byte, err error) {
	var snapshots []*snapshot
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(followers)
	for _, log := range f.logs {
		if log.done {
			continue
		}
		l := &snapshot{log: log}
		snapshots = append(snapshots, l)
		group.Go(func() error { return f.snapshot(within, l) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var fresh []LogLine
	for _, l := range snapshots {
		lines := l.log.take(l.lines)
		fresh = append(fresh, lines...)
		l.log.updateDone(l, len(lines))
	}
	sort.SliceStable(fresh, func(i, j int) bool { return earlier(fresh[i].Timestamp, fresh[j].Timestamp) })
	for _, line := range fresh {
		text, err := json.Marshal(line)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	f.wait = min(f.wait*3/2, longestPoll)
	if len(fresh) > 0 {
		f.wait = shortestPoll
	}
	return texts, nil
}

// snapshot requests the status first and the lines after: lines written before the
// end are then in the answer that follows the end.
func (f *follower) snapshot(ctx context.Context, l *snapshot) error {
	product, err := f.client.Products.Describe(ctx, Ref{ID: ID(l.log.product)})
	if err != nil {
		return err
	}
	l.ended = ended[product.Status]
	l.lines, l.answer, err = f.client.fetchLogs(ctx, l.log.product, f.extra)
	return err
}

// updateDone records whether more lines can follow.
func (log *followedLog) updateDone(l *snapshot, fresh int) {
	if fresh > 0 {
		log.endedAt = time.Time{}
	}
	if l.ended && log.endedAt.IsZero() {
		log.endedAt = time.Now()
	}
	log.done = l.answer.Complete || l.ended && time.Since(log.endedAt) > logGrace
}

// take keeps the lines not yielded before. The platform answers all lines each
// time, so they are distinguished by their content and how often it occurred:
// equal timestamps and late lines are neither lost nor repeated.
func (log *followedLog) take(lines []LogLine) []LogLine {
	var fresh []LogLine
	now := map[mark]int{}
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			continue // it was decoded from JSON a moment ago
		}
		m := markOf(line, text)
		if now[m]++; now[m] <= log.seen[m] {
			continue
		}
		log.seen[m] = now[m]
		if log.resumed == 0 || m.micros > log.resumed {
			log.cursor = log.cursor.with(m)
			line.Product, line.Cursor = log.product, log.cursor.String()
			fresh = append(fresh, line)
		}
	}
	return fresh
}
