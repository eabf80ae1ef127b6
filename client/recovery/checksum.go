package recovery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// checksum returns the MD5 of a file. It does not read a file again that is unchanged since the run read it;
// for a deleted file it returns the earlier checksum.
func (a *attempt) checksum(ctx context.Context, path string) (string, error) {
	place, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	hash, err := a.hash("file", []byte(place))
	if err != nil {
		return "", err
	}
	name := "file " + hash.String()
	kept := string(a.ledger.Kept(name))
	sum, state, _ := strings.Cut(kept, " ")
	now := stateOf(path)
	if sum != "" && now != "" && state == now {
		return sum, nil
	}
	found, err := a.MD5(ctx, a.call, path)
	switch {
	case err != nil && (sum == "" || ctx.Err() != nil):
		return "", err
	case err != nil:
		return sum, nil
	}
	if note := strings.TrimSpace(found + " " + now); note != kept {
		err = a.ledger.Put(name, []byte(note))
	}
	return found, err
}

// settled is how old the last change of a file must be for its time to distinguish the next one.
const settled = 10 * time.Second

// stateOf returns a value that changes with a file, "" for one that has just changed.
func stateOf(path string) string {
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) < settled {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}
