package testkit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Linear fails if work on 4n things takes more than nine times as long as work on n. Linear work
// takes four times as long there, and quadratic work sixteen times. The shortest of several rounds
// counts, because the machine may be busy; more rounds follow, for ten seconds at most, while it fails.
func Linear(t *testing.T, n int, work func(n int)) {
	t.Helper()
	took := func(n int) time.Duration {
		start := time.Now()
		work(n)
		return time.Since(start)
	}
	few, many := time.Hour, time.Hour
	for start, round := time.Now(), 0; round < 3 || many > 9*few && time.Since(start) < 10*time.Second; round++ {
		few, many = min(few, took(n)), min(many, took(4*n))
	}
	require.LessOrEqual(t, many, 9*few, "%d took %v, %d %v", n, few, 4*n, many)
}
