package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

func TestPassAtAndAll(t *testing.T) {
	c := build(reporttest.PassRun(3, "+++", "+-+", "---", "++x")).Candidates[0]
	require.Equal(t, 3, c.PassAt.K)
	require.Equal(t, 3, c.PassAt.Tasks, "a task with a lost trial says nothing about three")
	// Three trials of three have a single subset: at least one trial is solved in two
	// of three tasks, all trials in one.
	require.InDelta(t, 2./3, c.PassAt.Value, 1e-12)
	require.InDelta(t, 1./3, c.PassAll.Value, 1e-12)
	// The tasks are 1, 1, 0: the exact interval of two of three.
	want, ok := stat.ClopperPearson(2, 3, 0.95)
	require.True(t, ok)
	require.InDelta(t, want.Low, c.PassAt.Interval.Low, 1e-9)
	require.InDelta(t, want.High, c.PassAt.Interval.High, 1e-9)
	require.InDelta(t, 1-want.High, c.PassAll.Interval.Low, 1e-9, "one of three mirrors two of three")
	require.False(t, math.IsNaN(c.PassAll.Interval.High))
}
