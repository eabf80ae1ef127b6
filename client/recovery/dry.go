package recovery

import (
	"context"
	"fmt"
	"time"

	"transect/client/declare"
	"transect/client/ledger"
)

// rehearse handles a write of a dry run: it takes results from the ledger, and passes everything else on to
// be shown.
func (a *attempt) rehearse(ctx context.Context, w ledger.Write) (declare.Value, error) {
	row, err := a.ledger.Peek(w)
	op := a.spec.FullName()
	switch {
	case err != nil:
		return declare.Value{}, err
	case row == nil && a.spec.Composed:
		return a.next(Outside(ctx), a.call) // its steps are new, too
	case row == nil:
		return a.next(ctx, a.call)
	case a.spec.Composed && row.Result == nil:
		a.row = row
		return a.next(a.within(ctx), a.call)
	case row.Result == nil:
		how := "it would be searched for first"
		switch a.spec.Unknown.Rule {
		case declare.Repeat, declare.Gone:
			how = "it would be sent again"
		case declare.Ask:
			how = "you would have to decide"
		}
		a.Would(fmt.Sprintf("%s: write %d was sent at %s and its answer was lost: %s",
			op, row.Seq, row.Since.Local().Format(time.DateTime), how))
		return a.next(ctx, a.call)
	}
	a.row = row
	a.Stats.Taken.Add(1)
	a.Would(fmt.Sprintf("would take %s from the ledger: write %d", op, row.Seq))
	return a.replay(ctx)
}
