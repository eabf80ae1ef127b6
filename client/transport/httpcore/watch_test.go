package httpcore

import (
	"context"
	"net"
	"net/url"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchFollowsTheConnection: an exchange whose connection turns out to be closed
// goes on over another, while it is watched.
func TestWatchFollowsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Request{Stall: 20 * time.Millisecond, Size: 1000, Started: time.Now()}
		ctx, w := new(Core).watch(t.Context(), r)
		defer w.end()
		for i := range 100 {
			here, there := net.Pipe()
			c := &limitedConn{Conn: here}
			c.sent.Store(int64(5000 + i))
			w.use(c)
			c.sent.Add(10)
			time.Sleep(time.Millisecond)
			here.Close()
			there.Close()
		}
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
		time.Sleep(time.Second)
		if !IsTimeout(context.Cause(ctx)) {
			t.Error("nothing moved for a second, and the exchange goes on")
		}
	})
}

// TestFullLineIsNoSilence: a connection that gets no turn on a full line is not
// reported, and one that gets none of several is.
func TestFullLineIsNoSilence(t *testing.T) {
	for name, moving := range map[string]bool{"full line": true, "dead line": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shown := 0
				c := &Core{options: Options{Unresponsive: func(*url.URL, time.Duration) { shown++ }}}
				_, waits := c.watch(t.Context(), &Request{Size: 1000, Started: time.Now()}) // for a connection
				_, other := c.watch(t.Context(), &Request{Size: 1 << 20, Started: time.Now()})
				here, there := net.Pipe()
				defer here.Close()
				defer there.Close()
				busy := &limitedConn{Conn: here}
				other.use(busy)
				for range 20 {
					time.Sleep(time.Second)
					if moving {
						busy.sent.Add(1000)
					}
				}
				waits.end()
				other.end()
				if moving != (shown == 0) {
					t.Errorf("%d reports", shown)
				}
			})
		})
	}
}

// TestConfirmedBytes: what the peer has confirmed is counted from where the
// connection stood, and never more than the body.
func TestConfirmedBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []int64
		_, w := new(Core).watch(t.Context(), &Request{Size: 1000, Started: time.Now(), Confirmed: func(n int64) { seen = append(seen, n) }})
		here, there := net.Pipe()
		defer here.Close()
		defer there.Close()
		c := &limitedConn{Conn: here}
		c.sent.Store(700)
		w.use(c)
		for range 4 {
			c.sent.Add(400)
			time.Sleep(bodyInterval + time.Millisecond)
		}
		w.end()
		if len(seen) < 3 || seen[0] != 400 || seen[len(seen)-1] != 1000 {
			t.Error(seen)
		}
	})
}
