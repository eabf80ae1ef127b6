package recovery

import (
	"context"
	"fmt"
	"time"

	"transect/client/declare"
	"transect/client/ledger"
)

// rehearse is a write of a dry run: what the ledger holds is taken from it, all
// else goes on to be shown.
func (a *attempt) rehearse(ctx context.Context, w ledger.Write) (declare.Value, error) {
	row, err := a.ledg.Peek(w)
	op := a.call.Spec.FullName()
	switch {
	case err != nil:
		return declare.Value{}, err
	case row == nil && a.call.Spec.Composed:
		return a.next(Outside(ctx), a.call) // its steps are new, too
	case row == nil:
		return a.next(ctx, a.call)
	case a.call.Spec.Composed && row.Result == nil:
		a.row = row
		return a.next(a.within(ctx), a.call)
	case row.Result == nil:
		how := "would be looked for first"
		switch a.call.Spec.Lost.Rule {
		case declare.Safe, declare.Gone:
			how = "would be sent again"
		case declare.Ask:
			how = "somebody would have to decide"
		}
		a.Would(fmt.Sprintf("%s: write %d was sent at %s and its answer lost: %s", op, row.Seq, row.Since.Local().Format(time.DateTime), how))
		return a.next(ctx, a.call)
	}
	a.row = row
	a.Tally.Taken.Add(1)
	a.Would(fmt.Sprintf("would take %s from the ledger: write %d", op, row.Seq))
	return a.replay(ctx)
}
