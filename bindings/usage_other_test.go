//go:build !linux

package bindings_test

import (
	"os"
	"time"
)

// processorTime is not known here.
func processorTime() time.Duration { return 0 }

// peakMemory is not known here.
func peakMemory(*os.ProcessState) int64 { return 0 }
