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
		start := time.Now() //nolint:forbidigo // it measures
		work(n)
		return time.Since(start)
	}
	few, many, spent := time.Hour, time.Hour, time.Duration(0)
	for round := 0; round < 3 || many > 9*few && spent < 10*time.Second; round++ {
		once, fourTimes := took(n), took(4*n)
		few, many, spent = min(few, once), min(many, fourTimes), spent+once+fourTimes
	}
	require.LessOrEqual(t, many, 9*few, "%d took %v, %d %v", n, few, 4*n, many)
}
