//go:build !linux

package main

import "os"

// peakMemory has no portable unit on this system.
func peakMemory(*os.ProcessState) int64 { return 0 }
