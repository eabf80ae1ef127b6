package ingest

// The bytes of a file are reserved before its dataset is created: a budget that
// is used up leaves no empty dataset behind.

// reserve returns the items that the budget allows. After the first that it does
// not the run sends no further one, and ends with that error when those before
// it are done.
func (r *run) reserve(items []*item) []*item {
	if r.options.DryRun {
		return items
	}
	for i, it := range items {
		if it.reserved != nil {
			continue
		}
		err := r.overBudget()
		for _, m := range it.Members {
			var sent func(int64)
			if err == nil {
				if sent, err = r.client.Reserve(m.Size); err == nil {
					it.reserved = append(it.reserved, sent)
				}
			}
		}
		if err != nil {
			it.release()
			r.mu.Lock()
			r.refused = err
			r.mu.Unlock()
			return items[:i]
		}
	}
	return items
}

// release gives back what was reserved for an item and not sent.
func (it *item) release() {
	for i, sent := range it.reserved {
		sent(it.Members[i].Size)
	}
	it.reserved = nil
}

// overBudget is the error of the first file that the budget does not allow.
func (r *run) overBudget() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}
