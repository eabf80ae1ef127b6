package client

import (
	"context"
	"time"
)

// Pause waits before the platform is asked again, by the clock the client was
// given. It ends early, with the cause, when ctx does.
func (c *Client) Pause(ctx context.Context, d time.Duration) error {
	if err := c.sleep(ctx, d); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}
