package runtime

import (
	"context"

	"transect/client"
)

// Connected connects like a script does and calls work with the client, until
// work returns or a signal comes. label names the platform.
func Connected(ctx context.Context, p *Process, job Job, work func(ctx context.Context, c *client.Client, label string) error) error {
	return perform(ctx, p, &job, func(x *Execution, ctx context.Context) error {
		c, err := x.connector.connect(ctx, nil)
		if err != nil {
			return err
		}
		label := x.connector.label()
		if x.connector.named.Local {
			label = "local platform"
		}
		return work(ctx, c, label)
	})
}
