package pause_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/pause"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		require.NoError(t, pause.For(t.Context(), -time.Hour))
		require.NoError(t, pause.For(t.Context(), time.Hour))
		require.Equal(t, time.Hour, time.Since(begin))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, pause.For(ctx, time.Hour), context.DeadlineExceeded)
		require.ErrorIs(t, pause.For(ctx, 0), context.DeadlineExceeded)
		require.Equal(t, time.Hour+time.Minute, time.Since(begin))
	})
}
