// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for d, or returns ctx's error as soon as it ends. It does not wait where d is not
// positive.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
