package journal

import (
	"database/sql"
	"errors"
	"time"
)

// pruning happens at the end of a run, this long after the last time.
const pruneEvery = 24 * time.Hour

// prune forgets old files, when that is due.
func (j *Journal) prune(db *sql.DB) {
	now := j.now()
	var pruned int64
	err := db.QueryRow("SELECT pruned FROM care").Scan(&pruned)
	if since := now.Sub(time.Unix(pruned, 0)); err == nil && since >= 0 && since < pruneEvery {
		return
	}
	if err == nil {
		err = transact(db, []change{{apply: func(tx *writing) error { return j.forgetOld(tx, now) }}})
	}
	if err == nil {
		_, err = db.Exec("PRAGMA incremental_vacuum(4096)")
	}
	if err != nil {
		j.trouble(db, err)
	}
}

func (j *Journal) forgetOld(tx *writing, now time.Time) error {
	// Times of a clock that was ahead count as now.
	if _, err := tx.Exec("UPDATE files SET seen = ? WHERE seen > ?", now.Unix(), now.Add(24*time.Hour).Unix()); err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM files WHERE seen < CASE WHEN state & 1 THEN ? ELSE ? END",
		now.Add(-j.limits.Finished).Unix(), now.Add(-j.limits.Unfinished).Unix()); err != nil {
		return err
	}
	// The oldest go where there are too many.
	var oldest int64
	err := tx.QueryRow("SELECT seen FROM files WHERE (SELECT count(*) FROM files) > ? ORDER BY seen DESC LIMIT 1 OFFSET ?",
		j.limits.Files, j.limits.Files).Scan(&oldest)
	if err == nil {
		_, err = tx.Exec("DELETE FROM files WHERE seen <= ?", oldest)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for _, table := range []string{"uploads", "sums"} {
		if _, err := tx.Exec("DELETE FROM " + table + " WHERE place NOT IN (SELECT place FROM files)"); err != nil {
			return err
		}
	}
	_, err = tx.Exec("UPDATE care SET pruned = ?", now.Unix())
	return err
}
