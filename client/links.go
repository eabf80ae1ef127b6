package client

import (
	"context"
	"log/slog"
	"sync"

	"transect/client/declare"
)

// warnDeprecated warns once for each operation that has a replacement.
func warnDeprecated(log *slog.Logger) declare.Interceptor {
	var warned sync.Map
	return func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		if now := call.Spec.Deprecated; now != "" {
			if _, before := warned.LoadOrStore(call.Spec.FullName(), true); !before {
				log.Warn(call.Spec.FullName()+" is deprecated", "use", now)
			}
		}
		return next(ctx, call)
	}
}
