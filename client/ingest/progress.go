package ingest

import "sync/atomic"

// Progress is what a run counts while it goes; any goroutine may read it.
type Progress struct {
	Files, Bytes         atomic.Int64 // found so far; all of them once Complete
	DoneFiles, DoneBytes atomic.Int64 // sent, or there already
	Failed               atomic.Int64
	Moved                atomic.Int64 // bytes sent by this run
	Complete             atomic.Bool  // all files were found
}
