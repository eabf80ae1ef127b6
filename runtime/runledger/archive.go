package runledger

import (
	"context"

	"transect/client/ledger"
	"transect/runtime"
)

// Archive keeps the ledgers of runs that other programs start, outside the folder of this machine.
type Archive interface {
	// Has reports whether a run is one of the archive.
	Has(run string) bool
	// Ledger calls f with the ledger of a run, which f may change when edit is set. It fails with fs.ErrNotExist
	// when the run has none.
	Ledger(ctx context.Context, run string, edit bool, f func(*ledger.Ledger) error) error
}

// Read calls f with the ledger of a run, from the archive if it has the run. It fails with fs.ErrNotExist when the
// run has none.
func Read(ctx context.Context, p *runtime.Process, a Archive, run string, f func(*ledger.Ledger) error) error {
	if a.Has(run) {
		return a.Ledger(ctx, run, false, f)
	}
	return use(p, run, ledger.OpenToRead, f)
}

// Edit is Read for decisions about writes of a run that is not in progress.
func Edit(ctx context.Context, p *runtime.Process, a Archive, run string, f func(*ledger.Ledger) error) error {
	if a.Has(run) {
		return a.Ledger(ctx, run, true, f)
	}
	return use(p, run, ledger.OpenToEdit, f)
}

// use opens the ledger of a run on this machine, calls f with it and closes it.
func use(p *runtime.Process, run string, open func(dir, run string) (*ledger.Ledger, error),
	f func(*ledger.Ledger) error) error {
	l, err := open(Folder(p), run)
	if err != nil {
		return err
	}
	defer l.Close()
	return f(l)
}
