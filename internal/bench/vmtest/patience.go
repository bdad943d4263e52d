package vmtest

import (
	"context"
	"fmt"
	"time"

	"netrec/internal/bench/rig"
)

// look is how often the machine's load is looked at.
const look = 5 * time.Second

// withShare is a context that ends after a time, measured as a machine without other work
// would: while three programs want each CPU, a second is a third of one.
func withShare(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	begin := time.Now()
	go func() {
		for left := limit; left > 0; {
			step := min(look, max(left, time.Millisecond))
			select {
			case <-ctx.Done():
				return
			case <-time.After(step):
				left -= time.Duration(float64(step) / rig.Crowd())
			}
		}
		cancel(fmt.Errorf("%s passed, as long as %s without other work: %w", time.Since(begin).Round(time.Second), limit, context.DeadlineExceeded))
	}()
	return ctx, func() { cancel(context.Canceled) }
}
