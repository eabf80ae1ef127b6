package jobs

import (
	"context"
	"database/sql"
	"errors"

	"transect/client/fault"
	"transect/runtime/jobs/bundle"
)

// PutBundle stores a bundle, once, and returns its key for Spec.Bundle: the hash of the content. PostgreSQL
// checks it, so that no user can store another script under it.
func (s *Store) PutBundle(ctx context.Context, b *bundle.Bundle) (string, error) {
	if bundle.Hash(b.Content) != b.Hash {
		return "", fault.Of(&fault.ValueError{}, "the packed script does not match its hash %.12s", b.Hash)
	}
	_, err := s.db.ExecContext(ctx,
		"insert into tr_bundle (hash, content, size) values ($1, $2, $3) on conflict (hash) do update set at = "+s.Now,
		b.Hash, b.Content, len(b.Content))
	return b.Hash, s.Explain(err)
}

// Bundle returns the content of a bundle, for bundle.Unpack.
func (s *Store) Bundle(ctx context.Context, hash string) (content []byte, err error) {
	err = s.db.QueryRowContext(ctx, "select content from tr_bundle where hash = $1", hash).Scan(&content)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.Hinted(fault.Of(&fault.KeyError{}, "the script %.12s is no longer stored", hash),
			"submit the job again")
	}
	return content, s.Explain(err)
}
