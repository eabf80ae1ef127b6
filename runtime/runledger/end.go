package runledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
)

// Finish checks writes that were sent again for duplicates, unless the run may be resumed.
func (r *Part) Finish(ctx context.Context, err error) error {
	if ctx.Err() == nil && !fault.Transient(err) {
		r.findDuplicates(ctx)
	}
	return err
}

// findDuplicates warns of writes that were done twice: they were sent again, and their first request arrived
// after all.
func (r *Part) findDuplicates(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, duplicatesTimeout)
	defer stop()
	duplicates, err := r.stats.Duplicates(ctx)
	if err != nil {
		r.log.Warn(fmt.Sprintf("cannot check whether writes that were sent again were done twice: %v", err))
	}
	for _, d := range duplicates {
		there := strings.Join(d.Others, " and ")
		if len(d.IDs) > 0 {
			there = fmt.Sprintf("%s, which the run uses, and %s", strings.Join(d.IDs, ", "),
				strings.Join(d.Others, ", "))
		}
		r.log.Warn(fmt.Sprintf("%s: write %d was done twice: it was sent again, and the request that was taken for lost "+
			"has arrived after all. There are %s: delete the surplus",
			d.Operation, d.Write, there))
	}
}

// duplicatesTimeout limits the check at the end of a run.
const duplicatesTimeout = 30 * time.Second

// End reports the outcomes of the writes and closes the ledger.
func (r *Part) End(err error) error {
	if failed := r.end(err == nil); err == nil {
		return failed
	}
	return err
}

// end records the end of a start that was not cut short.
func (r *Part) end(ok bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.opened
	if l == nil {
		return nil
	}
	if r.dry {
		return l.Close()
	}
	unused, open := l.Unclaimed()
	r.counts = r.stats.Counts()
	r.counts.Open = int64(open)
	if ok {
		r.counts.Unused = int64(unused)
	}
	r.noted = r.counts.Sent+r.counts.Taken+r.counts.Adopted+r.counts.Open > 0
	r.summarize(l)
	var err error
	if ok {
		err = l.End()
	}
	_ = os.Remove(r.folder) // when it is empty
	return errors.Join(err, l.Close())
}

// summarize logs the writes of a start that differs from an undisturbed one.
func (r *Part) summarize(l *ledger.Ledger) {
	c := r.counts
	if r.plan {
		c.Unused = 0
	}
	var unknown []ledger.Intent
	if c.Open > 0 {
		unknown = unknownOutcomes(l)
	}
	if c.Open = int64(len(unknown)); c.Taken+c.Adopted+c.SentAgain+c.Open+c.Doubled+c.Unused == 0 {
		return
	}
	text := fmt.Sprintf("writes: %d sent, %d taken from the ledger", c.Sent, c.Taken)
	for _, part := range []struct {
		n    int64
		text string
	}{{c.Adopted, "found on the platform"}, {c.SentAgain, "sent again"}, {c.Doubled, "done twice"},
		{c.Refused, "refused"}, {c.Open, "open"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	r.log.Info(text)
	if c.Unused > 0 {
		r.log.Info(fmt.Sprintf("%d recorded writes were not requested by this start", c.Unused))
	}
	for _, i := range unknown[:min(len(unknown), 5)] {
		r.log.Warn(fmt.Sprintf("write %d, %s, sent %s: its outcome is unknown. The next start of the run finds out; to "+
			"decide by hand: transect runs settle %s %d --adopt ID | --send",
			i.Seq, i.Op, i.Since.Local().Format(time.TimeOnly), l.Run(), i.Seq))
	}
}

// unknownOutcomes lists the writes that may or may not have been carried out, and must
// not be done twice; an upload that broke off, for one, is simply done again.
func unknownOutcomes(l *ledger.Ledger) (list []ledger.Intent) {
	managers := client.Declarations()
	_ = l.All(func(i ledger.Intent, result *ledger.Result) error { // what cannot be read is not listed
		manager, name, _ := strings.Cut(i.Op, ".")
		at := slices.IndexFunc(managers, func(m *declare.Manager) bool { return m.Name == manager })
		if result != nil || i.Parent != 0 ||
			at >= 0 && managers[at].Op(name) != nil && managers[at].Op(name).Effect.Repeatable() {
			return nil
		}
		list = append(list, i)
		return nil
	})
	return list
}
