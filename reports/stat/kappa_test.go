package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/reports/stat"
)

// kappaOf is κ of a table of shares.
func kappaOf(shares []float64, labels int) float64 {
	observed, chance := 0.0, 0.0
	for i := range labels {
		row, column := 0.0, 0.0
		for j := range labels {
			row += shares[i*labels+j]
			column += shares[j*labels+i]
		}
		observed += shares[i*labels+i]
		chance += row * column
	}
	return (observed - chance) / (1 - chance)
}

// By hand: 20 + 15 of 50 agree, 0.7; by chance 0.5·0.6 + 0.5·0.4 = 0.5; κ = 0.4.
func TestKappaByHand(t *testing.T) {
	a, ok := stat.Kappa([][]int{{20, 5}, {10, 15}})
	require.True(t, ok)
	require.InDelta(t, 0.4, a.Kappa, 1e-12)
	require.Equal(t, 50, a.N)
	full, ok := stat.Kappa([][]int{{7, 0}, {0, 3}})
	require.True(t, ok)
	require.InDelta(t, 1, full.Kappa, 1e-12)
	require.InDelta(t, 0, full.SE, 1e-9)
	iv, ok := a.Interval(0.95)
	require.True(t, ok)
	require.InDelta(t, 0.4-1.959963984540054*a.SE, iv.Low, 1e-12)
	require.InDelta(t, 0.4+1.959963984540054*a.SE, iv.High, 1e-12)
	for name, bad := range map[string][][]int{
		"nothing": nil, "empty": {{0, 0}, {0, 0}}, "one label only": {{9, 0}, {0, 0}}, "not square": {{1, 2}}, "negative": {{1, -1}, {2, 3}},
	} {
		_, ok := stat.Kappa(bad)
		require.False(t, ok, name)
	}
	_, ok = stat.Agreement{}.Interval(0.95)
	require.False(t, ok)
	_, ok = a.Interval(1)
	require.False(t, ok)
}

// The delta method by numerical derivatives: for multinomial shares p and the
// gradient g of κ, n·SE² = Σ p g² − (Σ p g)².
func TestKappaErrorAgainstDeltaMethod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.IntRange(2, 4).Draw(t, "labels")
		cells := rapid.SliceOfN(rapid.IntRange(1, 30), labels*labels, labels*labels).Draw(t, "cells")
		table, shares, n := make([][]int, labels), make([]float64, len(cells)), 0.0
		for i, c := range cells {
			table[i/labels] = append(table[i/labels], c)
			n += float64(c)
		}
		for i, c := range cells {
			shares[i] = float64(c) / n
		}
		a, ok := stat.Kappa(table)
		require.True(t, ok)
		require.InDelta(t, kappaOf(shares, labels), a.Kappa, 1e-12)
		squares, sum := 0.0, 0.0
		for i, p := range shares {
			const h = 1e-5
			shares[i] = p + h
			up := kappaOf(shares, labels)
			shares[i] = p - h
			g := (up - kappaOf(shares, labels)) / (2 * h)
			shares[i] = p
			squares += p * g * g
			sum += p * g
		}
		require.InDelta(t, math.Sqrt((squares-sum*sum)/n), a.SE, 1e-6)
	})
}
