package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// Taken is a job that a worker has taken to run it.
type Taken struct {
	ID      int64
	Created time.Time
	Spec    Spec
	Err     error // its description cannot be read
}

// maxAttemptedBy limits the workers that River remembers for a job.
const maxAttemptedBy = 100

// TakeTx gives a worker the first jobs of a queue that are due, at most some. They are running then.
func (s *Store) TakeTx(ctx context.Context, tx *Tx, worker, queue string, most int) (list []Taken, err error) {
	rows, err := s.engine.take(ctx, tx, &riverdriver.JobGetAvailableParams{ClientID: worker, Kind: []string{Spec{}.Kind()},
		MaxAttemptedBy: maxAttemptedBy, MaxToLock: most, Queue: queue})
	if err != nil {
		return nil, err
	}
	for _, row := range rows.Jobs {
		t := Taken{ID: row.ID, Created: row.CreatedAt, Err: rows.DecodeErrors[row.ID]}
		if t.Err == nil {
			t.Err = json.Unmarshal(row.EncodedArgs, &t.Spec)
		}
		list = append(list, t)
	}
	return list, nil
}
