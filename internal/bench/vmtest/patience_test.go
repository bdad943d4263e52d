package vmtest

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A guest ends when its time is up, and the error says how long that was.
func TestWithShare(t *testing.T) {
	ctx, cancel := withShare(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended by %v", err)
	}
}
