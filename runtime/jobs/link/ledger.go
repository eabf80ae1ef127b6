package link

import "context"

// Records is the ledger of the job's run, see client/ledger.Remote.
type Records interface {
	Read(from int64) ([]byte, error)
	Append(at int64, b []byte) error
}

type records struct {
	*Child
	ctx context.Context
}

// piece is a part of a ledger and its offset.
type piece struct {
	At    int64  `json:"at"`
	Bytes []byte `json:"bytes,omitempty"`
}

const (
	callRead   = "ledger.read"
	callAppend = "ledger.append"
)

// Ledger returns the ledger of the job's run, which the worker keeps in the database.
func (c *Child) Ledger(ctx context.Context) Records { return records{c, ctx} }

func (r records) Read(from int64) (b []byte, err error) {
	err = r.Call(r.ctx, callRead, piece{At: from}, &b)
	return b, err
}

func (r records) Append(at int64, b []byte) error {
	return r.Call(r.ctx, callAppend, piece{at, b}, nil)
}

// ServeLedger adds handlers for a ledger.
func ServeLedger(h Handlers, r Records) {
	h[callRead] = Handler(func(_ context.Context, p piece) ([]byte, error) { return r.Read(p.At) })
	h[callAppend] = Handler(func(_ context.Context, p piece) (any, error) { return nil, r.Append(p.At, p.Bytes) })
}
