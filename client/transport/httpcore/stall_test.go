package httpcore

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchdogFollowsTheConnection: an exchange whose connection turns out to be
// closed goes on over another, while it is watched.
func TestWatchdogFollowsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, w := watch(t.Context(), 20*time.Millisecond, 1000)
		defer w.end()
		for i := range 100 {
			here, there := net.Pipe()
			c := &limitedConn{Conn: here}
			c.transferred.Store(int64(5000 + i))
			w.over(c)
			c.transferred.Add(10)
			time.Sleep(time.Millisecond)
			here.Close()
			there.Close()
		}
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
		time.Sleep(time.Second)
		if !errors.Is(context.Cause(ctx), errStalled) {
			t.Error("nothing moved for a second, and the exchange goes on")
		}
	})
}
