//go:build !linux

package link

import "time"

// Now is a clock that all processes of the machine share.
func Now() time.Duration { return time.Duration(time.Now().UnixNano()) }
