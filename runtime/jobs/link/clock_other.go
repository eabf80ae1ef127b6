//go:build !linux

package link

import "time"

// Now returns the time of a clock that all processes of the machine share.
func Now() time.Duration { return time.Duration(time.Now().UnixNano()) }
